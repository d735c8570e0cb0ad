//! A message on its way without an asker.

use std::{
    fmt,
    future::Future,
    mem,
    pin::Pin,
    task::{Context, Poll, Waker},
};

use super::{
    blocking::block_on,
    message::Args as MessageArgs,
    waiting::{Alarm, Cycles, Limit, Target},
};
use crate::{
    Returned, TellError,
    envelope::MethodTable,
    shard,
    slot::{Admit, Place, Served},
};

/// Sends a message, waiting for room in the mailbox: what [`Call::tell`](super::Call::tell) returns. `Ok` means that
/// the actor has accepted it and will handle it, unless it is killed or panics first, or its mailbox drops messages
/// ([`Overflow`](crate::Overflow)).
///
/// # Errors
///
/// A [`TellError`] with the arguments if the actor is stopping or has ended, if the time limit passes, if the actor
/// tells itself into its own full mailbox, or if its full mailbox lets nobody wait
/// ([`Overflow::Reject`](crate::Overflow::Reject)).
///
/// # Cancel safety
///
/// Dropped before it is ready, it has sent nothing and has given up its place in the queue.
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
/// let tell = counter.add(1).tell();
/// if let Err(error) = tell.await {
///     let (by,) = error.into_args();
///     println!("{by} was not added");
/// }
/// assert_eq!(counter.add(0).await?, 1);
/// # Ok(()) }) }
/// ```
#[must_use = "a tell sends nothing unless it is awaited"]
pub struct Tell<Args> {
    target: Target,
    table: &'static MethodTable,
    limit: Limit,
    cycles: Cycles,
    state: State<Args>,
    alarm: Alarm,
}

enum State<Args> {
    Fresh(Args),
    Waiting(Args, Place),
    Done,
}

// Nothing in a tell is pinned.
impl<Args> Unpin for Tell<Args> {}

impl<Args: MessageArgs> Tell<Args> {
    #[inline]
    pub(super) fn new(target: Target, table: &'static MethodTable, limit: Limit, cycles: Cycles, args: Args) -> Self {
        Self { target, table, limit, cycles, state: State::Fresh(args), alarm: Alarm::default() }
    }

    /// Sends from a thread that runs no async code: parks it until there is room.
    ///
    /// # Errors
    ///
    /// As for awaiting it; and [`TellError::OnShard`] on a shard's thread, which would have to make room.
    pub fn blocking(mut self) -> Result<(), TellError<Args>> {
        if shard::is_on_shard() {
            return match mem::replace(&mut self.state, State::Done) {
                State::Fresh(args) | State::Waiting(args, _) => Err(TellError::OnShard(Returned::new(args))),
                State::Done => Ok(()),
            };
        }
        self.alarm.mind_by_parking();
        block_on(self, |tell| tell.alarm.deadline())
    }

    #[cold]
    fn wait(&mut self, args: Args, waker: &Waker) -> Poll<Result<(), TellError<Args>>> {
        if self.target.rejects() {
            return Poll::Ready(Err(TellError::Full(Returned::new(args))));
        }
        if let Some(path) = self.target.waits_for_itself() {
            return Poll::Ready(Err(TellError::Deadlock { path, args: Returned::new(args) }));
        }
        self.alarm.set(self.limit.deadline_of_tell());
        let mut kept = waker.clone();
        let served = self.target.wait(&mut kept);
        self.served(served, args, waker)
    }

    #[cold]
    fn resume(&mut self, place: Place, waker: &Waker) -> Poll<Result<(), TellError<Args>>> {
        // The state stays until the waker has been cloned: that is user code, and after a panic the drop gives the place up.
        let mut kept = waker.clone();
        let served = self.target.poll_place(place, &mut kept);
        let State::Waiting(args, _) = mem::replace(&mut self.state, State::Done) else { return Poll::Pending };
        self.served(served, args, waker)
    }

    /// No user code runs between a permit and its delivery.
    fn served(&mut self, served: Served, args: Args, waker: &Waker) -> Poll<Result<(), TellError<Args>>> {
        match served {
            Served::Granted => {
                self.target.deliver_tell(self.table, args);
                self.alarm.disarm();
                Poll::Ready(Ok(()))
            }
            Served::Closed => {
                self.alarm.disarm();
                Poll::Ready(Err(TellError::Closed(Returned::new(args))))
            }
            Served::Waiting(place) if self.alarm.is_due() => {
                self.target.leave(place);
                self.alarm.disarm();
                Poll::Ready(Err(TellError::Timeout(Returned::new(args))))
            }
            Served::Waiting(place) => {
                if let Some(path) = self.target.verdict() {
                    self.target.leave(place);
                    self.alarm.disarm();
                    return Poll::Ready(Err(TellError::Deadlock { path, args: Returned::new(args) }));
                }
                self.target.note_wait_for_room(self.cycles);
                self.state = State::Waiting(args, place);
                // A slow road: arming anew each time is cheaper than remembering the waker.
                self.alarm.arm(waker, true);
                Poll::Pending
            }
        }
    }
}

impl<Args: MessageArgs> Future for Tell<Args> {
    type Output = Result<(), TellError<Args>>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        if let State::Waiting(_, place) = this.state {
            return this.resume(place, cx.waker());
        }
        match mem::replace(&mut this.state, State::Done) {
            State::Fresh(args) => match this.target.acquire() {
                Admit::Granted => {
                    this.target.deliver_tell(this.table, args);
                    Poll::Ready(Ok(()))
                }
                Admit::Closed => Poll::Ready(Err(TellError::Closed(Returned::new(args)))),
                Admit::Full => this.wait(args, cx.waker()),
            },
            State::Waiting(..) | State::Done => panic!("a tell of `{}` was polled after it was done", this.table.name),
        }
    }
}

impl<Args> Drop for Tell<Args> {
    fn drop(&mut self) {
        if let State::Waiting(_, place) = self.state {
            self.alarm.disarm();
            self.target.leave(place);
            // The handler that polls now may have noted this wait, and then dropped it.
            self.target.note_wait(Cycles::Allowed);
        }
    }
}

impl<Args> fmt::Debug for Tell<Args> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match self.state {
            State::Fresh(_) => "not sent",
            State::Waiting(..) => "waiting for room",
            State::Done => "done",
        };
        f.debug_struct("Tell").field("method", &self.table.name).field("state", &state).finish_non_exhaustive()
    }
}
