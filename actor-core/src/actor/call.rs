//! A call: one message that has not been sent.

mod ask;

use std::{
    convert::Infallible,
    fmt, mem,
    ptr::NonNull,
    time::{Duration, Instant},
};

use super::{
    Tell,
    blocking::block_on,
    message::{Args as MessageArgs, MessageError, MessageReply},
    waiting::{Alarm, Cycles, Limit, Target},
};
use crate::{
    AskError, Returned, TryTellError,
    envelope::{Ask, MethodTable},
    shard,
    slot::{Admit, Place, Slot},
};

/// A message for an actor, with its arguments: `handle.method(arguments)`.
///
/// Nothing is sent yet. Awaiting it *asks*: sends the message, waiting for room if need be, and waits for the reply.
/// [`tell`](Self::tell) and [`try_tell`](Self::try_tell) send it without a reply; [`blocking`](Self::blocking) asks
/// from a thread that runs no async code.
///
/// An ask takes at most the runtime's default (30 s unless it was built otherwise) or its own
/// [`timeout`](Self::timeout), counted from the first poll, waiting for room included. A call does not keep its actor
/// alive.
///
/// # Errors
///
/// Awaiting gives an [`AskError`] if the actor is stopping or has ended, ends before it answers, takes too long,
/// returns an error itself, is the very actor whose handler asks, or waits for that one in turn; or if its mailbox is full
/// and refuses or drops the message (see [`Overflow`](crate::Overflow)).
///
/// # Deadlines
///
/// What a handler asks has no more time than there is until the deadline of the ask that it handles: nobody waits for the
/// answer after that. [`detach_deadline`](Self::detach_deadline) asks for the opposite. A tell, and what a handler spawns,
/// inherit nothing.
///
/// # Deadlocks
///
/// A handler that waits can't answer, so actors that wait for each other's answers, or for room in each other's mailboxes,
/// would wait in a circle until their time is over. The engine finds such circles, in every build, when the last of their
/// shards is about to sleep, or a millisecond later if it never does; one wait of the circle fails with `Deadlock`, which
/// names the actors. An actor that asks itself gets that at once.
///
/// Seen are handlers that wait for one thing, and that thing is a call. Not seen are several waits at once, tasks, actors
/// made by `spawn_fn`, and waits for anything else: a channel, a lock. A `select!` of one call against a timer or a
/// channel may be ended too early: [`allow_cycle`](Self::allow_cycle) keeps the call out of the search. So may a wait for
/// room that somebody keeps with a [`Permit`](crate::Permit).
///
/// # Cancel safety
///
/// Dropped before it was sent, a call sends nothing. Once accepted, the message is handled even if the call is dropped;
/// [`cancel_on_drop`](Self::cancel_on_drop) asks for the opposite.
///
/// # Panics
///
/// [`tell`](Self::tell), [`try_tell`](Self::try_tell) and [`into_args`](Self::into_args) panic once the call has been
/// polled. So does a poll after the answer.
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
/// assert_eq!(counter.add(5).await?, 5); // asks
/// counter.add(1).tell().await?; // waits for room, and for no reply
/// if let Err(refused) = counter.add(1).try_tell() {
///     assert!(refused.is_full());
///     let (by,) = refused.into_args();
///     counter.add(by).tell().await?;
/// }
/// assert_eq!(counter.add(0).timeout(Duration::from_secs(1)).await?, 7);
/// # Ok(()) }) }
/// ```
#[must_use = "a call does nothing unless it is awaited, told, or asked with `.blocking()`"]
pub struct Call<Args, T, E = Infallible> {
    target: Target,
    table: &'static MethodTable,
    limit: Limit,
    is_cancelled_on_drop: bool,
    inherits: bool,
    cycles: Cycles,
    state: State<Args, T, E>,
    alarm: Alarm,
    /// Which waker the reply cell has: its data and vtable, compared only.
    waker: (*const (), *const ()),
}

