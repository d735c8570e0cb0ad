//! What an ask and a tell have in common: whom they are for, and how long they wait.

use std::{
    sync::atomic::Ordering,
    task::Waker,
    time::{Duration, Instant},
};

use crate::{
    ActorId, Overflow,
    envelope::{Envelope, MethodTable},
    error::{DeadlockPath, Waits},
    id::SlotKey,
    port::{Nanos, TimerKey, outside_timer},
    shard::{self, with_core},
    slot::{Admit, Hold, Place, Served, Slot},
};

/// The actor that a call is for. Does not keep it alive: the generation tells whether it still is the same.
#[derive(Clone, Copy)]
pub(super) struct Target {
    pub(super) slot: &'static Slot,
    pub(super) generation: u32,
}

impl PartialEq for Target {
    /// Whether both are the same actor.
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.slot, other.slot) && self.generation == other.generation
    }
}

impl Target {
    #[inline]
    pub(super) fn acquire(&self) -> Admit {
        self.slot.acquire(self.generation)
    }

    /// Sends with a permit just acquired.
    #[inline]
    pub(super) fn deliver_tell<P: 'static>(&self, table: &'static MethodTable, args: P) {
        let envelope = Envelope::tell(self.slot.index(), self.generation, table, args);
        // SAFETY: the caller has just acquired the permit, on this thread; the table and the arguments come from a
        // handle's call.
        unsafe { shard::deliver(self.slot, envelope) };
    }

    pub(super) fn wait(&self, waker: &mut Waker) -> Served {
        self.slot.wait_for_room(self.generation, waker)
    }

    pub(super) fn poll_place(&self, place: Place, waker: &mut Waker) -> Served {
        self.slot.room.poll(place, waker, || self.is_same())
    }

    pub(super) fn leave(&self, place: Place) {
        let slot = self.slot;
        let permits = slot.bounds().permits();
        slot.room.leave(place, &slot.admission, self.generation, permits, || self.is_same()).wake();
    }

    /// A place of one's own, with its permit or in the queue for it.
    pub(super) fn reserve(&self, waker: &mut Waker) -> Hold {
        self.slot.reserve(self.generation, waker)
    }

    pub(super) fn poll_reserved(&self, place: Place, waker: &mut Waker) -> Hold {
        self.slot.room.poll_reserved(place, waker, || self.is_same())
    }

    /// The actor, in the life that the call is for.
    pub(super) fn id(&self) -> ActorId {
        ActorId::new(SlotKey::new(self.slot.port.number(), self.slot.index(), self.generation))
    }

    /// Whether nobody waits for room in the mailbox without having asked for it by name.
    pub(super) fn rejects(&self) -> bool {
        self.slot.bounds().overflow() == Overflow::Reject
    }

    /// The path of the deadlock, if it is this actor's own handler that would wait for room. A mailbox that drops makes
    /// room without its actor.
    #[inline]
    pub(super) fn waits_for_itself(&self) -> Option<DeadlockPath> {
        self.is_caller().filter(|_| !self.slot.bounds().drops())
    }

    fn key(&self) -> SlotKey {
        SlotKey::new(self.slot.port.number(), self.slot.index(), self.generation)
    }

    /// The handler that polls a call, if one does, waits for this actor; or for something that is not to be followed.
    #[inline]
    pub(super) fn note_wait(&self, cycles: Cycles) {
        with_core(|core| {
            if let Some(core) = core.filter(|core| core.exclusive.get().is_some()) {
                core.note_wait((cycles == Cycles::Found).then(|| self.key()));
            }
        });
    }

    /// As [`note_wait`](Self::note_wait), for room in the mailbox. In one that drops messages it is the shard that makes
    /// room, and not the actor.
    #[cold]
    pub(super) fn note_wait_for_room(&self, cycles: Cycles) {
        self.note_wait(if self.slot.bounds().drops() { Cycles::Allowed } else { cycles });
    }

    /// The path of the deadlock, if the wait for this actor that the running handler polls is to end because of one.
    #[inline]
    pub(super) fn verdict(&self) -> Option<DeadlockPath> {
        with_core(|core| core?.verdict(self.key()))
    }

    fn is_same(&self) -> bool {
        self.slot.head.generation() == self.generation
    }

    /// The path of the deadlock, if it is this actor's own handler that calls.
    #[inline]
    pub(super) fn is_caller(&self) -> Option<DeadlockPath> {
        with_core(|core| {
            let slot = core?.exclusive.get().filter(|slot| std::ptr::eq(*slot, self.slot))?;
            let task = slot.own.task.get()?;
            // SAFETY: the task is in the poll in which we are.
            let kind = unsafe { task.as_ref() }.kind();
            Some(DeadlockPath::new(vec![Waits { actor: slot.id(), kind }]))
        })
    }
}

