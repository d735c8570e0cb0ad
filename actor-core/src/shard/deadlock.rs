//! Actors that wait for each other in a circle: found by a walk from actor to actor, proven by their shards, ended by an
//! error for one of them. `README.md` in this folder has the argument.

use std::{
    cell::{Cell, RefCell},
    time::Duration,
};

use super::{Core, Request};
use crate::{
    ActorId,
    error::{DeadlockPath, Waits},
    id::SlotKey,
    port::Nanos,
    slot::{Slot, Wait, port},
    wake::publish_fence,
};

/// Actors of a circle that is found. The walk gives up beyond it.
const LONGEST_WALK: usize = 1_024;
/// How long a shard that does not sleep leaves new waits unchecked.
const CHECK_AFTER: Duration = Duration::from_millis(1);

/// What a shard keeps for finding deadlocks.
#[derive(Default)]
pub(crate) struct Deadlocks {
    /// What the handler that is being polled waits for, so far.
    polled: Cell<Polled>,
    /// Actors that wait and have not been checked since they began to.
    unchecked: RefCell<Vec<&'static Slot>>,
    /// When the first of those began to wait.
    since: Cell<Nanos>,
    /// Circles that other shards have found and that go through this one: looked at after the next look at the replies.
    probes: RefCell<Vec<Probe>>,
    /// Errors for actors of this shard that have not been polled yet.
    verdicts: RefCell<Vec<Verdict>>,
    has_verdicts: Cell<bool>,
}

/// What one poll of a handler has come to wait for.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Polled {
    /// Nothing that is known.
    #[default]
    Nothing,
    /// One actor: its answer, or room in its mailbox.
    One(SlotKey),
    /// More than one thing: any of them may wake it.
    Several,
}

/// A circle that was seen, on its way around its shards to be proven.
pub(super) struct Probe {
    /// In the order of waiting; the first is the one that will get the error, and is asked last.
    members: Vec<Member>,
    /// Who is asked next, counted from 1: the last is the first.
    next: usize,
}

struct Member {
    key: SlotKey,
    wait: Wait,
    /// Its type, once its shard has said so.
    kind: &'static str,
}

/// An actor's wait is to end with an error.
struct Verdict {
    victim: SlotKey,
    target: SlotKey,
    path: DeadlockPath,
}

impl Core {
    /// A call that the running handler polls waits for `target`, or for something that can't be followed.
    pub(crate) fn note_wait(&self, target: Option<SlotKey>) {
        let polled = &self.deadlocks.polled;
        polled.set(match (polled.get(), target) {
            (Polled::Nothing, Some(target)) => Polled::One(target),
            (Polled::One(known), Some(target)) if known == target => Polled::One(known),
            _ => Polled::Several,
        });
    }

    /// Begins a poll. Returns what the poll around it has noted, for [`end_poll`](Self::end_poll).
    #[inline]
    pub(super) fn begin_poll(&self) -> Polled {
        self.deadlocks.polled.take()
    }

    /// Ends a poll: a handler that has parked on one thing waits for it.
    #[inline]
    pub(super) fn end_poll(&self, slot: &'static Slot, outer: Polled, has_parked: bool) {
        match self.deadlocks.polled.replace(outer) {
            Polled::One(target) if has_parked => self.begin_wait(slot, target),
            _ => slot.waits.clear(),
        }
        if self.deadlocks.has_verdicts.get() {
            // It has been polled: what it did not take is about a wait that is over.
            self.take_verdict(|verdict| verdict.victim == slot.own.key.get());
        }
    }

    fn begin_wait(&self, slot: &'static Slot, target: SlotKey) {
        slot.waits.set(target);
        if !slot.own.is_unchecked.replace(true) {
            let mut unchecked = self.deadlocks.unchecked.borrow_mut();
            if unchecked.is_empty() {
                self.deadlocks.since.set(self.now.get());
            }
            unchecked.push(slot);
        }
    }

    /// Checks new waits, if the oldest has lasted a while. For a shard that is too busy to sleep.
    #[inline]
    pub(super) fn check_old_waits(&self, now: Nanos) {
        if !self.deadlocks.unchecked.borrow().is_empty() && now >= self.deadlocks.since.get().after(CHECK_AFTER) {
            publish_fence();
            self.check_waits();
        }
    }

    /// Looks for circles through the actors that began to wait since the last time.
    ///
    /// The caller has made a SeqCst fence since: of the shards of a circle, the one whose fence comes last sees it whole.
    pub(super) fn check_waits(&self) {
        let mut unchecked = self.deadlocks.unchecked.take();
        for slot in unchecked.drain(..) {
            slot.own.is_unchecked.set(false);
            if closes_circle(slot)
                && let Some(probe) = Probe::around(slot)
            {
                probe.send();
            }
        }
        // Nobody has begun to wait meanwhile: nothing here runs user code.
        self.deadlocks.unchecked.replace(unchecked);
    }

