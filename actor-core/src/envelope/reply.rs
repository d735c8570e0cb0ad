//! The reply cell: one answer from the callee to the caller, who may poll, change its waker, or leave at any time.
//!
//! Both ends share one block and neither counts references: whoever comes second (the callee with its answer, the
//! caller with its going) owns the whole block and frees it. `README.md` in this folder has the argument.

use std::task::Waker;

use crate::sync::{AtomicU32, Fault, Ordering, UnsafeCell, planted};

/// The state of one ask, and the caller's waker.
pub(crate) struct ReplyCell {
    state: AtomicU32,
    /// Touched by whoever has set `LOCK`, and by the one that frees the block.
    waker: UnsafeCell<Option<Waker>>,
}

/// The callee has begun to handle the message.
const STARTED: u32 = 1;
/// Somebody holds the waker: the caller to change it, or (for good) the callee to take it.
const LOCK: u32 = 2;
/// The answer is there. The callee has let go of the block.
const DONE: u32 = 4;
/// The caller has let go of the block.
const GONE: u32 = 8;
/// Set with `GONE`: do not begin.
const WITHDRAWN: u32 = 16;
/// Set with `GONE`: if it has begun, end it.
const CANCELLED: u32 = 32;

// SAFETY: the waker is guarded by `LOCK` (see the README); `Waker` is `Send + Sync`.
unsafe impl Send for ReplyCell {}
// SAFETY: as above.
unsafe impl Sync for ReplyCell {}

/// Whether to handle the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Start {
    /// Handle it; an answer is owed.
    Run,
    /// The caller has gone and wants it not to be handled: the block is the callee's to free.
    Withdrawn,
}

/// What became of the answer.
#[must_use]
pub(crate) enum Completed {
    /// The caller has it, and the block. Wake it.
    Delivered(Option<Waker>),
    /// The caller has gone: the block is the callee's to free.
    Abandoned,
}

/// What the caller finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Answer {
    /// The answer is there, and the block is the caller's.
    Ready,
    /// Not yet; the waker that the cell has will be woken.
    Pending,
    /// Not yet, and the callee is about to wake the waker from before the change. The new one has been woken: poll
    /// again, with the same change.
    Busy,
}

/// What the caller leaves behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Abandoned {
    /// The answer was there: the block is the caller's to free.
    Ready,
    /// The callee has begun and goes on; the block is its.
    Running,
    /// The callee has not begun; the block is its.
    Queued,
}

impl ReplyCell {
    /// A cell whose caller waits with `waker`.
    pub(crate) fn new(waker: Waker) -> Self {
        Self { state: AtomicU32::new(0), waker: UnsafeCell::new(Some(waker)) }
    }

    /// Callee: is about to handle the message.
    #[inline]
    pub(crate) fn start(&self) -> Start {
        if planted(Fault::ReplyStart) && self.state.load(Ordering::Acquire) & WITHDRAWN == 0 {
            self.state.fetch_or(STARTED, Ordering::AcqRel);
            return Start::Run;
        }
        // AcqRel: Release, so that a caller that finds STARTED is after our decision; Acquire pairs with `abandon`,
        // for the block may become ours.
        let before = self.state.fetch_or(STARTED, Ordering::AcqRel);
        if before & WITHDRAWN != 0 { Start::Withdrawn } else { Start::Run }
    }

    /// Callee: whether the caller has gone and wants the handler dropped.
    #[inline]
    pub(crate) fn is_cancelled(&self) -> bool {
        self.state.load(Ordering::Relaxed) & CANCELLED != 0
    }