/// Whether a wait is followed from actor to actor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cycles {
    /// A circle is an error.
    Found,
    /// Something else may end the wait: it is left alone.
    Allowed,
}

/// How long a call may take.
#[derive(Clone, Copy, Debug)]
pub(super) enum Limit {
    /// The runtime's default for asks; none for tells.
    Default,
    In(Duration),
    At(Nanos),
}

impl Limit {
    pub(super) fn at(instant: Instant) -> Self {
        Self::At(Nanos::of(instant))
    }

    /// The deadline of an ask that begins now, and whether it may have passed already.
    #[inline]
    pub(super) fn deadline_of_ask(self, target: Target, inherits: bool) -> (Option<Nanos>, bool) {
        let own = match self {
            Self::Default => match target.slot.port.ask_timeout.load(Ordering::Relaxed) {
                u64::MAX => None,
                nanos => {
                    let start = if nanos >= LONG { recently() } else { now() };
                    Some(Nanos(start.0.saturating_add(nanos)))
                }
            },
            Self::In(_) | Self::At(_) => self.deadline_of_tell(),
        };
        let callers = if inherits {
            with_core(|core| core.map_or(Nanos::NEVER, |core| core.inherited.get()))
        } else {
            Nanos::NEVER
        };
        if callers == Nanos::NEVER {
            return (own, !matches!(self, Self::Default));
        }
        (Some(own.map_or(callers, |own| own.min(callers))), true)
    }

    /// The deadline of a tell that begins now.
    pub(super) fn deadline_of_tell(self) -> Option<Nanos> {
        match self {
            Self::Default => None,
            Self::In(limit) => Some(now().after(limit)),
            Self::At(at) => Some(at),
        }
    }
}

/// The time for a call: its shard's, or the process's.
#[inline]
pub(super) fn now() -> Nanos {
    with_core(|core| core.map_or_else(Nanos::now, crate::shard::Core::now))
}

/// A limit, in nanoseconds, that a reading of the clock from before the last few polls does for.
const LONG: u64 = 10_000_000_000;

/// The time for a call with a [`LONG`] limit.
#[inline]
fn recently() -> Nanos {
    with_core(|core| core.map_or_else(Nanos::now, crate::shard::Core::recent))
}

/// A call's deadline, and the timer that is armed for it.
#[derive(Default)]
pub(super) struct Alarm {
    deadline: Option<Nanos>,
    armed: Armed,
}

#[derive(Default)]
enum Armed {
    #[default]
    No,
    /// By the thread itself, which parks no longer than the deadline.
    ByParking,
    OnShard {
        port: u16,
        epoch: u32,
        key: TimerKey,
    },
    Outside(TimerKey),
}

impl Alarm {
    #[inline]
    pub(super) fn set(&mut self, deadline: Option<Nanos>) {
        self.deadline = deadline;
    }

    #[inline]
    pub(super) fn deadline(&self) -> Option<Nanos> {
        self.deadline
    }

    /// The caller parks its thread and minds the deadline itself.
    pub(super) fn mind_by_parking(&mut self) {
        self.armed = Armed::ByParking;
    }

    #[inline]
    pub(super) fn is_due(&self) -> bool {
        self.deadline.is_some_and(|deadline| deadline <= now())
    }

    /// Sees to it that `waker` is woken at the deadline. `is_new` says that the last call was with another one.
    #[inline]
    pub(super) fn arm(&mut self, waker: &Waker, is_new: bool) {
        let Some(deadline) = self.deadline else {
            return;
        };
        match self.armed {
            Armed::No => {}
            Armed::ByParking => return,
            Armed::OnShard { .. } | Armed::Outside(_) if !is_new => return,
            Armed::OnShard { .. } | Armed::Outside(_) => self.disarm(),
        }
        let waker = waker.clone();
        self.armed = with_core(|core| match core {
            Some(core) => {
                Armed::OnShard { port: core.port.number(), epoch: core.epoch(), key: core.arm(deadline, waker) }
            }
            None => outside_timer().map_or(Armed::No, |timer| Armed::Outside(timer.arm(deadline, waker))),
        });
    }

    /// Disarms, where that can be done from here. A timer of another thread's shard stays and wakes once in vain.
    #[inline]
    pub(super) fn disarm(&mut self) {
        match std::mem::take(&mut self.armed) {
            Armed::No => {}
            Armed::ByParking => self.armed = Armed::ByParking,
            Armed::OnShard { port, epoch, key } => {
                let waker = with_core(|core| {
                    core.filter(|core| core.port.number() == port && core.epoch() == epoch)
                        .and_then(|core| core.disarm(key))
                });
                // Here, and not inside: a waker is user code.
                drop(waker);
            }
            Armed::Outside(key) => {
                if let Some(timer) = outside_timer() {
                    timer.cancel(key);
                }
            }
        }
    }
}
