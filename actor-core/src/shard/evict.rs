//! Messages that a full mailbox drops: chosen on arrival, dropped between polls, reported at the turn's end.
//!
//! A message may arrive inside a sender's call, where no user code runs; so its victim waits in a list for the end of
//! the poll, or of the look, with its permit. The permit bounds that list, keeps the slot the same actor's, and is
//! released as on every other road out of a mailbox.

use std::cell::RefCell;

use super::Core;
use crate::{
    Overflow,
    envelope::{Envelope, Failure},
    life::panic::capture,
    port::Report,
    slot::Slot,
};

/// What has been dropped and is not done with yet.
#[derive(Default)]
pub(crate) struct Evictions {
    messages: RefCell<Vec<(&'static Slot, Envelope)>>,
    /// Actors that have lost messages since the last report, each once.
    notes: RefCell<Vec<Note>>,
}

struct Note {
    slot: &'static Slot,
    kind: &'static str,
    /// The slot's count before.
    before: u64,
}

impl Core {
    /// Puts a message into the inbox of an actor that drops messages and has as many as it holds.
    #[cold]
    pub(super) fn accept_into_full(&self, slot: &'static Slot, envelope: Envelope) {
        let victim = match slot.bounds().overflow() {
            Overflow::DropOldest => {
                let oldest = slot.own.dequeue(&self.pool);
                slot.own.enqueue(&self.pool, envelope);
                oldest
            }
            _ => Some(envelope),
        };
        let Some(victim) = victim else { return };
        if !slot.own.is_noted.replace(true) {
            // SAFETY: a live actor's task is there until its end; while it is polled, it is only shared.
            let kind = slot.own.task.get().map_or("", |task| unsafe { task.as_ref() }.kind());
            self.evictions.notes.borrow_mut().push(Note { slot, kind, before: slot.evicted() });
        }
        slot.count_evicted();
        self.counters.evicted.add(1);
        self.evictions.messages.borrow_mut().push((slot, victim));
        // Outside a turn the next one is owed soon: the permit comes free there.
        self.wake_driver();
    }

    /// Whether `drop_evicted` has something to do.
    #[inline]
    pub(super) fn has_evicted(&self) -> bool {
        !self.evictions.messages.borrow().is_empty()
    }

    /// Drops or answers what has been evicted so far. Runs user code; what that evicts is for the next time.
    #[inline]
    pub(super) fn drop_evicted(&self) {
        if self.has_evicted() {
            self.drop_evicted_cold();
        }
    }

    #[cold]
    fn drop_evicted_cold(&self) {
        for (slot, envelope) in self.evictions.messages.take() {
            // A panic in an argument's destructor has nobody to go to: no handler has begun.
            _ = capture(|| envelope.discard(Failure::Evicted));
            slot.release_permit();
            if !slot.own.state.is_live() {
                self.vacate(slot);
            } else if slot.own.stopping.get().is_some() {
                // It may be waiting for its last permit.
                self.notify(slot);
            }
        }
    }

    /// Reports what was evicted in this turn. Runs user code: what listens to reports.
    #[inline]
    pub(super) fn report_evicted(&self) {
        if !self.evictions.notes.borrow().is_empty() {
            self.report_evicted_cold();
        }
    }

    #[cold]
    fn report_evicted_cold(&self) {
        for Note { slot, kind, before } in self.evictions.notes.take() {
            // The slot is still the same actor's: `vacate` waits for the note.
            slot.own.is_noted.set(false);
            let (actor, policy, count) = (slot.id(), slot.bounds().overflow(), slot.evicted() - before);
            _ = capture(|| self.driver.report(Report::Evicted { actor, kind, policy, count }));
            self.vacate(slot);
        }
    }
}
