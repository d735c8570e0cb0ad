//! Admission: how many messages an actor has accepted and not yet begun, in one word that every sender goes through.
//!
//! A sender takes a permit before it writes its message anywhere, so whoever carries messages never finds a mailbox
//! full. The count goes down after a message has begun to be handled, or is thrown away. Generation and the closed bit
//! share the word: one compare-and-swap says "alive, open, room".

use crate::{
    id::{GENERATION_BITS, MAX_GENERATION},
    sync::{AtomicU64, Fault, Ordering, planted},
};

/// A slot's admission word: generation, closed, waiters, and the number of permits out.
#[derive(Debug)]
pub(crate) struct Admission(AtomicU64);

/// The answer to a request for a permit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a granted permit must be used or released"]
pub(crate) enum Admit {
    /// One permit is yours.
    Granted,
    /// No permit is free, or others wait for one.
    Full,
    /// The actor stops, has ended, or is another one by now.
    Closed,
}

const COUNT: u64 = u32::MAX as u64;
const CLOSED: u64 = 1 << 32;
const WAITERS: u64 = 1 << 33;
const GENERATION_SHIFT: u32 = 64 - GENERATION_BITS;

impl Admission {
    /// A closed word: a slot without an actor admits nothing.
    pub(crate) fn new() -> Self {
        Self(AtomicU64::new(CLOSED))
    }

    /// Opens the word for a new actor. The owner's, on a vacant slot: nobody holds a permit.
    pub(crate) fn open(&self, generation: u32) {
        debug_assert!(generation <= MAX_GENERATION);
        // Release: pairs with the Acquire in `acquire`; the slot's set-up comes before the first permit.
        self.0.store(u64::from(generation) << GENERATION_SHIFT, Ordering::Release);
    }

    /// Asks for a permit, without barging past those that wait.
    #[inline]
    pub(crate) fn acquire(&self, generation: u32, capacity: u32) -> Admit {
        self.acquire_where(generation, capacity, WAITERS)
    }

    /// Asks for a permit on behalf of the waiter whose turn it is. Only under the waiters' lock.
    pub(crate) fn acquire_for_waiter(&self, generation: u32, capacity: u32) -> Admit {
        self.acquire_where(generation, capacity, 0)
    }

    #[inline]
    fn acquire_where(&self, generation: u32, capacity: u32, refuse: u64) -> Admit {
        let mut word = self.0.load(Ordering::Relaxed);
        loop {
            if word & CLOSED != 0 || word >> GENERATION_SHIFT != u64::from(generation) {
                return Admit::Closed;
            }
            if word & refuse != 0 || word & COUNT >= u64::from(capacity) {
                return Admit::Full;
            }
            if planted(Fault::AdmissionAcquire) {
                self.0.fetch_add(1, Ordering::Acquire);
                return Admit::Granted;
            }
            // Acquire: pairs with the Release in `open` and `release`.
            match self.0.compare_exchange_weak(word, word + 1, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return Admit::Granted,
                Err(now) => word = now,
            }
        }
    }

    /// Gives `permits` back. Returns whether somebody waits for one: the caller then serves the queue.
    #[inline]
    #[must_use = "waiters must be served"]
    pub(crate) fn release(&self, permits: u32) -> bool {
        // AcqRel: Release pairs with the Acquire in `acquire`; Acquire makes a waiter's registration visible.
        let word = self.0.fetch_sub(u64::from(permits), Ordering::AcqRel);
        debug_assert!(word & COUNT >= u64::from(permits), "a permit was released twice");
        word & WAITERS != 0
    }

    /// Says that somebody waits, so that the next release serves the queue. Only under the waiters' lock.
    pub(crate) fn set_waiters(&self) {
        self.0.fetch_or(WAITERS, Ordering::AcqRel);
    }

    /// Says that nobody waits any more. Only under the waiters' lock.
    pub(crate) fn clear_waiters(&self) {
        self.0.fetch_and(!WAITERS, Ordering::AcqRel);
    }

    /// Closes the word of an actor of this generation. Returns whether it was open.
    pub(crate) fn close(&self, generation: u32) -> bool {
        let mut word = self.0.load(Ordering::Relaxed);
        loop {
            if word & CLOSED != 0 || word >> GENERATION_SHIFT != u64::from(generation) {
                return false;
            }
            match self.0.compare_exchange_weak(word, word | CLOSED, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(now) => word = now,
            }
        }
    }

    /// Whether the actor of this generation admits messages.
    pub(crate) fn is_open(&self, generation: u32) -> bool {
        let word = self.0.load(Ordering::Acquire);
        word & CLOSED == 0 && word >> GENERATION_SHIFT == u64::from(generation)
    }

    /// Whether the word is closed.
    pub(crate) fn is_closed(&self) -> bool {
        self.0.load(Ordering::Acquire) & CLOSED != 0
    }

    /// Permits out: messages on their way or waiting. On a closed word it only falls.
    #[inline]
    pub(crate) fn count(&self) -> u32 {
        // Acquire: pairs with the Release in `release` of a sender that gave up.
        (self.0.load(Ordering::Acquire) & COUNT) as u32
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_count_never_exceeds_the_capacity() {
        let word = Admission::new();
        assert_eq!(word.acquire(0, 2), Admit::Closed);
        word.open(7);
        assert_eq!(word.acquire(6, 2), Admit::Closed);
        assert_eq!(word.acquire(7, 2), Admit::Granted);
        assert_eq!(word.acquire(7, 2), Admit::Granted);
        assert_eq!(word.acquire(7, 2), Admit::Full);
        assert_eq!(word.count(), 2);
        assert!(!word.release(1));
        word.set_waiters();
        assert_eq!(word.acquire(7, 2), Admit::Full, "no barging");
        assert_eq!(word.acquire_for_waiter(7, 2), Admit::Granted);
        assert!(word.release(1));
        assert!(word.close(7));
        assert!(!word.close(7));
        assert_eq!(word.acquire(7, 2), Admit::Closed);
        assert_eq!(word.count(), 1);
    }
}
