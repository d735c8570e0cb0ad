//! What the user says about pinning.

/// Whether each shard's thread is tied to one CPU.
///
/// A pinned shard keeps its caches and never shares its CPU with another shard of the same runtime. It also cannot move
/// away from a neighbour that is busy, so pinning pays only where the CPUs are the process's own.
///
/// # Examples
///
/// Tests run many runtimes at once on few CPUs and must not pin them all to the same ones:
///
/// ```
/// use actor_tokio::Pin;
///
/// assert_eq!(Pin::default(), Pin::Auto);
/// let for_tests = Pin::Never;
/// # let _ = for_tests;
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Pin {
    /// Pins, unless a CPU quota smaller than the affinity mask says that the CPUs are shared (a container); where the
    /// system refuses, the runtime runs unpinned and warns once. The default.
    ///
    /// CPUs that were named with `core_ids` are pinned under a quota too.
    #[default]
    Auto,
    /// Pins, quota or not; where the system refuses, building the runtime fails.
    Always,
    /// Never pins. The number of shards is then bounded by the runtime (1,024), not by the number of CPUs.
    Never,
}
