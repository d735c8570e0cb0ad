//! The end of an actor: everything it leaves is dropped or answered, each piece on its own, so that a panic in one
//! keeps nothing else from happening.

use super::Core;
use crate::{
    ExitReason,
    envelope::{Envelope, Failure},
    life::panic::capture,
    port::Report,
    slot::Slot,
};

impl Core {
    /// Ends the actor in `slot`. The first reason wins; a later one changes nothing.
    pub(crate) fn finish(&self, slot: &'static Slot, reason: ExitReason) {
        // Claimed first: what follows runs user code, which may signal, wake or send to this actor.
        if !slot.own.state.finish() {
            return;
        }
        let generation = slot.head.generation();
        slot.close(generation);
        slot.release_permits();
        slot.waits.clear();
        let mut reason = reason;
        let task = slot.own.task.take();
        let (mut asked, mut kind) = (None, "");
        if let Some(task) = task {
            // SAFETY: the task lives until the box below, and is in no poll: `finish` runs between polls.
            let task = unsafe { task.as_ref() };
            kind = task.kind();
            let why = reason.clone();
            note(&mut reason, capture(|| task.drop_frame(&why)));
            asked = task.take_asked();
            // SAFETY: `start` leaked this box into the slot, and it has just been taken out.
            let task = unsafe { Box::from_raw(std::ptr::from_ref(task).cast_mut()) };
            note(&mut reason, capture(|| drop(task)));
        }
        if let Some(asked) = asked {
            _ = capture(|| asked.fail(Failure::Died(reason.clone())));
        }
        while let Some(envelope) = slot.own.dequeue(&self.pool) {
            self.throw_away(slot, envelope, &reason);
        }
        if !reason.is_graceful() && reason != ExitReason::Killed {
            // What listens to reports (a tracing subscriber) is user code.
            _ = capture(|| self.driver.report(Report::ActorFailed { actor: slot.id(), kind, reason: &reason }));
        }
        self.counters.actors.sub(1);
        slot.room.end(reason).wake();
        self.vacate(slot);
    }

    /// A message for an actor that has ended meanwhile.
    #[cold]
    pub(super) fn return_late(&self, slot: &'static Slot, envelope: Envelope) {
        let reason = slot.room.reason().unwrap_or(ExitReason::ShardDown);
        self.throw_away(slot, envelope, &reason);
        self.vacate(slot);
    }

    /// Makes a slot whose actor has ended free for the next one, once nothing refers to it.
    pub(super) fn vacate(&self, slot: &'static Slot) {
        if !slot.own.state.is_done()
            || slot.refs.is_referenced()
            || slot.admission.count() > 0
            || slot.own.is_noted.get()
        {
            return;
        }
        // A slot that has had its last generation stays as it is, for good.
        if slot.room.reset(|| slot.head.advance()).is_some() {
            slot.own.state.vacate();
            self.port.table.give_back(slot);
        }
    }

    fn throw_away(&self, slot: &'static Slot, envelope: Envelope, reason: &ExitReason) {
        slot.release_permit();
        self.counters.returned.add(1);
        // A panic in an argument's destructor has nobody to go to: its actor has ended.
        _ = capture(|| envelope.discard(Failure::Died(reason.clone())));
    }
}

/// A panic while an actor is taken down is the reason of its end, unless there is a graver one already.
fn note(reason: &mut ExitReason, outcome: Result<(), ExitReason>) {
    if let Err(panicked) = outcome
        && reason.is_graceful()
    {
        *reason = panicked;
    }
}
