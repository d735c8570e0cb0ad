//! A macro-made actor at work: one message at a time, from its start hook to its stop hook.
//!
//! The state, the context and the reason of the end live in cells of the task; the *frame* is the future of whatever
//! runs now (a hook, or an `async` handler) and borrows from those cells. So the frame is always dropped first, and no
//! other borrow of them is made while it is there. A poll takes the frame out of its cell and puts it back if it is
//! not done: a panic then drops it before anything else of the task is touched.

use std::{
    cell::{Cell, UnsafeCell},
    future::Future,
    marker::PhantomData,
    pin::{Pin, pin},
    ptr::NonNull,
    task::{Context, Poll, Waker},
};

use super::{Actor, Cx, IntoActor, Method, Run, Step, Task, TellFailure, born::Born};
use crate::{
    AskError, ExitReason, SpawnError,
    envelope::{Ask, Asked, Carried, Envelope, Failure, MethodTable},
    port::{Nanos, Report},
    shard::Core,
    slot::{Signals, Slot, Stopping},
};

/// Messages that one poll handles before the other ready actors have their turn.
const MESSAGES_PER_POLL: u32 = 32;

type Frame = Pin<Box<dyn Future<Output = Result<(), ExitReason>>>>;

/// An actor of type `A`.
pub(crate) struct ActorTask<A: Actor> {
    /// First, so that it is dropped before what it borrows.
    frame: Cell<Option<Frame>>,
    phase: Cell<Phase>,
    /// The asker of the message that is being handled.
    asked: Cell<Option<Asked>>,
    /// When that asker gives up.
    deadline: Cell<Nanos>,
    /// Who waits for the state to be built.
    born: Cell<Option<Born<A>>>,
    /// Empty until the state is built.
    state: UnsafeCell<Option<A>>,
    cx: UnsafeCell<Cx<A>>,
    /// What the stop hook is told.
    reason: UnsafeCell<Option<ExitReason>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The frame builds the state.
    Building,
    /// The state is there, nothing has run yet.
    Built,
    /// The frame is the start hook.
    Starting,
    /// Messages are handled; the frame is an `async` handler.
    Live,
    /// The frame is the stop hook.
    Stopping,
}

impl<A: Actor> ActorTask<A> {
    /// An actor whose state is there.
    pub(crate) fn new(state: A, slot: &'static Slot) -> Box<Self> {
        Box::new(Self {
            frame: Cell::new(None),
            phase: Cell::new(Phase::Built),
            asked: Cell::new(None),
            deadline: Cell::new(Nanos::NEVER),
            born: Cell::new(None),
            state: UnsafeCell::new(Some(state)),
            cx: UnsafeCell::new(Cx::new(slot)),
            reason: UnsafeCell::new(None),
        })
    }

    /// An actor whose state a future builds.
    pub(crate) fn building<F>(state: F, born: Born<A>, slot: &'static Slot) -> Box<Self>
    where
        F: Future<Output: IntoActor<Actor = A>> + 'static,
    {
        let task = Box::new(Self {
            frame: Cell::new(None),
            phase: Cell::new(Phase::Building),
            asked: Cell::new(None),
            deadline: Cell::new(Nanos::NEVER),
            born: Cell::new(Some(born)),
            state: UnsafeCell::new(None),
            cx: UnsafeCell::new(Cx::new(slot)),
            reason: UnsafeCell::new(None),
        });
        let cell = task.state.get();
        let frame: Frame = Box::pin(async move {
            let built = state.await.into_actor().map_err(ExitReason::Failed)?;
            // SAFETY: the task owns both this frame and the cell, and is boxed; nothing else touches the cell while a
            // frame is there.
            unsafe { *cell = Some(built) };
            Ok(())
        });
        task.frame.set(Some(frame));
        task
    }

    /// The state and the context for a new frame or a handler to borrow.
    ///
    /// # Safety
    ///
    /// No frame is there, and what borrows from these is dropped before the next call.
    #[inline]
    unsafe fn parts<'a>(&self) -> (&'a mut A, &'a mut Cx<A>) {
        // SAFETY: by the caller's promise nothing else borrows the cells; the task outlives its frame.
        let (state, cx) = unsafe { (&mut *self.state.get(), &mut *self.cx.get()) };
        // Phases from `Built` on have a state.
        (state.as_mut().expect("the state is built before anything runs on it"), cx)
    }