enum State<Args, T, E> {
    Fresh(Args),
    /// Not sent, with a place of a permit's.
    Reserved(Args, Place),
    /// Not sent, with a permit for another actor.
    Misdirected(Args),
    /// For room in the mailbox.
    Waiting(Args, Place),
    /// The caller's end of the block.
    Sent(NonNull<Ask<Args, T, E>>),
    Done,
}

// SAFETY: arguments, reply and error are `Send`; the block's two ends are made for two threads (`ReplyCell`), and
// `waker` is never followed.
unsafe impl<Args: Send, T: Send, E: Send> Send for Call<Args, T, E> {}

// Nothing in a call is pinned: the arguments are moved out before they are used.
impl<Args, T, E> Unpin for Call<Args, T, E> {}

impl<Args: MessageArgs, T: MessageReply, E: MessageError> Call<Args, T, E> {
    #[inline]
    pub(super) fn new(slot: &'static Slot, generation: u32, table: &'static MethodTable, args: Args) -> Self {
        Self {
            target: Target { slot, generation },
            table,
            limit: Limit::Default,
            is_cancelled_on_drop: false,
            inherits: true,
            cycles: Cycles::Found,
            state: State::Fresh(args),
            alarm: Alarm::default(),
            waker: (std::ptr::null(), std::ptr::null()),
        }
    }

    /// Sends the message without asking for a reply. The future waits for room in the mailbox; its first poll sends
    /// at once if there is some.
    #[inline]
    pub fn tell(mut self) -> Tell<Args> {
        let args = self.take_fresh("tell");
        Tell::new(self.target, self.table, self.limit, self.cycles, args)
    }

    /// Sends the message without asking for a reply, if there is room. Never waits.
    ///
    /// # Errors
    ///
    /// Gives the arguments back if the mailbox is full (or others wait for room in it), or the actor is stopping or
    /// has ended.
    #[inline]
    pub fn try_tell(mut self) -> Result<(), TryTellError<Args>> {
        let args = self.take_fresh("try_tell");
        match self.target.acquire() {
            Admit::Granted => {
                self.target.deliver_tell(self.table, args);
                Ok(())
            }
            Admit::Full => Err(TryTellError::Full(Returned::new(args))),
            Admit::Closed => Err(TryTellError::Closed(Returned::new(args))),
        }
    }

    /// Takes the arguments back. Nothing is sent.
    pub fn into_args(mut self) -> Args {
        self.take_fresh("into_args")
    }

