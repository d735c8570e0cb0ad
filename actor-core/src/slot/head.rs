//! The head of a slot: its generation, and the signals that other threads have left for it.
//!
//! Signals are bits. The thread that sets the first one owes the slot a place on its port's stack; later ones ride
//! along. The owner takes the slot off the stack, then takes the bits; a signal that comes after that is a first one
//! again. So a slot is on the stack exactly while bits are set or are about to be taken, and never twice.

use crate::{
    id::MAX_GENERATION,
    sync::{AtomicU64, Fault, Ordering, planted},
};

/// A set of signals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Signals(u8);

impl Signals {
    pub(crate) const NONE: Self = Self(0);
    /// Poll the actor.
    pub(crate) const WAKE: Self = Self(1);
    /// Stop admitting, handle what was admitted, then end.
    pub(crate) const STOP: Self = Self(2);
    /// The actor itself wants to stop.
    pub(crate) const LEAVE: Self = Self(16);
    /// End at the next moment between two polls.
    pub(crate) const KILL: Self = Self(4);
    /// The last handle, or the last pin, has gone.
    pub(crate) const UNREFERENCED: Self = Self(8);

    pub(crate) const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    pub(crate) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

/// What became of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a first signal owes the slot a place on the stack"]
pub(crate) enum Signalled {
    /// The first since the owner last looked: push the slot, then ring.
    First,
    /// Others were there already; the slot is on the stack or about to be.
    Joined,
    /// The slot has another generation by now: the actor is gone.
    Stale,
}

/// Generation and pending signals in one word.
#[derive(Debug)]
pub(crate) struct Head(AtomicU64);

const SIGNAL_BITS: u32 = 8;
const SIGNALS: u64 = (1 << SIGNAL_BITS) - 1;

impl Head {
    pub(crate) fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// The generation now. A caller that keeps the slot from being recycled (a handle, the owner) reads a fixed one.
    #[inline]
    pub(crate) fn generation(&self) -> u32 {
        // Relaxed: whoever needs it fixed holds a count that was handed over with its own ordering.
        generation_of(self.0.load(Ordering::Relaxed))
    }

    /// Leaves `signals` if the slot still has `generation`.
    #[inline]
    pub(crate) fn signal(&self, generation: u32, signals: Signals) -> Signalled {
        let mut word = self.0.load(Ordering::Relaxed);
        loop {
            if generation_of(word) != generation {
                return Signalled::Stale;
            }
            // AcqRel: Release, so that what the signaller did before is visible to the owner's `take`. Acquire, so
            // that a first signaller's push comes after the owner's reading of the link (`take` releases it).
            let order = if planted(Fault::HeadSignal) { Ordering::Relaxed } else { Ordering::AcqRel };
            match self.0.compare_exchange_weak(word, word | u64::from(signals.0), order, Ordering::Relaxed) {
                Ok(_) if word & SIGNALS == 0 => return Signalled::First,
                Ok(_) => return Signalled::Joined,
                Err(now) => word = now,
            }
        }
    }

    /// Takes all signals. The owner calls it after it has taken the slot off the stack and read its link.
    #[inline]
    pub(crate) fn take(&self) -> Signals {
        // AcqRel: see `signal`.
        Signals((self.0.fetch_and(!SIGNALS, Ordering::AcqRel) & SIGNALS) as u8)
    }

    /// Moves to the next generation and returns it; `None` for a slot that has had its last one and is retired.
    ///
    /// Signals that are pending were meant for the old actor and are dropped, but the slot stays on the stack: what is
    /// left of them is a `WAKE`, at worst a spurious poll of the next actor.
    pub(crate) fn advance(&self) -> Option<u32> {
        let generation = self.generation();
        if generation == MAX_GENERATION {
            return None;
        }
        let mut word = self.0.load(Ordering::Relaxed);
        loop {
            let drops = word & SIGNALS == 0 || planted(Fault::HeadAdvance);
            let pending = if drops { Signals::NONE } else { Signals::WAKE };
            let next = u64::from(generation + 1) << SIGNAL_BITS | u64::from(pending.0);
            match self.0.compare_exchange_weak(word, next, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return Some(generation + 1),
                Err(now) => word = now,
            }
        }
    }
}

const fn generation_of(word: u64) -> u32 {
    (word >> SIGNAL_BITS) as u32
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn signals_of_an_older_generation_are_stale() {
        let head = Head::new();
        assert_eq!(head.signal(0, Signals::WAKE), Signalled::First);
        assert_eq!(head.signal(0, Signals::STOP), Signalled::Joined);
        assert_eq!(head.advance(), Some(1));
        assert_eq!(head.signal(0, Signals::KILL), Signalled::Stale);
        assert_eq!(head.take(), Signals::WAKE, "the old actor's STOP is not the new one's");
        assert_eq!(head.signal(1, Signals::WAKE), Signalled::First);
    }

    #[test]
    fn the_last_generation_retires_the_slot() {
        let head = Head(AtomicU64::new(u64::from(MAX_GENERATION - 1) << SIGNAL_BITS));
        assert_eq!(head.advance(), Some(MAX_GENERATION));
        assert_eq!(head.advance(), None);
        assert_eq!(head.generation(), MAX_GENERATION);
    }
}
