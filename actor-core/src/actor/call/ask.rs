//! The ask that a call becomes when it is polled: from its permit to its answer.

use std::{
    future::Future,
    mem,
    pin::Pin,
    ptr::NonNull,
    task::{Context, Poll, Waker},
};

use super::{Call, State};
use crate::{
    AskError,
    actor::{
        message::{Args as MessageArgs, MessageError, MessageReply},
        waiting::{Cycles, Target},
    },
    envelope::{Abandoned, Answer, Ask, AskHead, Envelope, Leaving},
    shard,
    slot::{Admit, Place, Served, Signals},
};

impl<Args: MessageArgs, T: MessageReply, E: MessageError> Call<Args, T, E> {
    /// Sets the time limit. Returns why the ask does not even set out, if so.
    #[inline]
    fn set_out(&mut self) -> Option<AskError<E>> {
        if let Some(path) = self.target.is_caller() {
            return Some(AskError::Deadlock { path });
        }
        let (deadline, may_be_due) = self.limit.deadline_of_ask(self.target, self.inherits);
        self.alarm.set(deadline);
        (may_be_due && self.alarm.is_due()).then_some(AskError::Timeout { delivered: false })
    }

    #[inline]
    fn begin(&mut self, args: Args, waker: &Waker, kept: Waker) -> Poll<Result<T, AskError<E>>> {
        if let Some(error) = self.set_out() {
            return Poll::Ready(Err(error));
        }
        match self.target.acquire() {
            Admit::Granted => self.send(args, waker, kept),
            Admit::Closed => Poll::Ready(Err(AskError::Closed)),
            Admit::Full => self.wait(args, waker, kept),
        }
    }

    /// With a permit just acquired. No user code runs before the delivery; `kept` is a clone of `waker`.
    #[inline]
    fn send(&mut self, args: Args, waker: &Waker, kept: Waker) -> Poll<Result<T, AskError<E>>> {
        // The answer comes by the asker's shard, which wakes it there: an actor without a look at its slot from afar, a
        // task without a system call.
        let home = shard::with_core(|core| core.map(|core| core.port));
        let block = Ask::<Args, T, E>::new(args, self.alarm.deadline(), kept, home);
        let Target { slot, generation } = self.target;
        let envelope = Envelope::ask(slot.index(), generation, self.table, block.cast());
        self.state = State::Sent(block);
        self.waker = identity(waker);
        // SAFETY: the permit was acquired on this thread just now; the table and the block are of this call's types.
        unsafe { shard::deliver(slot, envelope) };
        self.alarm.arm(waker, true);
        self.target.note_wait(self.cycles);
        Poll::Pending
    }

    /// As `begin`, with a place that a permit has held.
    #[cold]
    fn begin_reserved(&mut self, waker: &Waker) -> Poll<Result<T, AskError<E>>> {
        if let Some(error) = self.set_out() {
            self.abandon();
            return Poll::Ready(Err(error));
        }
        match mem::replace(&mut self.state, State::Done) {
            State::Reserved(args, place) => {
                self.state = State::Waiting(args, place);
                self.resume(place, waker)
            }
            _ => Poll::Ready(Err(AskError::OtherActor)),
        }
    }

    #[cold]
    fn wait(&mut self, args: Args, waker: &Waker, mut kept: Waker) -> Poll<Result<T, AskError<E>>> {
        if self.target.rejects() {
            return Poll::Ready(Err(AskError::Full));
        }
        let served = self.target.wait(&mut kept);
        self.served(served, args, waker, kept)
    }

    #[cold]
    fn resume(&mut self, place: Place, waker: &Waker) -> Poll<Result<T, AskError<E>>> {
        // The state stays until the waker has been cloned: that is user code, and after a panic the drop gives the place up.
        let mut kept = waker.clone();
        let served = self.target.poll_place(place, &mut kept);
        let State::Waiting(args, _) = mem::replace(&mut self.state, State::Done) else { return Poll::Pending };
        self.served(served, args, waker, kept)
    }

    /// No user code runs between a permit and its delivery. `kept` is a clone of `waker` if the permit is there; else the
    /// one that the place had before.
    fn served(&mut self, served: Served, args: Args, waker: &Waker, kept: Waker) -> Poll<Result<T, AskError<E>>> {
        match served {
            // The alarm is set anew for this waker once the message is on its way.
            Served::Granted => self.send(args, waker, kept),
            Served::Closed => {
                self.alarm.disarm();
                Poll::Ready(Err(AskError::Closed))
            }
            Served::Waiting(place) if self.alarm.is_due() => {
                self.target.leave(place);
                self.alarm.disarm();
                Poll::Ready(Err(AskError::Timeout { delivered: false }))
            }
            Served::Waiting(place) => {
                if let Some(path) = self.target.verdict() {
                    self.target.leave(place);
                    self.alarm.disarm();
                    return Poll::Ready(Err(AskError::Deadlock { path }));
                }
                self.target.note_wait_for_room(self.cycles);
                self.state = State::Waiting(args, place);
                let is_new = self.waker != identity(waker);
                self.waker = identity(waker);
                self.alarm.arm(waker, is_new);
                Poll::Pending
            }
        }
    }