    fn set_frame<'a>(&self, frame: Pin<Box<dyn Future<Output = Result<(), ExitReason>> + 'a>>) {
        // SAFETY: what the frame borrows are cells of this task, which drops the frame before them (`drop_frame`, or
        // the order of the fields).
        let frame = unsafe {
            std::mem::transmute::<
                Pin<Box<dyn Future<Output = Result<(), ExitReason>> + 'a>>,
                Pin<Box<dyn Future<Output = Result<(), ExitReason>> + 'static>>,
            >(frame)
        };
        self.frame.set(Some(frame));
    }

    /// The state is there: the start hook, if there is one.
    fn start(&self) {
        if !A::HAS_ON_START {
            return self.phase.set(Phase::Live);
        }
        self.phase.set(Phase::Starting);
        // SAFETY: no frame is there; the new one is dropped before the next use.
        let (state, cx) = unsafe { self.parts() };
        self.set_frame(Box::pin(
            async move { state.on_start(cx).await.map_err(|error| ExitReason::Failed(error.into())) },
        ));
    }

    /// The last message is done: the stop hook, if there is one. Returns the step that ends the actor otherwise.
    fn stop(&self, reason: ExitReason) -> Option<Step> {
        // SAFETY: no frame is there, so nothing borrows the state.
        let is_built = unsafe { (*self.state.get()).is_some() };
        if !A::HAS_ON_STOP || !is_built {
            return Some(Step::Exit(reason));
        }
        self.phase.set(Phase::Stopping);
        // SAFETY: no frame is there; the reference lives in the frame, which is dropped before the cell.
        let reason = unsafe { (*self.reason.get()).insert(reason) };
        // SAFETY: as in `start`.
        let (state, cx) = unsafe { self.parts() };
        self.set_frame(Box::pin(async move {
            state.on_stop(reason, cx).await;
            Ok(())
        }));
        None
    }

    /// The frame has ended. Returns the step to take, if it is not to go on with messages.
    fn frame_ended(&self, outcome: Result<(), ExitReason>) -> Option<Step> {
        match (self.phase.get(), outcome) {
            (Phase::Building, Err(reason)) => {
                if let (Some(born), ExitReason::Failed(error)) = (self.born.take(), &reason) {
                    born.failed(SpawnError::Failed(error.clone()));
                }
                return Some(Step::Exit(reason));
            }
            (Phase::Building, Ok(())) => {
                if let Some(born) = self.born.take() {
                    born.succeeded();
                }
                self.start();
            }
            (Phase::Starting, Err(reason)) => return self.stop(reason),
            (Phase::Starting, Ok(())) => self.phase.set(Phase::Live),
            (Phase::Stopping, _) => {
                // SAFETY: no frame is there, so nothing borrows the reason.
                let reason = unsafe { (*self.reason.get()).take() };
                return Some(Step::Exit(reason.unwrap_or(ExitReason::Normal)));
            }
            (Phase::Built | Phase::Live, _) => {}
        }
        None
    }

    /// A message is being handled from now on. What its handler asks, it asks on behalf of this asker.
    #[inline]
    fn set_asked(&self, core: &Core, asked: Option<Asked>) {
        let deadline = asked.as_ref().map_or(Nanos::NEVER, |asked| asked.head().deadline);
        self.asked.set(asked);
        self.deadline.set(deadline);
        core.inherited.set(deadline);
    }

    /// The message is no longer being handled: takes its asker.
    #[inline]
    fn take_asked_of(&self, core: &Core) -> Option<Asked> {
        self.deadline.set(Nanos::NEVER);
        core.inherited.set(Nanos::NEVER);
        self.asked.take()
    }

    /// Whether the asker of the message in the frame wants it dropped.
    fn is_cancelled(&self) -> bool {
        let Some(asked) = self.asked.take() else {
            return false;
        };
        let cancelled = asked.head().cell.is_cancelled();
        self.asked.set(Some(asked));
        cancelled
    }

    /// Hands the handler's outcome to its asker, or its error to whom it concerns.
    #[inline]
    fn conclude<M: Method<A>>(&self, core: &Core, slot: &'static Slot, outcome: Result<M::Ok, M::Err>) {
        match (self.take_asked_of(core), outcome) {
            // SAFETY: `run_method::<M>` set the asker, of a block of these types.
            (Some(asked), outcome) => unsafe {
                Ask::<M::Args, M::Ok, M::Err>::answer(asked, outcome.map_err(AskError::Handler));
            },
            (None, Ok(reply)) => drop(reply),
            (None, Err(error)) => self.report(core, slot, M::NAME, &error),
        }
    }

    #[cold]
    fn report(&self, core: &Core, slot: &'static Slot, method: &'static str, error: &dyn std::fmt::Debug) {
        // SAFETY: called when a handler is through and dropped, so no frame borrows the state.
        let (state, _) = unsafe { self.parts() };
        if !state.on_error(&TellFailure { method, error }) {
            core.driver.report(Report::TellFailed { actor: slot.id(), kind: A::NAME, method, error });
        }
    }
}

