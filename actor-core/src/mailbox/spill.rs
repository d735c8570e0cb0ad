//! What was admitted when the ring had no room: a queue beside it, bounded by the permits that its messages hold.
//!
//! `README.md` in this folder argues why one sender's messages keep their order across the two.

use std::{collections::VecDeque, sync::PoisonError};

use super::{Mark, Producer, Ready, Ring};
use crate::sync::{AtomicBool, Fault, Mutex, MutexGuard, Ordering, planted};

/// The queue beside one ring.
pub(crate) struct Spill<T> {
    /// Whether the queue may hold something: a sender looks before it uses the ring.
    used: AtomicBool,
    queue: Mutex<VecDeque<T>>,
}

impl<T: Send> Spill<T> {
    pub(crate) fn new() -> Self {
        Self { used: AtomicBool::new(false), queue: Mutex::new(VecDeque::new()) }
    }

    /// Sends by `ring`, or beside it. Never waits for room. The caller settles the mark, and looks at the doorbell.
    ///
    /// # Safety
    ///
    /// As for [`Ring::push`].
    #[inline]
    pub(crate) unsafe fn push<R: Ring<T>>(&self, ring: &R, ready: &Ready, from: Producer, value: T) -> Mark {
        // A sender whose last message is in the queue must not use the ring, or it would overtake itself. Relaxed: its own
        // store, made under the lock, is visible to it until the consumer clears the flag; others' do not matter.
        let pushed = if self.is_used() && !planted(Fault::SpillFlag) {
            Err(value)
        } else {
            // SAFETY: the caller's.
            unsafe { ring.push(ready, from, value) }
        };
        pushed.unwrap_or_else(|value| {
            self.push_beside(value);
            Mark::NONE
        })
    }

    /// Takes everything, if nothing in the ring is older.
    ///
    /// # Safety
    ///
    /// As for [`Ring::pop`].
    pub(crate) unsafe fn take<R: Ring<T>>(&self, ring: &R) -> VecDeque<T> {
        if !self.is_used() {
            return VecDeque::new();
        }
        let mut queue = self.lock();
        // Whoever put a message here had pushed its earlier ones into the ring before it took the lock; so a ring that is
        // drained of those holds none of them. Else the ring goes first.
        // SAFETY: the caller's.
        if unsafe { !ring.is_drained() } && !planted(Fault::SpillDrained) {
            return VecDeque::new();
        }
        // From here on its sender uses the ring again; what it pushes there is younger, and is read after this.
        self.used.store(false, Ordering::Relaxed);
        std::mem::take(&mut queue)
    }

    /// Whether `take` would find something. For the consumer's second look before it sleeps.
    ///
    /// # Safety
    ///
    /// As for [`Ring::pop`].
    pub(crate) unsafe fn is_ready<R: Ring<T>>(&self, ring: &R) -> bool {
        // SAFETY: the caller's.
        self.is_used() && unsafe { ring.is_drained() }
    }

    #[inline]
    pub(crate) fn is_used(&self) -> bool {
        self.used.load(Ordering::Relaxed)
    }

    #[cold]
    fn push_beside(&self, value: T) {
        let mut queue = self.lock();
        queue.push_back(value);
        // Relaxed: the lock carries the message; the doorbell's fence makes the flag visible to a sleeper.
        self.used.store(true, Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<T>> {
        // Nothing under the lock panics.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
