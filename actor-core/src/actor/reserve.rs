//! A place in a mailbox on its way.

use std::{
    fmt,
    future::Future,
    marker::PhantomData,
    mem,
    pin::Pin,
    task::{Context, Poll},
    time::{Duration, Instant},
};

use super::{
    Permit,
    blocking::block_on,
    waiting::{Alarm, Cycles, Limit, Target},
};
use crate::{
    ReserveError, shard,
    slot::{Hold, Place},
};

/// Waits for a place in an actor's mailbox: what [`Handle::reserve`](super::Handle::reserve) returns. A future of the
/// [`Permit`] that holds it.
///
/// It waits in line with the asks and tells that wait for room, whatever the actor's [`Overflow`](crate::Overflow).
/// Without a [`timeout`](Self::timeout) it waits for any time. It does not keep the actor alive.
///
/// # Errors
///
/// A [`ReserveError`] if the actor is stopping or has ended, if the time limit passes, or if the actor reserves in its
/// own full mailbox.
///
/// # Cancel safety
///
/// Dropped before it is ready, it has given up its place in the queue; a permit that was about to come goes to the
/// next.
///
/// # Panics
///
/// A poll after the permit panics.
///
/// # Examples
///
/// ```
/// # use actor_tokio::prelude::*;
/// # #[actor] struct Counter { total: u64 }
/// # #[actor] impl Counter { pub fn add(&mut self, by: u64) -> u64 { self.total += by; self.total } }
/// # fn main() -> Result<(), actor_tokio::Error> {
/// # let rt = ShardedRuntime::builder().cores(1).build()?;
/// # rt.block_on(async {
/// # let counter = rt.spawn(|| Counter { total: 0 }).await?;
/// use std::time::Duration;
///
/// match counter.reserve().timeout(Duration::from_millis(50)).await {
///     Ok(permit) => permit.send(counter.add(1))?,
///     Err(ReserveError::Timeout) => println!("too busy"),
///     Err(error) => return Err(error.into()),
/// }
/// # Ok(()) }) }
/// ```
#[must_use = "a reservation does nothing unless it is awaited"]
pub struct Reserve<A: ?Sized> {
    target: Target,
    limit: Limit,
    state: State,
    alarm: Alarm,
    actor: PhantomData<fn(&A)>,
}

enum State {
    Fresh,
    /// In the queue, or with a permit that has not been seen yet.
    Waiting(Place),
    Done,
}

impl<A: ?Sized> Reserve<A> {
    pub(super) fn new(target: Target) -> Self {
        Self { target, limit: Limit::Default, state: State::Fresh, alarm: Alarm::default(), actor: PhantomData }
    }

    /// Limits the time, counted from the first poll, that it may wait for room.
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.limit = Limit::In(limit);
        self
    }

    /// Limits the time like [`timeout`](Self::timeout), to a point in time.
    pub fn deadline(mut self, at: Instant) -> Self {
        self.limit = Limit::at(at);
        self
    }

    /// Waits on a thread that runs no async code: parks it until there is room.
    ///
    /// # Errors
    ///
    /// As for awaiting it; and [`ReserveError::OnShard`] on a shard's thread, which would have to make room.
    pub fn blocking(mut self) -> Result<Permit<A>, ReserveError> {
        if shard::is_on_shard() {
            return Err(ReserveError::OnShard);
        }
        self.alarm.mind_by_parking();
        block_on(self, |reserve| reserve.alarm.deadline())
    }

    /// Gives up the place, if there is one.
    fn leave(&mut self) {
        if let State::Waiting(place) = mem::replace(&mut self.state, State::Done) {
            self.target.leave(place);
            // The handler that polls now may have noted this wait, and then dropped it.
            self.target.note_wait(Cycles::Allowed);
        }
    }
}

impl<A: ?Sized> Future for Reserve<A> {
    type Output = Result<Permit<A>, ReserveError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        // Cloning and dropping a waker is user code. Whatever it does, the state says what the drop has to give up.
        let mut kept = cx.waker().clone();
        let hold = match this.state {
            State::Fresh => {
                this.alarm.set(this.limit.deadline_of_tell());
                this.target.reserve(&mut kept)
            }
            State::Waiting(place) => this.target.poll_reserved(place, &mut kept),
            State::Done => panic!("a reservation was polled after it was done"),
        };
        let is_first = matches!(this.state, State::Fresh);
        this.state = match hold {
            Hold::Held(place) | Hold::Waiting(place) => State::Waiting(place),
            Hold::Closed => State::Done,
        };
        drop(kept);
        match hold {
            Hold::Held(place) => {
                this.state = State::Done;
                let permit = Permit::new(this.target, place);
                this.alarm.disarm();
                Poll::Ready(Ok(permit))
            }
            Hold::Closed => {
                this.alarm.disarm();
                Poll::Ready(Err(ReserveError::Closed))
            }
            Hold::Waiting(_) => {
                if is_first && let Some(path) = this.target.waits_for_itself() {
                    this.leave();
                    return Poll::Ready(Err(ReserveError::Deadlock { path }));
                }
                if let Some(path) = this.target.verdict() {
                    this.leave();
                    this.alarm.disarm();
                    return Poll::Ready(Err(ReserveError::Deadlock { path }));
                }
                if this.alarm.is_due() {
                    this.leave();
                    this.alarm.disarm();
                    return Poll::Ready(Err(ReserveError::Timeout));
                }
                this.target.note_wait_for_room(Cycles::Found);
                this.alarm.arm(cx.waker(), true);
                Poll::Pending
            }
        }
    }
}

impl<A: ?Sized> Drop for Reserve<A> {
    fn drop(&mut self) {
        // The place first: what the alarm drops is user code.
        self.leave();
        self.alarm.disarm();
    }
}

impl<A: ?Sized> fmt::Debug for Reserve<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match self.state {
            State::Fresh => "not begun",
            State::Waiting(_) => "waiting for room",
            State::Done => "done",
        };
        f.debug_struct("Reserve").field("actor", &self.target.id()).field("state", &state).finish_non_exhaustive()
    }
}