    /// Takes a probe that another shard has sent. It is looked at in the next look, after the signals and replies.
    fn take_probe(&self, probe: Probe) {
        self.deadlocks.probes.borrow_mut().push(probe);
    }

    /// Looks at the probes of earlier looks. Signals and replies have been taken in this one. Returns whether there were
    /// any.
    #[inline]
    pub(super) fn run_probes(&self) -> bool {
        if self.deadlocks.probes.borrow().is_empty() {
            return false;
        }
        for probe in self.deadlocks.probes.take() {
            self.prove(probe);
        }
        true
    }

    #[cold]
    fn prove(&self, mut probe: Probe) {
        let (last, index) = (probe.next == probe.members.len(), probe.next % probe.members.len());
        let member = &mut probe.members[index];
        let Some(slot) = self.port.table.get(member.key.slot()) else { return };
        let waits =
            slot.own.key.get() == member.key && slot.own.state.is_parked() && slot.waits.read() == Some(member.wait);
        let Some(task) = slot.own.task.get().filter(|_| waits) else { return };
        // SAFETY: a parked actor has its task, which is dropped on this thread only, between polls.
        member.kind = unsafe { task.as_ref() }.kind();
        probe.next += 1;
        if !last {
            return probe.send();
        }
        let Member { key: victim, wait, .. } = probe.members[0];
        let mut verdicts = self.deadlocks.verdicts.borrow_mut();
        // Each of several members may have seen the circle.
        if verdicts.iter().all(|verdict| verdict.victim != victim) {
            verdicts.push(Verdict { victim, target: wait.target, path: probe.path() });
            drop(verdicts);
            self.deadlocks.has_verdicts.set(true);
            self.notify(slot);
        }
    }

    /// The error for a call of the running handler that waits for `target`, if it is to get one.
    #[inline]
    pub(crate) fn verdict(&self, target: SlotKey) -> Option<DeadlockPath> {
        if !self.deadlocks.has_verdicts.get() {
            return None;
        }
        let victim = self.exclusive.get()?.own.key.get();
        let path = self.take_verdict(|verdict| verdict.victim == victim && verdict.target == target)?;
        self.counters.deadlocks.add(1);
        Some(path)
    }

    #[cold]
    fn take_verdict(&self, is_it: impl Fn(&Verdict) -> bool) -> Option<DeadlockPath> {
        let mut verdicts = self.deadlocks.verdicts.borrow_mut();
        let taken = verdicts.iter().position(is_it).map(|place| verdicts.swap_remove(place).path);
        self.deadlocks.has_verdicts.set(!verdicts.is_empty());
        taken
    }
}

/// The slot that `key` names, if its actor is still there.
fn slot_of(key: SlotKey) -> Option<&'static Slot> {
    let slot = port(key.port())?.table.get(key.slot())?;
    (slot.head.generation() == key.generation()).then_some(slot)
}

/// Whether the waits that begin with `start`'s lead back to it.
fn closes_circle(start: &'static Slot) -> bool {
    let mut next = start.waits.read();
    for _ in 0..LONGEST_WALK {
        let Some(slot) = next.and_then(|wait| slot_of(wait.target)) else {
            return false;
        };
        if std::ptr::eq(slot, start) {
            return true;
        }
        next = slot.waits.read();
    }
    false
}

impl Probe {
    /// The circle through `start`, read a second time.
    #[cold]
    fn around(start: &'static Slot) -> Option<Self> {
        let mut members = Vec::new();
        let mut slot = start;
        loop {
            let wait = slot.waits.read()?;
            members.push(Member { key: slot.key(), wait, kind: "" });
            slot = slot_of(wait.target)?;
            if std::ptr::eq(slot, start) {
                break;
            }
            if members.len() == LONGEST_WALK {
                return None;
            }
        }
        // One for the whole circle, whoever has found it.
        let victim = (0..members.len()).min_by_key(|place| members[*place].key)?;
        members.rotate_left(victim);
        // A circle of one is answered before it waits.
        Some(Self { next: 1, members })
    }

    /// Sends the probe to the shard of the member that is asked next. A shard that has ended has no actor that waits.
    fn send(self) {
        let key = self.members[self.next % self.members.len()].key;
        if let Some(port) = port(key.port()) {
            _ = port.request(port.epoch(), Request::new(move |core| core.take_probe(self)));
        }
    }

    fn path(&self) -> DeadlockPath {
        let waits = |member: &Member| Waits { actor: ActorId::new(member.key), kind: member.kind };
        DeadlockPath::new(self.members.iter().map(waits).collect())
    }
}
