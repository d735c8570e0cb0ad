//! How many shards live in this process: once they outnumber its CPUs, one that spins keeps another from running.

use std::sync::atomic::{AtomicUsize, Ordering};

static SHARDS: AtomicUsize = AtomicUsize::new(0);

/// Counts a shard in while it lives.
pub(crate) struct Present(());

impl Present {
    pub(crate) fn new() -> Self {
        // Relaxed here and below: a figure to decide by, which orders nothing.
        SHARDS.fetch_add(1, Ordering::Relaxed);
        Self(())
    }

    /// Whether each shard of the process can have one of `cpus` for itself.
    pub(crate) fn fits(&self, cpus: usize) -> bool {
        SHARDS.load(Ordering::Relaxed) <= cpus
    }
}

impl Drop for Present {
    fn drop(&mut self) {
        SHARDS.fetch_sub(1, Ordering::Relaxed);
    }
}