    /// Callee: the answer has been written into the block. Unless `Abandoned` is returned, the block is no longer the
    /// callee's to touch.
    pub(crate) fn complete(&self) -> Completed {
        let mut state = self.state.load(Ordering::Relaxed);
        loop {
            let (next, taken) = if state & GONE != 0 {
                // Acquire: pairs with the Release in `abandon`; the caller's last access comes before our freeing.
                _ = self.state.load(Ordering::Acquire);
                return Completed::Abandoned;
            } else if state & LOCK != 0 {
                // The caller is changing its waker; it will find DONE when it unlocks.
                (state | DONE, false)
            } else if planted(Fault::ReplyLock) {
                break;
            } else {
                (state | LOCK, true)
            };
            // AcqRel: Release publishes the answer (with DONE); Acquire pairs with the caller's unlock (with LOCK).
            let order = if planted(Fault::ReplyDone) { Ordering::Relaxed } else { Ordering::AcqRel };
            match self.state.compare_exchange_weak(state, next, order, Ordering::Relaxed) {
                Ok(_) if !taken => return Completed::Delivered(None),
                Ok(_) => break,
                Err(now) => state = now,
            }
        }
        // SAFETY: we hold LOCK, for good: the caller neither changes nor drops the waker any more.
        let waker = self.waker.with_mut(|cell| unsafe { (*cell).take() });
        // Release: pairs with the Acquire in `poll` and `abandon`.
        let publish = if planted(Fault::ReplyDone) { Ordering::Relaxed } else { Ordering::AcqRel };
        if self.state.fetch_or(DONE, publish) & GONE != 0 {
            return Completed::Abandoned;
        }
        Completed::Delivered(waker)
    }

    /// Caller: looks for the answer. `changed` is the waker to wait with, if it is not the one that the cell has.
    pub(crate) fn poll(&self, changed: Option<&Waker>) -> Answer {
        // Acquire: pairs with the Release in `complete`.
        if self.state.load(Ordering::Acquire) & DONE != 0 {
            return Answer::Ready;
        }
        let Some(waker) = changed else {
            return Answer::Pending;
        };
        let mut fresh = Some(waker.clone());
        let before = self.state.fetch_or(LOCK, Ordering::Acquire);
        if before & DONE != 0 {
            return Answer::Ready;
        }
        if before & LOCK != 0 {
            // The callee has taken the old waker and is a few instructions from DONE.
            waker.wake_by_ref();
            return if planted(Fault::ReplyBusy) { Answer::Pending } else { Answer::Busy };
        }
        // SAFETY: we set LOCK and it was clear.
        self.waker.with_mut(|cell| unsafe { std::ptr::swap(cell, &raw mut fresh) });
        // AcqRel: Release hands the new waker to the callee; Acquire pairs with `complete`.
        if self.state.fetch_and(!LOCK, Ordering::AcqRel) & DONE != 0 {
            return Answer::Ready;
        }
        Answer::Pending
    }

    /// Caller: goes. `Ready` means that the block is the caller's after all.
    pub(crate) fn abandon(&self, how: Leaving) -> Abandoned {
        let bits = match how {
            Leaving::Quietly => GONE,
            Leaving::Withdrawing => GONE | WITHDRAWN,
            Leaving::Cancelling => GONE | WITHDRAWN | CANCELLED,
        };
        // AcqRel: Release, our last access comes before the callee's freeing; Acquire pairs with `complete`.
        let order = if planted(Fault::ReplyLeave) { Ordering::Relaxed } else { Ordering::AcqRel };
        let before = self.state.fetch_or(bits, order);
        if before & DONE != 0 {
            Abandoned::Ready
        } else if before & STARTED != 0 {
            Abandoned::Running
        } else {
            Abandoned::Queued
        }
    }
}

/// Panics in a model if the other end's use of the cell does not happen before the block is freed.
#[cfg(loom)]
impl Drop for ReplyCell {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.state.with_mut(|_| ());
            self.waker.with_mut(|_| ());
        }
    }
}

/// What a caller that goes wants of the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leaving {
    /// That it is handled all the same.
    Quietly,
    /// That it is not handled unless that has begun: its time is over.
    Withdrawing,
    /// That it is not handled, and that its handler is dropped if it has begun.
    Cancelling,
}
