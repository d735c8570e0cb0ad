//! For whom an actor waits: a word that its shard writes and any shard may read, to see whether actors wait in a circle.
//!
//! `../shard/README.md` argues why what is found that way is a deadlock.

use crate::{
    id::SlotKey,
    sync::{AtomicU64, Fault, Ordering, planted},
};

/// The actor that a parked actor waits for, if it is known to wait for exactly one.
#[derive(Debug)]
pub(crate) struct WaitsFor {
    target: AtomicU64,
    /// Counts the waits. The owner's to write.
    serial: AtomicU64,
}

/// One wait of one actor, told apart from its later waits for the same target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wait {
    pub(crate) target: SlotKey,
    pub(crate) serial: u64,
}

/// The key of the last generation of the last slot of the last port: a wait for that one actor is not seen.
const NOBODY: u64 = u64::MAX;

impl WaitsFor {
    pub(crate) fn new() -> Self {
        Self { target: AtomicU64::new(NOBODY), serial: AtomicU64::new(0) }
    }

    /// The actor has parked, and waits for `target`. The owner's.
    #[inline]
    pub(crate) fn set(&self, target: SlotKey) {
        self.target.store(target.to_bits(), Ordering::Relaxed);
        // Last, and Release: pairs with the Acquire in `read`. Who reads this serial comes after all that the actor did
        // before it parked in this very wait, an answer among it.
        let publish = if planted(Fault::WaitsSerial) { Ordering::Relaxed } else { Ordering::Release };
        self.serial.store(self.serial.load(Ordering::Relaxed) + 1, publish);
    }

    /// The actor does not wait, or for nobody that is known. The owner's.
    #[inline]
    pub(crate) fn clear(&self) {
        if self.target.load(Ordering::Relaxed) != NOBODY {
            self.target.store(NOBODY, Ordering::Relaxed);
        }
    }

    /// The wait, if there is one. Consistent only for the owner: for others the target may be a later one's, which the
    /// owner will deny.
    #[inline]
    pub(crate) fn read(&self) -> Option<Wait> {
        // Acquire: pairs with the Release in `set`.
        let serial = self.serial.load(Ordering::Acquire);
        let target = self.target.load(Ordering::Relaxed);
        (target != NOBODY).then(|| Wait { target: SlotKey::from_bits(target), serial })
    }
}