    #[inline]
    fn poll_answer(&mut self, block: NonNull<Ask<Args, T, E>>, waker: &Waker) -> Poll<Result<T, AskError<E>>> {
        let is_new = self.waker != identity(waker);
        // SAFETY: `Sent` holds the caller's end, which is let go of only where the state is left at `Done`.
        let head = unsafe { block.cast::<AskHead>().as_ref() };
        let cell = &head.cell;
        let answer = cell.poll(is_new.then_some(waker));
        if answer == Answer::Ready {
            self.state = State::Done;
            self.alarm.disarm();
            // SAFETY: `Ready` makes the block ours, answer included.
            return Poll::Ready(unsafe { Ask::into_outcome(block) });
        }
        let deadlock = self.target.verdict();
        if deadlock.is_some() || self.alarm.is_due() {
            self.state = State::Done;
            self.alarm.disarm();
            let delivered = match cell.abandon(Leaving::Withdrawing) {
                // SAFETY: as above.
                Abandoned::Ready => return Poll::Ready(unsafe { Ask::into_outcome(block) }),
                Abandoned::Running => true,
                Abandoned::Queued => false,
            };
            return Poll::Ready(Err(match deadlock {
                Some(path) => AskError::Deadlock { path: if delivered { path.delivered() } else { path } },
                None => AskError::Timeout { delivered },
            }));
        }
        if answer == Answer::Pending {
            // The cell has this waker now; after `Busy` it has not, and the next poll must try again.
            self.waker = identity(waker);
        }
        // An answer that goes by another shard, where this call was begun, may be under way for longer than the search
        // allows for.
        self.target.note_wait(if head.comes_home_here() { self.cycles } else { Cycles::Allowed });
        self.alarm.arm(waker, is_new);
        Poll::Pending
    }
}

impl<Args: MessageArgs, T: MessageReply, E: MessageError> Future for Call<Args, T, E> {
    type Output = Result<T, AskError<E>>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let waker = cx.waker();
        match this.state {
            // The state stays: after a panic of the waker's, the drop lets go of the block.
            State::Sent(block) => return this.poll_answer(block, waker),
            State::Waiting(_, place) => return this.resume(place, waker),
            State::Reserved(..) | State::Misdirected(_) => return this.begin_reserved(waker),
            State::Done => panic!("a call of `{}` was polled after it was done", this.table.name),
            State::Fresh(_) => {}
        }
        // Before there is a permit: cloning is user code.
        let kept = waker.clone();
        let State::Fresh(args) = mem::replace(&mut this.state, State::Done) else { return Poll::Pending };
        this.begin(args, waker, kept)
    }
}

impl<Args, T, E> Drop for Call<Args, T, E> {
    #[inline]
    fn drop(&mut self) {
        if !matches!(self.state, State::Fresh(_) | State::Done) {
            self.abandon();
        }
    }
}

impl<Args, T, E> Call<Args, T, E> {
    #[cold]
    fn abandon(&mut self) {
        self.alarm.disarm();
        // The handler that polls now may have noted this wait, and then dropped it.
        self.target.note_wait(Cycles::Allowed);
        match mem::replace(&mut self.state, State::Done) {
            State::Fresh(_) | State::Misdirected(_) | State::Done => {}
            State::Reserved(_, place) | State::Waiting(_, place) => self.target.leave(place),
            State::Sent(block) => {
                let how = if self.is_cancelled_on_drop { Leaving::Cancelling } else { Leaving::Quietly };
                // SAFETY: `Sent` holds the caller's end.
                match unsafe { block.cast::<AskHead>().as_ref() }.cell.abandon(how) {
                    // SAFETY: the block is ours, answer included.
                    Abandoned::Ready => drop(unsafe { Box::from_raw(block.as_ptr()) }),
                    Abandoned::Running if self.is_cancelled_on_drop => {
                        shard::signal(self.target.slot, self.target.generation, Signals::WAKE);
                    }
                    Abandoned::Running | Abandoned::Queued => {}
                }
            }
        }
    }
}

#[inline]
fn identity(waker: &Waker) -> (*const (), *const ()) {
    (waker.data(), std::ptr::from_ref(waker.vtable()).cast())
}
