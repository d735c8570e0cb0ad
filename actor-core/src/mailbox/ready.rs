//! The word that says which lanes of a ring may hold something.

use crate::{
    sync::{AtomicU64, Fault, Ordering, planted},
    wake::publish_fence,
};

/// Which lanes a producer has pushed to. Of a ring without lanes always [`Mark::NONE`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use = "a producer that does not go on to push must settle its mark"]
pub struct Mark(u64);

impl Mark {
    /// Nothing to settle.
    pub const NONE: Self = Self(0);

    /// The mark of one lane, below 64.
    #[inline]
    pub(super) const fn of(lane: u32) -> Self {
        Self(1 << lane)
    }

    /// Both marks.
    #[inline]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// One bit for each lane of one ring. A producer may touch it after its message has been handled, when the ring may be
/// gone; so it lives apart from the ring, and longer.
///
/// A set bit means little: the lane may be empty. A clear bit means that the consumer does not look, and that every
/// producer of the lane will find it clear when it settles (`README.md` in this folder).
pub struct Ready(AtomicU64);

impl Ready {
    /// A word without marks.
    #[must_use]
    pub fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Forgets all marks: for a ring that nobody has pushed to yet.
    pub fn reset(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    /// The last step of a push: lets the consumer know of the lane, unless it seems to know.
    #[inline]
    pub(super) fn announce(&self, mark: Mark) {
        if !self.has(mark) {
            self.set(mark);
        }
    }

    /// The producer, when it does not go on to push for now: makes sure that the consumer knows of what it pushed, if
    /// it looks, and that a consumer that announces its sleep after this sees it. Look at its doorbell next.
    #[inline]
    pub fn settle(&self, mark: Mark) {
        publish_fence();
        if self.confirm(mark) {
            publish_fence();
        }
    }

    /// The middle of [`settle`](Self::settle), for a caller that has made one fence for several words. Returns whether it
    /// has to make one more.
    #[inline]
    pub fn confirm(&self, mark: Mark) -> bool {
        let is_missing = !self.has(mark) && !planted(Fault::ReadyConfirm);
        if is_missing {
            self.set(mark);
        }
        is_missing
    }

    /// The consumer: the lanes to look at.
    #[inline]
    pub(super) fn lanes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// The consumer: stops looking at a lane. A fence and one more look at the lane come next.
    pub(super) fn clear(&self, mark: Mark) {
        self.0.fetch_and(!mark.0, Ordering::Relaxed);
    }

    // Relaxed, all of them: the bits carry no data, the cells do; who must see what is argued by the fences.
    #[inline]
    fn has(&self, mark: Mark) -> bool {
        self.0.load(Ordering::Relaxed) & mark.0 == mark.0
    }

    #[inline]
    pub(super) fn set(&self, mark: Mark) {
        self.0.fetch_or(mark.0, Ordering::Relaxed);
    }
}

impl Default for Ready {
    fn default() -> Self {
        Self::new()
    }
}
