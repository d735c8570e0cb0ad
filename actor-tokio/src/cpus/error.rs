//! Requests for shards which a machine cannot meet.

use super::list::CpuList;

/// The number of shards, or the CPUs named for them, cannot be had here.
///
/// Each message names what was asked for, the limit, where the limit comes from, and the way out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CpuError {
    /// `cores(0)`.
    #[error("cores(0): a runtime needs at least 1 shard; leave `cores` out for one shard per allowed CPU")]
    NoCores,

    /// `cores(n)` with more shards than CPUs, where shards may be pinned.
    #[error(
        "cores({asked}) is more than the {} CPU(s) of this thread's affinity mask ({}): \
         ask for at most {}, widen the mask (taskset, cpuset), or run unpinned with Pin::Never",
        allowed.len(), CpuList(allowed), allowed.len()
    )]
    TooManyCores {
        /// The number of shards asked for.
        asked: usize,
        /// The CPUs of the affinity mask.
        allowed: Vec<usize>,
    },

    /// More shards than one runtime can have.
    #[error("{asked} shards are more than the {limit} which one runtime can have: ask for at most {limit}")]
    TooManyShards {
        /// The number of shards asked for.
        asked: usize,
        /// The most that a runtime can have.
        limit: usize,
    },

    /// `core_ids` with nothing in it.
    #[error("core_ids([]): a runtime needs at least 1 shard; leave `core_ids` out for one shard per allowed CPU")]
    NoCoreIds,

    /// `core_ids` names a CPU that is not in the affinity mask.
    #[error(
        "core_ids names CPU {cpu}, which is not in this thread's affinity mask ({}): \
         name CPUs of the mask only, or widen it (taskset, cpuset)",
        CpuList(allowed)
    )]
    CpuNotAllowed {
        /// The CPU that was named.
        cpu: usize,
        /// The CPUs of the affinity mask.
        allowed: Vec<usize>,
    },

    /// `core_ids` names a CPU twice.
    #[error(
        "core_ids names CPU {cpu} more than once: each CPU takes at most 1 shard; \
         for more shards than CPUs use `cores(n)` with Pin::Never"
    )]
    CpuTwice {
        /// The CPU that was named again.
        cpu: usize,
    },

    /// The affinity mask could not be read, so the limit is not known.
    #[error(
        "the CPU affinity mask cannot be read (sched_getaffinity is refused): \
         name a number of shards with `cores(n)` and run unpinned with Pin::Never"
    )]
    MaskUnknown,
}