impl<A: Actor> Task for ActorTask<A> {
    fn kind(&self) -> &'static str {
        A::NAME
    }

    fn poll(&self, run: &Run<'_>, cx: &mut Context<'_>) -> Step {
        let Run { core, slot } = *run;
        core.exclusive.set(Some(slot));
        core.inherited.set(self.deadline.get());
        if self.phase.get() == Phase::Built {
            self.start();
        }
        let mut left = MESSAGES_PER_POLL;
        loop {
            if let Some(mut frame) = self.frame.take() {
                if self.is_cancelled() {
                    drop(frame);
                    if let Some(asked) = self.take_asked_of(core) {
                        asked.fail(Failure::Expired);
                    }
                    continue;
                }
                let Poll::Ready(outcome) = frame.as_mut().poll(cx) else {
                    self.frame.set(Some(frame));
                    return Step::Parked;
                };
                drop(frame);
                if let Some(step) = self.frame_ended(outcome) {
                    return step;
                }
                continue;
            }
            if left == 0 || slot.own.signals.get() != Signals::NONE {
                return Step::More;
            }
            left -= 1;
            if let Some(envelope) = core.next_message(slot) {
                // SAFETY: the envelope was sent to this slot through a handle of this actor type, so its table was
                // made for it; no frame is there.
                unsafe { (envelope.table().run)(NonNull::from(self).cast(), envelope, core, slot) };
                continue;
            }
            let Some(stopping) = slot.own.stopping.get() else {
                return Step::Parked;
            };
            if !core.is_drained(slot) {
                // Admitted and still on its way; its arrival notifies.
                return Step::Parked;
            }
            let reason = match stopping {
                Stopping::Normal => ExitReason::Normal,
                Stopping::Stopped => ExitReason::Stopped,
                Stopping::ShardDown => ExitReason::ShardDown,
            };
            if let Some(step) = self.stop(reason) {
                return step;
            }
        }
    }

    fn drop_frame(&self, reason: &ExitReason) {
        if let Some(born) = self.born.take() {
            born.failed(SpawnError::Ended(reason.clone()));
        }
        drop(self.frame.take());
    }

    fn take_asked(&self) -> Option<Asked> {
        self.asked.take()
    }
}

/// The method table of `M` for `A`.
pub(crate) struct Methods<A, M>(PhantomData<(A, M)>);

impl<A: Actor, M: Method<A>> Methods<A, M> {
    pub(crate) const TABLE: &'static MethodTable =
        &MethodTable { name: M::NAME, run: run_method::<A, M>, drop_args: drop_args::<A, M> };
}

unsafe fn run_method<A: Actor, M: Method<A>>(task: NonNull<()>, envelope: Envelope, core: &Core, slot: &'static Slot) {
    // SAFETY: by `MethodTable::run`'s contract.
    let task = unsafe { task.cast::<ActorTask<A>>().as_ref() };
    // SAFETY: the envelope was made by `Handle::<A>::call::<M>`, with these types.
    let opened = unsafe { envelope.open::<M::Args, M::Ok, M::Err>() };
    // From here on a panic answers the asker: the engine takes it from the task.
    task.set_asked(core, opened.asked);
    // SAFETY: no frame is there; the handler is dropped below, or becomes the frame.
    let (state, cx) = unsafe { task.parts() };
    if M::SYNC {
        let outcome = {
            let handler = pin!(M::run(state, cx, opened.args));
            match handler.poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(outcome) => outcome,
                Poll::Pending => unreachable!("a sync handler is ready at its first poll"),
            }
        };
        task.conclude::<M>(core, slot, outcome);
    } else {
        task.set_frame(Box::pin(Handling::<A, M, _> {
            handler: Some(M::run(state, cx, opened.args)),
            task: NonNull::from(task),
            core: NonNull::from(core),
            slot,
            method: PhantomData,
        }));
    }
}

unsafe fn drop_args<A: Actor, M: Method<A>>(envelope: Envelope) {
    debug_assert_eq!(envelope.carried(), Carried::Tell);
    // SAFETY: by `MethodTable::drop_args`' contract; made with these types.
    drop(unsafe { envelope.tell_args::<M::Args>() });
}

/// An `async` handler at work, and then its outcome on its way.
struct Handling<A: Actor, M, F> {
    handler: Option<F>,
    task: NonNull<ActorTask<A>>,
    core: NonNull<Core>,
    slot: &'static Slot,
    method: PhantomData<M>,
}

impl<A: Actor, M: Method<A>, F: Future<Output = Result<M::Ok, M::Err>>> Future for Handling<A, M, F> {
    type Output = Result<(), ExitReason>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: only `handler` is pinned, and it is neither moved nor handed out; the others are plain values.
        let this = unsafe { self.get_unchecked_mut() };
        if let Some(handler) = &mut this.handler {
            // SAFETY: as above: it stays where it is until it is dropped in place.
            let handler = unsafe { Pin::new_unchecked(handler) };
            let Poll::Ready(outcome) = handler.poll(cx) else {
                return Poll::Pending;
            };
            // Ends the borrow of the state before anything else may use it.
            this.handler = None;
            // SAFETY: the task owns this frame and so outlives it; the core outlives its tasks.
            let (task, core) = unsafe { (this.task.as_ref(), this.core.as_ref()) };
            task.conclude::<M>(core, this.slot, outcome);
        }
        Poll::Ready(Ok(()))
    }
}
