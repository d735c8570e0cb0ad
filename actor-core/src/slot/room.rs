//! The slow road of a slot: who waits for room, who waits for the end, and how the actor ended.
//!
//! All of it is behind one lock, taken only when a mailbox is full, when somebody awaits an end, and at the end
//! itself. Permits are handed to waiters in the order in which they came; no waker runs under the lock.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::PoisonError,
    task::Waker,
};

use super::{Admission, Admit};
use crate::{
    ExitReason,
    sync::{Fault, Mutex, MutexGuard, planted},
};

/// What the lock guards; nothing is allocated until somebody waits or the actor ends.
#[derive(Default)]
pub(crate) struct Room(Mutex<Option<Box<Waiting>>>);

#[derive(Default)]
struct Waiting {
    /// Senders without a permit, in order.
    queue: VecDeque<u64>,
    /// All senders that wait, and all that hold a place that they have reserved: with or without a permit, by ticket.
    senders: BTreeMap<u64, Sender>,
    next_ticket: u64,
    /// Those that await the end, by ticket.
    mourners: BTreeMap<u64, Waker>,
    reason: Option<ExitReason>,
}

struct Sender {
    waker: Waker,
    granted: bool,
}

impl Sender {
    /// One that has its permit; nobody is to be woken.
    fn granted() -> Self {
        Self { waker: Waker::noop().clone(), granted: true }
    }
}

/// A sender's place in the queue: valid for one generation of one slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place(u64);

/// Names one that awaits the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ticket(u64);

/// What a waiting sender finds.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Served {
    /// The permit is yours; the place is given up.
    Granted,
    /// Not yet.
    Waiting(Place),
    /// The actor stops or has ended; the place is gone.
    Closed,
}

/// What one finds that reserves a place in the mailbox.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Hold {
    /// The place has its permit, and keeps it until it is picked up, given up or taken back at the close.
    Held(Place),
    /// Not yet.
    Waiting(Place),
    /// The actor stops or has ended; the place is gone.
    Closed,
}

/// Wakers to be run now that the lock is released.
#[must_use = "these wakers are waited for"]
#[derive(Default)]
pub(crate) struct Revoked(Vec<Waker>);

impl Revoked {
    /// Runs the wakers, each on its own: one that panics does not keep the others asleep.
    pub(crate) fn wake(self) {
        for waker in self.0 {
            // A waker is user code; its panic has nobody to go to.
            _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| waker.wake()));
        }
    }
}

impl Room {
    /// Takes a permit, or a place in the queue for one.
    ///
    /// A place keeps `waker`, and leaves another in its stead for the caller to drop. No waker is cloned or dropped here:
    /// that is user code, which may panic, and a permit may be on its way from here to its use.
    pub(crate) fn wait(&self, word: &Admission, generation: u32, capacity: u32, waker: &mut Waker) -> Served {
        let mut guard = self.lock();
        // Under the lock the slot does not change hands (`reset`). A sender that comes too late for its actor must not take
        // a place among those of the next one, whose permit it could neither use nor give back.
        if !(word.is_open(generation) || planted(Fault::RoomGeneration) && !word.is_closed()) {
            return Served::Closed;
        }
        guard.get_or_insert_default().wait(word, generation, capacity, waker)
    }

    /// Reserves a place: takes it together with its permit, or queues for one as `wait` does.
    ///
    /// A permit that is held is never in the hands of its holder alone: it is a granted place, which `turn_away` takes
    /// back. So nobody ever waits for a holder, not even for one that has forgotten what it holds.
    pub(crate) fn reserve(&self, word: &Admission, generation: u32, capacity: u32, waker: &mut Waker) -> Hold {
        let mut guard = self.lock();
        // As in `wait`.
        if !word.is_open(generation) {
            return Hold::Closed;
        }
        let waiting = guard.get_or_insert_default();
        match waiting.wait(word, generation, capacity, waker) {
            Served::Granted => Hold::Held(waiting.take_place(Sender::granted())),
            Served::Waiting(place) => Hold::Waiting(place),
            Served::Closed => Hold::Closed,
        }
    }

