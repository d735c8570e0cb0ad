//! Carries a plan out: ties threads to CPUs, and says so when the system refuses.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::list::CpuList;
use super::{Affinity, Machine, Pin};

/// The system refused to pin a shard, and [`Pin::Always`] was asked for.
#[derive(Debug, thiserror::Error)]
#[error(
    "shard {shard} cannot be pinned to CPU {cpu} ({source}): allow sched_setaffinity (seccomp filter, cpuset), \
     name other CPUs with `core_ids`, or let the runtime run unpinned with Pin::Auto or Pin::Never"
)]
#[non_exhaustive]
pub struct PinError {
    /// The index of the shard.
    pub shard: usize,
    /// The CPU it was to sit on.
    pub cpu: usize,
    /// What the system said.
    pub source: io::Error,
}

/// Pins the threads of one runtime. Shared by them all, so that a refusal is said once.
pub(crate) struct Pinner {
    affinity: Box<dyn Affinity>,
    policy: Pin,
    allowed: Vec<usize>,
    warned: AtomicBool,
}

impl Pinner {
    /// `machine` is what the plan was made from: the mask that unpinned threads go back to.
    pub(crate) fn new(affinity: Box<dyn Affinity>, machine: &Machine, policy: Pin) -> Self {
        Self { affinity, policy, allowed: machine.allowed.clone(), warned: AtomicBool::new(false) }
    }

    /// Pins the calling thread, which is to run `shard`. `Ok(false)`: it runs unpinned.
    ///
    /// # Errors
    ///
    /// [`PinError`] if the system refuses and the policy is [`Pin::Always`].
    pub(crate) fn pin(&self, shard: usize, cpu: usize) -> Result<bool, PinError> {
        let Err(source) = self.try_pin(cpu) else {
            return Ok(true);
        };
        if self.policy == Pin::Always {
            return Err(PinError { shard, cpu, source });
        }
        self.warn_once(|| {
            tracing::warn!(
                shard,
                cpu,
                error = %source,
                allowed = %CpuList(&self.allowed),
                "pinning is refused, the runtime runs unpinned: allow sched_setaffinity (seccomp filter, cpuset), \
                 or ask for Pin::Never"
            );
        });
        Ok(false)
    }

    /// Gives the calling thread the mask that the runtime was built with. A thread of a shard's blocking pool inherits
    /// the pin of the shard, and would compete with it for that one CPU.
    pub(crate) fn unpin(&self) {
        if let Err(error) = self.affinity.restrict(&self.allowed) {
            self.warn_once(|| {
                tracing::warn!(
                    %error,
                    allowed = %CpuList(&self.allowed),
                    "a thread of the blocking pool stays on its shard's CPU: allow sched_setaffinity \
                     (seccomp filter, cpuset), or ask for Pin::Never"
                );
            });
        }
    }

    fn try_pin(&self, cpu: usize) -> io::Result<()> {
        self.affinity.restrict(&[cpu])?;
        // Some sandboxes accept the call and do nothing.
        if self.affinity.current()? == [cpu] { Ok(()) } else { Err(io::Error::other("accepted, but without effect")) }
    }

    fn warn_once(&self, warn: impl FnOnce()) {
        // Relaxed: the flag guards no data.
        if !self.warned.swap(true, Relaxed) {
            warn();
        }
    }
}
