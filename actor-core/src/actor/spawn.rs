//! Starting actors.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    ptr::NonNull,
    task::{Context, Poll},
};

use super::{
    Actor, Cx, Handle, Inbox, InboxActor, InboxHandle, IntoActor, Task, Typed, actor_task::ActorTask, born::Born,
    inbox::InboxTask, message::MessageArg,
};
use crate::{
    Overflow, SpawnError,
    life::panic::capture,
    shard::{Core, Promise, Promising, Remote, Request, current_core, promise},
    slot::{Slot, SlotRef},
};

/// A start on its way: a future of the handle. Dropped, it lets the actor go: nobody refers to it.
#[must_use = "the handle comes by awaiting this; an actor without a handle stops"]
pub struct Spawning<H>(Promising<Result<H, SpawnError>>);

impl<H> Future for Spawning<H> {
    type Output = Result<H, SpawnError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // A promise that is dropped unkept was a request that the shard refused.
        Pin::new(&mut self.0).poll(cx).map(|kept| kept.unwrap_or(Err(SpawnError::Closed)))
    }
}

impl<H> fmt::Debug for Spawning<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Spawning(..)")
    }
}

/// What a spawn says about the mailbox; where it says nothing, the actor's type does, and then the shard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mailbox {
    /// Messages that it holds: from 1 to 2^30 - 1, which is what a larger number comes to.
    pub capacity: Option<usize>,
    /// What becomes of a message that finds it full.
    pub overflow: Option<Overflow>,
}

impl From<Option<usize>> for Mailbox {
    fn from(capacity: Option<usize>) -> Self {
        Self { capacity, overflow: None }
    }
}

impl Mailbox {
    /// A slot for an actor of type `A`, with this mailbox.
    fn occupy<A: Typed>(self, core: &Core) -> Result<&'static Slot, SpawnError> {
        core.occupy(self.capacity.or(A::MAILBOX), self.overflow.unwrap_or(A::OVERFLOW))
    }
}

impl Remote {
    /// Starts an actor on the shard. `build` makes its state there.
    pub fn spawn<F, R>(&self, mailbox: impl Into<Mailbox>, build: F) -> Spawning<<R::Actor as Typed>::Handle>
    where
        F: FnOnce() -> R + Send + 'static,
        R: IntoActor<Actor: Actor>,
    {
        let (mailbox, (answer, future)) = (mailbox.into(), promise());
        self.ask_for(move |core| answer.keep(start(core, mailbox, build)));
        Spawning(future)
    }

    /// Starts an actor on the shard whose state a future makes. The future runs as the actor's first poll: its end
    /// makes the handle.
    pub fn spawn_async<F, Fut>(
        &self,
        mailbox: impl Into<Mailbox>,
        build: F,
    ) -> Spawning<<<Fut::Output as IntoActor>::Actor as Typed>::Handle>
    where
        F: FnOnce() -> Fut + Send + 'static,
        Fut: Future<Output: IntoActor<Actor: Actor>> + 'static,
    {
        let (mailbox, (answer, future)) = (mailbox.into(), promise());
        self.ask_for(move |core| start_building(core, mailbox, build, answer));
        Spawning(future)
    }

    /// Starts an actor that is a plain future over its inbox.
    pub fn spawn_inbox<J, F, Fut>(&self, mailbox: impl Into<Mailbox>, body: F) -> Spawning<InboxHandle<J>>
    where
        J: MessageArg,
        F: FnOnce(Inbox<J>, Cx<InboxActor<J>>) -> Fut + Send + 'static,
        Fut: Future<Output = ()> + 'static,
    {
        let (mailbox, (answer, future)) = (mailbox.into(), promise());
        self.ask_for(move |core| answer.keep(start_inbox(core, mailbox, body)));
        Spawning(future)
    }

    fn ask_for(&self, start: impl FnOnce(&Core) + Send + 'static) {
        // A refused request is dropped, and with it the promise in it.
        drop(self.request(Request::new(start)));
    }
}

/// Starts an actor on the shard that this thread executes.
pub(super) fn here<F, R>(build: F) -> Result<<R::Actor as Typed>::Handle, SpawnError>
where
    F: FnOnce() -> R,
    R: IntoActor<Actor: Actor>,
{
    let core = current_core().ok_or(SpawnError::Closed)?;
    start(&core, Mailbox::default(), build)
}

fn start<F, R>(core: &Core, mailbox: Mailbox, build: F) -> Result<<R::Actor as Typed>::Handle, SpawnError>
where
    F: FnOnce() -> R,
    R: IntoActor<Actor: Actor>,
{
    core.admits_starts()?;
    let state = capture(|| build().into_actor()).map_err(SpawnError::Ended)?.map_err(SpawnError::Failed)?;
    let slot = mailbox.occupy::<R::Actor>(core)?;
    let handle = SlotRef::new(slot);
    install(core, slot, ActorTask::new(state, slot));
    Ok(Handle::new(handle).into())
}

fn start_building<F, Fut, A>(core: &Core, mailbox: Mailbox, build: F, answer: Promise<Result<A::Handle, SpawnError>>)
where
    F: FnOnce() -> Fut,
    Fut: Future<Output: IntoActor<Actor = A>> + 'static,
    A: Actor,
{
    if let Err(error) = core.admits_starts() {
        return answer.keep(Err(error));
    }
    let future = match capture(build) {
        Ok(future) => future,
        Err(reason) => return answer.keep(Err(SpawnError::Ended(reason))),
    };
    match mailbox.occupy::<A>(core) {
        Ok(slot) => {
            let born = Born::new(answer, slot);
            install(core, slot, ActorTask::building(future, born, slot));
        }
        Err(error) => answer.keep(Err(error)),
    }
}

fn start_inbox<J, F, Fut>(core: &Core, mailbox: Mailbox, body: F) -> Result<InboxHandle<J>, SpawnError>
where
    J: MessageArg,
    F: FnOnce(Inbox<J>, Cx<InboxActor<J>>) -> Fut,
    Fut: Future<Output = ()> + 'static,
{
    let slot = mailbox.occupy::<InboxActor<J>>(core)?;
    let handle = SlotRef::new(slot);
    match capture(|| InboxTask::new(slot, body)) {
        Ok(task) => {
            install(core, slot, task);
            Ok(Handle::new(handle).into())
        }
        Err(reason) => {
            core.finish(slot, reason.clone());
            Err(SpawnError::Ended(reason))
        }
    }
}

fn install<T: Task + 'static>(core: &Core, slot: &'static Slot, task: Box<T>) {
    let task: NonNull<dyn Task> = NonNull::from(Box::leak(task));
    slot.own.task.set(Some(task));
    core.notify(slot);
}
