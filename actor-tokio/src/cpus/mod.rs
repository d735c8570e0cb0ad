//! How many shards a runtime gets, and which CPUs they sit on.
//!
//! [`Machine::read`] looks at the system once, when the runtime is built: a thread that is pinned already would see one
//! CPU. [`plan`] then decides, as a function of what was read and what was asked for, so every refusal is a unit test.
//! [`Pinner`] carries the plan out on each thread.

mod affinity;
mod error;
mod list;
mod pin;
mod pinner;
mod quota;
#[cfg(test)]
mod tests;

use std::fmt;

pub(crate) use affinity::{Affinity, System};
pub use error::CpuError;
use list::CpuList;
pub use pin::Pin;
pub use pinner::PinError;
pub(crate) use pinner::Pinner;

/// The most shards of one runtime: more than any machine has cores for, and few enough that several runtimes share a
/// process's 4,096 ports.
pub(crate) const MAX_SHARDS: usize = 1_024;

/// What this process may use, as far as placement goes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Machine {
    /// The CPUs of the calling thread's affinity mask, ascending (a cpuset is part of the mask). Empty if the mask
    /// could not be read.
    pub(crate) allowed: Vec<usize>,
    /// The CPU time which the process's control groups allow, in CPUs: 1.5 is one and a half.
    pub(crate) quota: Option<f64>,
}

/// What the user asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) shards: Shards,
    pub(crate) pin: Pin,
}

/// How the number of shards was given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Shards {
    /// Not at all: one for each CPU that the process may use.
    #[default]
    PerCpu,
    /// `cores(n)`.
    Cores(usize),
    /// `core_ids(..)`: one for each CPU named, in this order.
    CoreIds(Vec<usize>),
}

/// Where each shard goes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Plan {
    /// One entry a shard, in the order of shard ids.
    pub(crate) shards: Vec<ShardCpu>,
    /// Where the number of shards comes from.
    pub(crate) source: Source,
    /// Whether the shards are to be pinned.
    pub(crate) pinned: bool,
    /// The process gets less CPU time than its mask shows: shards must not spin while they wait.
    pub(crate) throttled: bool,
}

/// The place of one shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ShardCpu {
    /// The CPU to pin to; `None` leaves the thread unpinned.
    pub(crate) cpu: Option<usize>,
}

/// Where the number of shards comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// The affinity mask.
    Affinity,
    /// The CPU quota of the control group.
    Quota,
    /// `cores(n)`.
    Cores,
    /// `core_ids(..)`.
    CoreIds,
}

/// Decides on the shards of a runtime.
///
/// # Errors
///
/// [`CpuError`] when the request cannot be met on this machine.
pub(crate) fn plan(machine: &Machine, request: &Request) -> Result<Plan, CpuError> {
    let allowed = &machine.allowed;
    let throttled = machine.quota.is_some_and(|quota| quota < allowed.len() as f64);
    let (count, source) = match &request.shards {
        Shards::PerCpu => per_cpu(machine, throttled)?,
        Shards::Cores(cores) => (checked_cores(*cores, machine, request.pin)?, Source::Cores),
        Shards::CoreIds(ids) => {
            check_ids(ids, machine)?;
            (ids.len(), Source::CoreIds)
        }
    };
    if count > MAX_SHARDS {
        return Err(CpuError::TooManyShards { asked: count, limit: MAX_SHARDS });
    }
    let pinned = match request.pin {
        Pin::Always => true,
        Pin::Never => false,
        // Pinned, every throttled process of a node would sit on the same first CPUs. CPUs that were named are meant.
        Pin::Auto => !throttled || source == Source::CoreIds,
    };
    let cpus = match &request.shards {
        Shards::CoreIds(ids) => ids,
        Shards::PerCpu | Shards::Cores(_) => allowed,
    };
    let shards = (0..count).map(|shard| ShardCpu { cpu: cpus.get(shard).copied().filter(|_| pinned) }).collect();
    Ok(Plan { shards, source, pinned, throttled })
}

// === impl Machine ===

impl Machine {
    /// Reads the mask of the calling thread and the quota of the process.
    pub(crate) fn read(affinity: &dyn Affinity) -> Self {
        let allowed = affinity.current().unwrap_or_else(|error| {
            tracing::warn!(%error, "the CPU affinity mask cannot be read; name a number of shards and Pin::Never");
            Vec::new()
        });
        Self { allowed, quota: quota::of_process() }
    }
}

// === impl Plan ===

impl Plan {
    /// Says at start what the process really got: shards, CPUs, and why so many.
    pub(crate) fn announce(&self) {
        let cpus: Vec<usize> = self.shards.iter().filter_map(|shard| shard.cpu).collect();
        tracing::info!(
            shards = self.shards.len(),
            source = %self.source,
            pinned = self.pinned,
            throttled = self.throttled,
            cpus = %CpuList(&cpus),
            "shards placed"
        );
    }
}

// === impl Source ===

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Affinity => "affinity mask",
            Self::Quota => "CPU quota",
            Self::Cores => "cores()",
            Self::CoreIds => "core_ids()",
        })
    }
}

fn per_cpu(machine: &Machine, throttled: bool) -> Result<(usize, Source), CpuError> {
    match machine.quota {
        _ if machine.allowed.is_empty() => Err(CpuError::MaskUnknown),
        // The cast saturates, and the quota is smaller than the number of CPUs.
        Some(quota) if throttled => Ok(((quota.ceil() as usize).max(1), Source::Quota)),
        _ => Ok((machine.allowed.len().min(MAX_SHARDS), Source::Affinity)),
    }
}

fn checked_cores(cores: usize, machine: &Machine, pin: Pin) -> Result<usize, CpuError> {
    if cores == 0 {
        return Err(CpuError::NoCores);
    }
    if pin == Pin::Never {
        return Ok(cores);
    }
    if machine.allowed.is_empty() {
        return Err(CpuError::MaskUnknown);
    }
    if cores > machine.allowed.len() {
        return Err(CpuError::TooManyCores { asked: cores, allowed: machine.allowed.clone() });
    }
    Ok(cores)
}

fn check_ids(ids: &[usize], machine: &Machine) -> Result<(), CpuError> {
    if ids.is_empty() {
        return Err(CpuError::NoCoreIds);
    }
    for (position, cpu) in ids.iter().enumerate() {
        if !machine.allowed.contains(cpu) {
            return Err(CpuError::CpuNotAllowed { cpu: *cpu, allowed: machine.allowed.clone() });
        }
        if ids[..position].contains(cpu) {
            return Err(CpuError::CpuTwice { cpu: *cpu });
        }
    }
    Ok(())
}
