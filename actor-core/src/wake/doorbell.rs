//! The doorbell: tells a sleeping shard that something waits for it, with at most one notification per sleep.
//!
//! `README.md` in this folder has the proof sketch.

use std::sync::Arc;

use crate::{
    port::Notify,
    sync::{AtomicU32, Fault, Ordering, UnsafeCell, fence, planted, spin_loop},
};

/// A shard's sleep word and what wakes its driver.
pub(crate) struct Doorbell {
    /// [`Mood`] in the low two bits, the number of ringers inside [`Notify::notify`] above them.
    word: AtomicU32,
    /// Written by the owner while the mood is `Closed` and no ringer is inside; read by ringers that are counted in.
    notify: UnsafeCell<Option<Arc<dyn Notify>>>,
}

const CLOSED: u32 = 0;
const AWAKE: u32 = 1;
const ASLEEP: u32 = 2;
const RUNG: u32 = 3;
const MOOD: u32 = 3;
const RINGER: u32 = 4;

// SAFETY: `notify` is `Send + Sync` in itself; the cell around it follows the rule at the field, which `open`, `ring`
// and `close` keep through `word`.
unsafe impl Send for Doorbell {}
// SAFETY: as above.
unsafe impl Sync for Doorbell {}

impl Doorbell {
    /// A closed doorbell: ringing it does nothing.
    pub(crate) fn new() -> Self {
        Self { word: AtomicU32::new(CLOSED), notify: UnsafeCell::new(None) }
    }

    /// Opens the doorbell of a shard that is awake.
    ///
    /// # Safety
    ///
    /// Only the owner calls this, and only while the doorbell is closed.
    pub(crate) unsafe fn open(&self, notify: Arc<dyn Notify>) {
        // SAFETY: closed, so no ringer enters, and `close` has waited for those that were inside.
        self.notify.with_mut(|cell| unsafe { *cell = Some(notify) });
        // Release: pairs with the Acquire of the ringer's CAS, which then reads `notify`.
        let publish = if planted(Fault::BellOpen) { Ordering::Relaxed } else { Ordering::Release };
        self.word.store(AWAKE, publish);
    }

    /// Rings if the shard sleeps. What this thread published before its last [`publish_fence`] is visible to a shard that
    /// announces its sleep later. Returns whether this call woke the driver.
    #[inline]
    pub(crate) fn ring_after_fence(&self) -> bool {
        self.ring_after_fence_with(|| ())
    }

    /// [`ring_after_fence`](Self::ring_after_fence) that calls `before` just before it wakes the driver, if it does.
    #[inline]
    pub(crate) fn ring_after_fence_with(&self, before: impl FnOnce()) -> bool {
        // Relaxed: the fence orders this load after the publication; see the README for the other half.
        let word = self.word.load(Ordering::Relaxed);
        word & MOOD == ASLEEP && self.ring_sleeper(word, before)
    }

    /// Announces sleep. After it the owner must look at all its sources once more, and call [`wake`](Self::wake) if
    /// one has something.
    #[inline]
    pub(crate) fn announce_sleep(&self) {
        self.set(ASLEEP);
        // SeqCst: pairs with `publish_fence`. Either the ringer sees ASLEEP, or our second look sees what it
        // published.
        if !planted(Fault::BellSleepFence) {
            fence(Ordering::SeqCst);
        }
    }

    /// Ends the sleep. Returns whether somebody had rung.
    #[inline]
    pub(crate) fn wake(&self) -> bool {
        // An owner that is awake writes nothing: ringers of other threads read this word at every publication.
        // Relaxed: nobody but the owner leaves AWAKE.
        self.word.load(Ordering::Relaxed) & MOOD != AWAKE && self.set(AWAKE) == RUNG
    }

    /// What every ringer does.
    #[cfg(all(test, loom))]
    pub(crate) fn ring(&self) -> bool {
        publish_fence();
        self.ring_after_fence()
    }

    /// Closes the doorbell: no ring after this reaches the notifier, and none is inside it any more.
    pub(crate) fn close(&self) {
        self.set(CLOSED);
        // Acquire: pairs with the Release of the ringer that leaves; its use of `notify` comes before our drop.
        while self.word.load(Ordering::Acquire) != CLOSED && !planted(Fault::BellCloseWait) {
            spin_loop();
            #[cfg(not(loom))]
            std::thread::yield_now();
            #[cfg(loom)]
            loom::thread::yield_now();
        }
        // SAFETY: closed and empty of ringers, so this thread alone reaches the cell.
        drop(self.notify.with_mut(|cell| unsafe { (*cell).take() }));
    }

    #[cold]
    fn ring_sleeper(&self, mut word: u32, before: impl FnOnce()) -> bool {
        while word & MOOD == ASLEEP {
            // The winner moves ASLEEP to RUNG and counts itself in with one step, so `close` waits for it.
            // Acquire: pairs with the Release in `open`.
            match self.word.compare_exchange_weak(
                word,
                (word & !MOOD | RUNG) + RINGER,
                Ordering::Acquire,
                Ordering::Relaxed,
            ) {
                Ok(_) => {
                    before();
                    self.notify.with(|cell| {
                        // SAFETY: counted in, so the owner neither writes nor drops the cell until we have left.
                        if let Some(notify) = unsafe { &*cell } {
                            notify.notify();
                        }
                    });
                    // Release: pairs with the Acquire in `close`.
                    self.word.fetch_sub(RINGER, Ordering::Release);
                    return true;
                }
                Err(now) => word = now,
            }
        }
        false
    }

    /// Sets the mood and returns the one before. The owner's only: moods other than `Rung` are its to choose.
    #[inline]
    fn set(&self, mood: u32) -> u32 {
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            // AcqRel is not needed: the sources' own orderings carry the data, the fence carries the announcement.
            match self.word.compare_exchange_weak(word, word & !MOOD | mood, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return word & MOOD,
                Err(now) => word = now,
            }
        }
    }
}

/// The fence between publishing and looking at doorbells. One is enough for any number of publications and bells.
#[inline]
pub(crate) fn publish_fence() {
    // SeqCst: pairs with the fence in `announce_sleep`.
    if !planted(Fault::BellRingFence) {
        fence(Ordering::SeqCst);
    }
}
