//! A call: one message that has not been sent, and then the ask that it may become.

use std::{
    convert::Infallible,
    fmt,
    future::Future,
    mem,
    pin::Pin,
    ptr::NonNull,
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
    time::{Duration, Instant},
};

use super::{
    Tell,
    message::{Args as MessageArgs, MessageError, MessageReply},
    waiting::{Alarm, Cycles, Limit, Target},
};
use crate::{
    AskError, Returned, TryTellError,
    envelope::{Abandoned, Answer, Ask, Envelope, Leaving, MethodTable},
    port::Nanos,
    shard,
    slot::{Admit, Place, Served, Signals, Slot},
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
/// channel may be ended too early: [`allow_cycle`](Self::allow_cycle) keeps the call out of the search.
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
    pub fn detach_deadline(mut self) -> Self {
        self.inherits = false;
        self
    }

    /// Keeps this wait, for the answer or for room, out of the search for [deadlocks](Call#deadlocks): something else in
    /// the handler's `select!` may end it.
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
        let waker = thread_waker();
        loop {
            match Pin::new(&mut self).poll(&mut Context::from_waker(&waker)) {
                Poll::Ready(outcome) => return outcome,
                Poll::Pending => park(self.alarm.deadline()),
            }
        }
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

    #[inline]
    fn begin(&mut self, args: Args, waker: &Waker, kept: Waker) -> Poll<Result<T, AskError<E>>> {
        if let Some(path) = self.target.is_caller() {
            return Poll::Ready(Err(AskError::Deadlock { path }));
        }
        let (deadline, may_be_due) = self.limit.deadline_of_ask(self.target, self.inherits);
        self.alarm.set(deadline);
        if may_be_due && self.alarm.is_due() {
            return Poll::Ready(Err(AskError::Timeout { delivered: false }));
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
        let refused = match self.target.is_caller() {
            Some(path) => Some(AskError::Deadlock { path }),
            None => {
                let (deadline, may_be_due) = self.limit.deadline_of_ask(self.target, self.inherits);
                self.alarm.set(deadline);
                (may_be_due && self.alarm.is_due()).then_some(AskError::Timeout { delivered: false })
            }
        };
        if let Some(error) = refused {
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
        let cell = &unsafe { block.cast::<crate::envelope::AskHead>().as_ref() }.cell;
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
        self.target.note_wait(self.cycles);
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
                match unsafe { block.cast::<crate::envelope::AskHead>().as_ref() }.cell.abandon(how) {
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

#[inline]
fn identity(waker: &Waker) -> (*const (), *const ()) {
    (waker.data(), std::ptr::from_ref(waker.vtable()).cast())
}

struct Unparker(Thread);

impl Wake for Unparker {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// A waker that unparks this thread.
pub(super) fn thread_waker() -> Waker {
    Arc::new(Unparker(thread::current())).into()
}

/// Parks this thread until it is unparked, or the deadline.
pub(super) fn park(deadline: Option<Nanos>) {
    match deadline {
        Some(deadline) => thread::park_timeout(deadline.until(Nanos::now())),
        None => thread::park(),
    }
}
