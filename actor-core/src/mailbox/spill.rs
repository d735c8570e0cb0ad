//! What was admitted when the ring had no room: a queue beside it, bounded by the permits that its messages hold.
//!
//! `README.md` in this folder argues why one sender's messages keep their order across the two.

use std::{collections::VecDeque, sync::PoisonError};

use super::Ring;
use crate::sync::{AtomicBool, Fault, Mutex, MutexGuard, Ordering, planted};

/// The queue beside one ring.
pub(crate) struct Spill<T> {
    /// Whether the queue may hold something: a sender looks before it uses the ring.
    used: AtomicBool,
    queue: Mutex<VecDeque<T>>,
}

impl<T> Spill<T> {
    pub(crate) fn new() -> Self {
        Self { used: AtomicBool::new(false), queue: Mutex::new(VecDeque::new()) }
    }

    /// Sends by `ring`, or beside it. Never waits for room.
    #[inline]
    pub(crate) fn push(&self, ring: &Ring<T>, value: T) {
        // A sender whose last message is in the queue must not use the ring, or it would overtake itself. Relaxed: its own
        // store, made under the lock, is visible to it until the consumer clears the flag; others' do not matter.
        let value = if self.is_used() && !planted(Fault::SpillFlag) { Err(value) } else { ring.push(value) };
        if let Err(value) = value {
            self.push_beside(value);
        }
    }

    /// Takes everything, if nothing in the ring is older. The consumer's.
    pub(crate) fn take(&self, ring: &Ring<T>) -> VecDeque<T> {
        if !self.is_used() {
            return VecDeque::new();
        }
        let mut queue = self.lock();
        // Whoever put a message here had claimed its earlier ones in the ring before it took the lock; so a ring without
        // claims holds none of them. With claims, published or not, the ring goes first.
        if !ring.is_drained() && !planted(Fault::SpillDrained) {
            return VecDeque::new();
        }
        // From here on its sender uses the ring again; what it pushes there is younger, and is read after this.
        self.used.store(false, Ordering::Relaxed);
        std::mem::take(&mut queue)
    }

    /// Whether `take` would find something. For the consumer's second look before it sleeps.
    pub(crate) fn is_ready(&self, ring: &Ring<T>) -> bool {
        self.is_used() && ring.is_drained()
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
