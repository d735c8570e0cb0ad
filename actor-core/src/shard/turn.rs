//! One budgeted turn of a shard, and the way to sleep.
//!
//! A turn looks at its sources (timers, signals, requests, the ring), polls ready actors, looks again every few polls,
//! and ends when nothing is ready or its time is over. What other threads left is taken in whole batches; user
//! messages up to a budget, so that a flooded ring cannot keep the ready actors waiting.

use std::task::{Context, Waker};

use super::{Core, Shard};
use crate::{
    ExitReason,
    actor::{Run, Step},
    envelope::Envelope,
    life::panic::capture,
    port::{ChoicePoint, Nanos},
    slot::{Notified, Signals, Slot, Stopping},
    wake::with_slot_waker,
};

/// Messages that one look takes from the ring.
const LOOK_BUDGET: usize = 256;
/// Polls between two looks.
const STEPS_PER_LOOK: u32 = 8;
/// Polls between two readings of the clock.
const STEPS_PER_CLOCK: u32 = 32;

/// Polls after which a turn ends even if its clock stands still, as a test's may.
const STEPS_PER_TURN: u32 = 4096;

/// How a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Its time is over and there is more to do: let others run, then call again.
    More,
    /// Nothing is ready. Sleep (see [`Shard::announce_sleep`]), at the longest until the timer.
    Idle {
        /// When the earliest timer is due.
        next_timer: Option<Nanos>,
        /// Whether the turn found anything to do. A driver that has other work gives that a go and then turns once
        /// more before it sleeps: what comes meanwhile needs no bell.
        was_busy: bool,
    },
    /// The shard was told to shut down, and its last actor has ended. Call again only for what other shards still
    /// send here: it is answered with `Closed`.
    Ended,
}

impl Shard {
    /// Runs one turn.
    pub fn turn(&self) -> Turn {
        let _activation = self.activate();
        let core = &*self.core;
        let _in_turn = InTurn::enter(core);
        core.counters.turns.add(1);
        let was_rung = core.port.doorbell.wake();
        if was_rung {
            core.counters.rung.add(1);
        }
        // A spin has just read it.
        let start = if core.spinner.has_won() { core.now.get() } else { core.read_clock() };
        if was_rung && let Some(at) = core.port.take_rung_at() {
            core.spinner.rung(start, at);
        }
        core.fire_timers(start);
        let mut was_busy = self.look();
        core.spinner.wake(start, was_busy);
        core.check_old_waits(start);
        core.release_old_permits(start);
        if was_rung && !was_busy && !core.has_ready() {
            core.counters.spurious.add(1);
        }
        // Polls, and looks for want of anything to poll: neither may go on for ever.
        let mut steps = 0u32;
        loop {
            if let Some(slot) = core.next_ready() {
                core.run(slot);
                core.drop_evicted();
                was_busy = true;
            } else {
                self.advance_shutdown();
                if !self.look() && !core.has_ready() {
                    break;
                }
            }
            steps += 1;
            if steps.is_multiple_of(STEPS_PER_LOOK) {
                self.look();
            }
            if steps.is_multiple_of(STEPS_PER_CLOCK) {
                let now = core.read_clock();
                core.fire_timers(now);
                if now >= start.after(core.slice) {
                    return core.interrupt();
                }
            }
            if steps == STEPS_PER_TURN || !core.driver.has_budget() {
                return core.interrupt();
            }
        }
        if core.is_closing.get() && core.counters.actors.get() == 0 {
            return Turn::Ended;
        }
        Turn::Idle { next_timer: core.next_timer(), was_busy }
    }

    /// Announces that the driver is about to wait, with `waker` for what happens on this thread meanwhile. Returns
    /// false if something came in the last moment: then call [`turn`](Self::turn) instead of waiting.
    ///
    /// A driver that waits is woken by [`Notify::notify`](crate::port::Notify::notify) or by `waker`; a turn ends the
    /// sleep by itself.
    #[must_use = "false means: do not wait"]
    pub fn announce_sleep(&self, waker: &Waker) -> bool {
        let core = &*self.core;
        // First: whoever waits for one may be an actor of this shard.
        core.release_permits();
        core.set_driver_waker(Some(waker.clone()));
        core.counters.sleeps.add(1);
        core.port.doorbell.announce_sleep();
        core.check_waits();
        if self.has_work() {
            if core.port.doorbell.wake() {
                core.counters.rung.add(1);
            }
            return false;
        }
        core.is_resting.set(true);
        true
    }

    pub(super) fn has_work(&self) -> bool {
        let core = &*self.core;
        core.has_ready()
            || !core.vacating.borrow().is_empty()
            || !core.port.signals.is_empty()
            || !core.port.replies.is_empty()
            || core.port.has_requests()
            // SAFETY: the lease's holder is the only consumer, and is bound to this thread.
            || unsafe { self.lease().has_messages() }
            || !self.held_back.borrow().is_empty()
            || core.has_evicted()
    }