    /// Reserves a place, unless the mailbox is full or others wait.
    pub(crate) fn try_reserve(&self, word: &Admission, generation: u32, capacity: u32) -> Result<Place, Admit> {
        if planted(Fault::RoomReserve) {
            return match word.acquire(generation, capacity) {
                Admit::Granted => Ok(self.lock().get_or_insert_default().take_place(Sender::granted())),
                refused => Err(refused),
            };
        }
        // Under the lock from the permit to its place: a close that comes between them would not find it.
        let mut guard = self.lock();
        match word.acquire(generation, capacity) {
            Admit::Granted => Ok(guard.get_or_insert_default().take_place(Sender::granted())),
            refused => Err(refused),
        }
    }

    /// Looks whether a place that is being reserved has its permit, and leaves it there. The rest is as in `poll`.
    pub(crate) fn poll_reserved(&self, place: Place, waker: &mut Waker, is_same: impl Fn() -> bool) -> Hold {
        let mut guard = self.lock();
        let waiting = guard.as_mut().filter(|_| is_same());
        let Some(sender) = waiting.and_then(|waiting| waiting.senders.get_mut(&place.0)) else {
            return Hold::Closed;
        };
        if sender.granted {
            return Hold::Held(place);
        }
        std::mem::swap(&mut sender.waker, waker);
        Hold::Waiting(place)
    }

    /// Looks whether the permit has come. If not, the place keeps `waker` and leaves the one before, as in `wait`.
    ///
    /// `is_same` says under the lock whether the slot still belongs to the actor that the place was taken for.
    pub(crate) fn poll(&self, place: Place, waker: &mut Waker, is_same: impl Fn() -> bool) -> Served {
        let mut guard = self.lock();
        let Some(waiting) = guard.as_mut().filter(|_| is_same()) else {
            return Served::Closed;
        };
        let Some(sender) = waiting.senders.get_mut(&place.0) else {
            return Served::Closed;
        };
        if sender.granted {
            // Its waker went when the permit came (`serve`); what is left is no user's.
            waiting.senders.remove(&place.0);
            return Served::Granted;
        }
        std::mem::swap(&mut sender.waker, waker);
        Served::Waiting(place)
    }

    /// Gives up a place. A permit that had come goes to the next in the queue.
    pub(crate) fn leave(
        &self,
        place: Place,
        word: &Admission,
        generation: u32,
        capacity: u32,
        is_same: impl Fn() -> bool,
    ) -> Revoked {
        // Outlives the guard: its waker may be the last of its task.
        let sender;
        let mut guard = self.lock();
        let Some(waiting) = guard.as_mut().filter(|_| is_same()) else {
            return Revoked::default();
        };
        sender = waiting.senders.remove(&place.0);
        let Some(sender) = &sender else {
            return Revoked::default();
        };
        if sender.granted {
            // The bit says whether anybody is left to serve; we look for ourselves, under the lock.
            _ = word.release(1);
        } else {
            waiting.queue.retain(|ticket| *ticket != place.0);
        }
        if planted(Fault::RoomLeave) {
            return Revoked::default();
        }
        waiting.serve(word, generation, capacity)
    }

    /// Hands free permits to those that wait. Called after a release that found the waiters' bit.
    pub(crate) fn serve(&self, word: &Admission, generation: u32, capacity: u32) -> Revoked {
        self.lock().as_mut().map_or_else(Revoked::default, |waiting| waiting.serve(word, generation, capacity))
    }

    /// Sends everybody away who waits for room: the word has just been closed. Permits that were handed out and not
    /// picked up are taken back.
    pub(crate) fn turn_away(&self, word: &Admission) -> Revoked {
        let mut guard = self.lock();
        word.clear_waiters();
        let Some(waiting) = guard.as_mut() else {
            return Revoked::default();
        };
        waiting.queue.clear();
        let mut wakers = Vec::new();
        for (_, sender) in std::mem::take(&mut waiting.senders) {
            if sender.granted {
                _ = word.release(1);
            }
            wakers.push(sender.waker);
        }
        Revoked(wakers)
    }

