//! Where a slot's actor is in its life on the run queue. The owner's alone: no atomics, no other thread.

use std::cell::Cell;

/// The owner-only state of a slot, changed by named transitions.
///
/// ```text
/// Vacant -> Parked -> Queued -> Running -> Parked
///    ^                  ^          |
///    |                  |          v
///    |                  +-- RunningNotified        any live state -> Done -> Vacant
///    +---------------------------------------------------------------------+
/// ```
#[derive(Debug)]
pub(crate) struct State(Cell<Kind>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Vacant,
    Queued,
    Running,
    RunningNotified,
    Parked,
    Done,
}

/// What a notification asks of the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a slot that became ready must be put on the run queue"]
pub(crate) enum Notified {
    /// Put the slot on the run queue.
    Enqueue,
    /// Nothing: it is there, or will be, or has no actor.
    Nothing,
}

impl State {
    pub(crate) const fn new() -> Self {
        Self(Cell::new(Kind::Vacant))
    }

    /// Vacant -> Parked: an actor moves in.
    pub(crate) fn occupy(&self) {
        self.step(Kind::Vacant, Kind::Parked);
    }

    /// There is something to do.
    #[inline]
    pub(crate) fn notify(&self) -> Notified {
        match self.0.get() {
            Kind::Parked => {
                self.0.set(Kind::Queued);
                Notified::Enqueue
            }
            Kind::Running => {
                self.0.set(Kind::RunningNotified);
                Notified::Nothing
            }
            Kind::Vacant | Kind::Queued | Kind::RunningNotified | Kind::Done => Notified::Nothing,
        }
    }

    /// Queued -> Running. Returns false for a slot whose actor ended while it was queued.
    #[inline]
    #[must_use]
    pub(crate) fn begin(&self) -> bool {
        let queued = self.0.get() == Kind::Queued;
        if queued {
            self.0.set(Kind::Running);
        }
        queued
    }

    /// The poll is over: Running -> Parked, or RunningNotified -> Queued.
    #[inline]
    pub(crate) fn end(&self) -> Notified {
        match self.0.get() {
            Kind::Running => {
                self.0.set(Kind::Parked);
                Notified::Nothing
            }
            Kind::RunningNotified => {
                self.0.set(Kind::Queued);
                Notified::Enqueue
            }
            // The actor was ended from inside its own poll.
            Kind::Vacant | Kind::Queued | Kind::Parked | Kind::Done => Notified::Nothing,
        }
    }

    /// Whether the actor has nothing to do.
    pub(crate) fn is_parked(&self) -> bool {
        self.0.get() == Kind::Parked
    }

    /// A live state -> Done. Returns false when the slot has no live actor: the end was claimed before.
    #[must_use]
    pub(crate) fn finish(&self) -> bool {
        let live = self.is_live();
        if live {
            self.0.set(Kind::Done);
        }
        live
    }

    /// Done -> Vacant: nothing refers to the actor that was here.
    pub(crate) fn vacate(&self) {
        self.step(Kind::Done, Kind::Vacant);
    }

    #[inline]
    pub(crate) fn is_live(&self) -> bool {
        !matches!(self.0.get(), Kind::Vacant | Kind::Done)
    }

    pub(crate) fn is_queued(&self) -> bool {
        self.0.get() == Kind::Queued
    }

    pub(crate) fn is_done(&self) -> bool {
        self.0.get() == Kind::Done
    }

    fn step(&self, from: Kind, to: Kind) {
        let was = self.0.replace(to);
        assert!(was == from, "a slot went from {was:?} to {to:?}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notification_during_a_poll_queues_the_actor_again() {
        let state = State::new();
        state.occupy();
        assert_eq!(state.notify(), Notified::Enqueue);
        assert_eq!(state.notify(), Notified::Nothing);
        assert!(state.begin());
        assert_eq!(state.notify(), Notified::Nothing);
        assert_eq!(state.end(), Notified::Enqueue);
        assert!(state.begin());
        assert_eq!(state.end(), Notified::Nothing);
    }

    #[test]
    fn the_end_is_claimed_once_and_a_queued_actor_that_ended_is_not_run() {
        let state = State::new();
        state.occupy();
        assert_eq!(state.notify(), Notified::Enqueue);
        assert!(state.finish());
        assert!(!state.finish());
        assert!(!state.begin());
        assert_eq!(state.notify(), Notified::Nothing);
        state.vacate();
        assert!(!state.is_live());
    }
}