    /// Takes what has come from other threads. Returns whether there was anything.
    pub(super) fn look(&self) -> bool {
        let core = &*self.core;
        let mut found = false;
        if core.choose(ChoicePoint::NextSource, 2) == 0 {
            found |= self.take_signals() | core.port.take_replies();
            found |= self.take_messages();
        } else {
            found |= self.take_messages();
            found |= self.take_signals() | core.port.take_replies();
        }
        found |= core.run_probes();
        for request in core.port.take_requests() {
            found = true;
            // The user code in it is captured where it runs; this is for what is left.
            _ = capture(|| request.run(core));
        }
        for slot in core.vacating.take() {
            core.vacate(slot);
        }
        core.drop_evicted();
        core.ring_owed();
        found
    }

    fn take_signals(&self) -> bool {
        let core = &*self.core;
        let mut found = false;
        for node in core.port.signals.take() {
            found = true;
            // SAFETY: slots live for ever.
            let slot: &'static Slot = unsafe { node.as_ref() };
            let signals = slot.head.take();
            if slot.own.state.is_live() {
                core.leave(slot, signals);
            } else {
                core.vacate(slot);
            }
        }
        found
    }

    fn take_messages(&self) -> bool {
        let mut taken = 0;
        while taken < LOOK_BUDGET
            && let Some(envelope) = self.next_arrival()
        {
            taken += 1;
            let slot = self.core.port.table.get(envelope.slot());
            let slot = slot.expect("an envelope is addressed by a permit of one of our slots");
            debug_assert_eq!(slot.head.generation(), envelope.generation());
            envelope.prefetch();
            self.core.accept(slot, envelope);
        }
        taken > 0
    }

    /// The oldest message from another thread. What was spilled beside a full ring comes after what the ring held
    /// then, and before what it holds since.
    fn next_arrival(&self) -> Option<Envelope> {
        let mut held_back = self.held_back.borrow_mut();
        if let Some(envelope) = held_back.pop_front() {
            return Some(envelope);
        }
        // SAFETY: the lease's holder is the only consumer, and is bound to this thread.
        if let Some(envelope) = unsafe { self.lease().pop() } {
            return Some(envelope);
        }
        // SAFETY: as above.
        *held_back = unsafe { self.lease().take_spill() };
        held_back.pop_front()
    }
}

impl Core {
    /// Ends a turn that has more to do.
    fn interrupt(&self) -> Turn {
        self.release_permits();
        Turn::More
    }

    fn fire_timers(&self, now: Nanos) {
        if self.next_timer().is_some_and(|at| at <= now) {
            for waker in self.due_timers(now) {
                // A waker may be user code.
                _ = capture(|| waker.wake());
            }
        }
    }

    /// Polls one actor, unless it has ended since it was queued.
    fn run(&self, slot: &'static Slot) {
        if !slot.own.state.begin() {
            return;
        }
        self.counters.polls.add(1);
        let signals = slot.own.signals.replace(Signals::NONE);
        if signals != Signals::NONE && self.act_on(slot, signals) {
            return;
        }
        let Some(task) = slot.own.task.get() else {
            return self.finish(slot, ExitReason::Normal);
        };
        let outer = (self.exclusive.take(), self.inherited.replace(Nanos::NEVER), self.begin_poll());
        let step = capture(|| {
            with_slot_waker(slot.own.key.get(), |waker| {
                // SAFETY: the slot holds its task until `finish` takes it, which does not happen inside a poll.
                unsafe { task.as_ref() }.poll(&Run { core: self, slot }, &mut Context::from_waker(waker))
            })
        });
        self.exclusive.set(outer.0);
        self.inherited.set(outer.1);
        self.end_poll(slot, outer.2, matches!(step, Ok(Step::Parked)));
        match step {
            Ok(Step::Parked) => {
                if slot.own.state.end() == Notified::Enqueue {
                    self.enqueue(slot);
                }
            }
            Ok(Step::More) => {
                self.notify(slot);
                if slot.own.state.end() == Notified::Enqueue {
                    self.enqueue(slot);
                }
            }
            Ok(Step::Exit(reason)) | Err(reason) => self.finish(slot, reason),
        }
        self.ring_owed();
    }

    /// Acts on signals between two polls. Returns whether the actor has ended by it.
    #[cold]
    fn act_on(&self, slot: &'static Slot, signals: Signals) -> bool {
        if signals.contains(Signals::KILL) {
            self.finish(slot, ExitReason::Killed);
            return true;
        }
        if signals.contains(Signals::STOP) {
            self.begin_stop(slot, Stopping::Stopped);
        }
        if signals.contains(Signals::LEAVE) || signals.contains(Signals::UNREFERENCED) && !slot.refs.has_handles() {
            self.begin_stop(slot, Stopping::Normal);
        }
        false
    }
}

/// Marks the time in which the driver need not be woken: it is here.
pub(super) struct InTurn<'a>(&'a Core);

impl<'a> InTurn<'a> {
    pub(super) fn enter(core: &'a Core) -> Self {
        core.in_turn.set(true);
        core.set_driver_waker(None);
        core.is_resting.set(false);
        Self(core)
    }
}

impl Drop for InTurn<'_> {
    fn drop(&mut self) {
        self.0.report_evicted();
        self.0.ring_owed();
        self.0.port.set_load(self.0.counters.actors.get());
        self.0.in_turn.set(false);
    }
}