    /// Limits the time, counted from the first poll, that an ask may take and that a tell may wait for room.
    #[inline]
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.limit = Limit::In(limit);
        self
    }

    /// Limits the time like [`timeout`](Self::timeout), to a point in time.
    pub fn deadline(mut self, at: Instant) -> Self {
        self.limit = Limit::at(at);
        self
    }

    /// Makes a dropped ask undo what it can: while the message is queued it will not be handled, and a handler that
    /// runs is dropped at its next `await`.
    pub fn cancel_on_drop(mut self) -> Self {
        self.is_cancelled_on_drop = true;
        self
    }

    /// Lets an ask take longer than its caller has left. Without this, what a handler asks gets no more time than there is
    /// until the deadline of the ask that it handles: nobody waits for the answer after that.
    ///
    /// # Examples
    ///
    /// ```
    /// use actor_tokio::prelude::*;
    ///
    /// # #[actor] struct Ledger { entries: u64 }
    /// # #[actor] impl Ledger { pub fn enter(&mut self) -> u64 { self.entries += 1; self.entries } }
    /// #[actor]
    /// struct Shop { ledger: LedgerHandle }
    ///
    /// #[actor]
    /// impl Shop {
    ///     pub async fn order(&mut self) -> Option<u64> {
    ///         // To be entered even if the customer has gone by now.
    ///         self.ledger.enter().detach_deadline().await.ok()
    ///     }
    /// }
    /// # fn main() -> Result<(), actor_tokio::Error> {
    /// # let rt = ShardedRuntime::builder().cores(1).build()?;
    /// # rt.block_on(async {
    /// # let ledger = rt.spawn(|| Ledger { entries: 0 }).await?;
    /// # let shop = rt.spawn(move || Shop { ledger }).await?;
    /// # assert_eq!(shop.order().await?, Some(1));
    /// # Ok(()) }) }
    /// ```
    pub fn detach_deadline(mut self) -> Self {
        self.inherits = false;
        self
    }

    /// Keeps this wait, for the answer or for room, out of the search for [deadlocks](Call#deadlocks): something else in
    /// the handler's `select!` may end it.
    ///
    /// # Examples
    ///
    /// ```
    /// use actor_tokio::prelude::*;
    /// use std::time::Duration;
    ///
    /// # #[actor] struct Quotes;
    /// # #[actor] impl Quotes { pub fn latest(&self) -> u64 { 7 } }
    /// #[actor]
    /// struct Trader { quotes: QuotesHandle, last: u64 }
    ///
    /// #[actor]
    /// impl Trader {
    ///     pub async fn look(&mut self) -> u64 {
    ///         tokio::select! {
    ///             // The timer ends this wait, even if `quotes` should be waiting for this actor.
    ///             latest = self.quotes.latest().allow_cycle() => self.last = latest.unwrap_or(self.last),
    ///             () = tokio::time::sleep(Duration::from_secs(1)) => {}
    ///         }
    ///         self.last
    ///     }
    /// }
    /// # fn main() -> Result<(), actor_tokio::Error> {
    /// # let rt = ShardedRuntime::builder().cores(1).build()?;
    /// # rt.block_on(async {
    /// # let quotes = rt.spawn(|| Quotes).await?;
    /// # let trader = rt.spawn(move || Trader { quotes, last: 0 }).await?;
    /// # assert_eq!(trader.look().await?, 7);
    /// # Ok(()) }) }
    /// ```
    pub fn allow_cycle(mut self) -> Self {
        self.cycles = Cycles::Allowed;
        self
    }

    /// Asks from a thread that runs no async code: parks it until the answer is there.
    ///
    /// # Errors
    ///
    /// As for awaiting the call; and [`AskError::OnShard`] on a shard's thread, which would have to answer.
    pub fn blocking(mut self) -> Result<T, AskError<E>> {
        if shard::is_on_shard() {
            return Err(AskError::OnShard);
        }
        self.alarm.mind_by_parking();
        block_on(self, |call| call.alarm.deadline())
    }

    /// The parts of a call that has not been polled.
    pub(super) fn into_message(mut self, what: &'static str) -> (Target, &'static MethodTable, Args) {
        let args = self.take_fresh(what);
        (self.target, self.table, args)
    }

    pub(super) fn is_for(&self, target: Target) -> bool {
        self.target == target
    }

    /// Will be sent into `place`, a granted one of its actor's; `None` for a permit of another actor.
    pub(super) fn with_place(mut self, place: Option<Place>) -> Self {
        let args = self.take_fresh("ask");
        self.state = match place {
            Some(place) => State::Reserved(args, place),
            None => State::Misdirected(args),
        };
        self
    }

    fn take_fresh(&mut self, what: &'static str) -> Args {
        match mem::replace(&mut self.state, State::Done) {
            State::Fresh(args) | State::Misdirected(args) => args,
            State::Reserved(args, place) => {
                self.target.leave(place);
                args
            }
            state => {
                self.state = state;
                panic!(
                    "`{what}` on a call of `{}` that has been polled: its message may be on its way",
                    self.table.name
                )
            }
        }
    }
}

impl<Args, T, E> fmt::Debug for Call<Args, T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match self.state {
            State::Fresh(_) | State::Reserved(..) | State::Misdirected(_) => "not sent",
            State::Waiting(..) => "waiting for room",
            State::Sent(_) => "waiting for the reply",
            State::Done => "done",
        };
        f.debug_struct("Call").field("method", &self.table.name).field("state", &state).finish_non_exhaustive()
    }
}