    /// The reason of the end, or `None` and a promise to wake `waker` at it, under the ticket that is kept in `ticket`.
    pub(crate) fn reason_or_wait(&self, ticket: &mut Option<Ticket>, waker: &Waker) -> Option<ExitReason> {
        // Both outlive the guard.
        let waker = waker.clone();
        let _before;
        let mut guard = self.lock();
        let waiting = guard.get_or_insert_default();
        if waiting.reason.is_none() {
            let Ticket(ticket) = *ticket.get_or_insert_with(|| Ticket(waiting.next_ticket));
            waiting.next_ticket = waiting.next_ticket.max(ticket + 1);
            _before = waiting.mourners.insert(ticket, waker);
        }
        waiting.reason.clone()
    }

    /// Forgets one that awaited the end. The caller holds a pin, so it is still the same actor's.
    pub(crate) fn stop_waiting(&self, ticket: Ticket) {
        // Outlives the guard: the waker may be the last of its task.
        let _waker;
        let mut guard = self.lock();
        _waker = guard.as_mut().and_then(|waiting| waiting.mourners.remove(&ticket.0));
    }

    /// The reason of the end, if it has come.
    pub(crate) fn reason(&self) -> Option<ExitReason> {
        self.lock().as_ref().and_then(|waiting| waiting.reason.clone())
    }

    /// Records the end and returns those that await it.
    pub(crate) fn end(&self, reason: ExitReason) -> Revoked {
        let mut guard = self.lock();
        let waiting = guard.get_or_insert_default();
        waiting.reason = Some(reason);
        Revoked(std::mem::take(&mut waiting.mourners).into_values().collect())
    }

    /// Forgets everything, and runs `advance` under the lock: a place or a reason of the old generation cannot be
    /// mistaken for one of the new.
    pub(crate) fn reset<R>(&self, advance: impl FnOnce() -> R) -> R {
        // Outlives the guard: the reason may hold a user's error.
        let _old;
        let mut guard = self.lock();
        _old = guard.take();
        advance()
    }

    fn lock(&self) -> MutexGuard<'_, Option<Box<Waiting>>> {
        // No user code runs under the lock, so nothing in there panics half-way.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    /// A permit, or a place in the queue for one. The caller has found the word open.
    fn wait(&mut self, word: &Admission, generation: u32, capacity: u32, waker: &mut Waker) -> Served {
        // From here on a release sees the bit and comes for the lock; one that came before has left a permit that
        // the next line finds, unless somebody is before us.
        if !planted(Fault::RoomBit) {
            word.set_waiters();
        }
        if self.queue.is_empty() {
            match word.acquire_for_waiter(generation, capacity) {
                Admit::Full => {}
                answer => {
                    word.clear_waiters();
                    return if answer == Admit::Granted { Served::Granted } else { Served::Closed };
                }
            }
        }
        if planted(Fault::RoomBit) {
            word.set_waiters();
        }
        let waker = std::mem::replace(waker, Waker::noop().clone());
        let place = self.take_place(Sender { waker, granted: false });
        self.queue.push_back(place.0);
        Served::Waiting(place)
    }

    fn take_place(&mut self, sender: Sender) -> Place {
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        self.senders.insert(ticket, sender);
        Place(ticket)
    }

    fn serve(&mut self, word: &Admission, generation: u32, capacity: u32) -> Revoked {
        let mut wakers = Vec::new();
        while let Some(ticket) = self.queue.front() {
            if word.acquire_for_waiter(generation, capacity) != Admit::Granted {
                return Revoked(wakers);
            }
            if let Some(sender) = self.senders.get_mut(ticket) {
                sender.granted = true;
                // The place stays, without its waker: it is woken once.
                wakers.push(std::mem::replace(&mut sender.waker, Waker::noop().clone()));
            }
            self.queue.pop_front();
        }
        word.clear_waiters();
        Revoked(wakers)
    }
}
