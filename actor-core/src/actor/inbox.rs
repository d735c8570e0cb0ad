//! An actor written as a plain future over its inbox.

use std::{
    cell::Cell,
    convert::Infallible,
    fmt,
    future::Future,
    marker::PhantomData,
    ops::Deref,
    pin::Pin,
    ptr::NonNull,
    rc::Rc,
    task::{Context, Poll, Waker},
};

use super::{Call, Cx, Handle, Run, Step, Task, Typed, message::MessageArg};
use crate::{
    ExitReason,
    envelope::{Ask, Asked, Carried, Envelope, MethodTable},
    shard::{Core, current_core},
    slot::{Slot, Stopping},
    wake::waker_key,
};

/// Messages that an inbox gives out before it lets the other ready actors have their turn.
const MESSAGES_PER_POLL: u32 = 32;

/// The type of an actor that is a future over an [`Inbox<J>`].
pub struct InboxActor<J>(PhantomData<fn(J)>);

impl<J: MessageArg> Typed for InboxActor<J> {
    type Handle = InboxHandle<J>;
    const NAME: &'static str = "InboxActor";
    const MAILBOX: Option<usize> = None;
}

/// Refers to an actor that takes messages of one type. Derefs to [`Handle`], which has `stop`, `kill` and the rest.
pub struct InboxHandle<J: MessageArg>(Handle<InboxActor<J>>);

impl<J: MessageArg> InboxHandle<J> {
    /// A call that sends `message`. Told, it only sends; awaited, it is done when the actor has taken the message out
    /// of its inbox.
    #[inline]
    pub fn send(&self, message: J) -> Call<(J,), ()> {
        let slot = self.0.slot().slot();
        Call::new(slot, slot.head.generation(), Methods::<J>::TABLE, (message,))
    }
}

impl<J: MessageArg> From<Handle<InboxActor<J>>> for InboxHandle<J> {
    fn from(handle: Handle<InboxActor<J>>) -> Self {
        Self(handle)
    }
}

impl<J: MessageArg> Deref for InboxHandle<J> {
    type Target = Handle<InboxActor<J>>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<J: MessageArg> Clone for InboxHandle<J> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<J: MessageArg> fmt::Debug for InboxHandle<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

/// The messages of an actor that is a plain future. `!Send`: it stays on its shard.
///
/// # Examples
///
/// ```
/// use actor_tokio::prelude::*;
///
/// # fn main() -> Result<(), actor_tokio::Error> {
/// # let rt = ShardedRuntime::builder().cores(1).build()?;
/// # rt.block_on(async {
/// let printer = rt
///     .spawn_fn(|mut inbox: Inbox<String>, _| async move {
///         while let Some(line) = inbox.recv().await {
///             println!("{line}");
///         }
///     })
///     .await?;
/// printer.send("told".into()).tell().await?;
/// printer.send("asked: done when it is received".into()).await?;
/// assert_eq!(printer.stop().await, ExitReason::Stopped);
/// # Ok(()) }) }
/// ```
pub struct Inbox<J>(Rc<Mail<J>>);

impl<J: MessageArg> Inbox<J> {
    /// The next message; `None` when the actor stops and has had all that it accepted.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: a message is taken in the poll that returns it.
    pub fn recv(&mut self) -> Recv<'_, J> {
        Recv(self)
    }

    /// Messages that wait.
    #[must_use]
    pub fn len(&self) -> usize {
        if self.0.has_ended.get() { 0 } else { self.0.slot.own.queued() as usize }
    }

    /// Whether no message waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<J> fmt::Debug for Inbox<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Inbox(..)")
    }
}

/// A future of an inbox's next message.
#[must_use = "a message is received by awaiting this"]
pub struct Recv<'a, J>(&'a mut Inbox<J>);

impl<J: MessageArg> Future for Recv<'_, J> {
    type Output = Option<J>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<J>> {
        let mail = &self.0.0;
        if mail.has_ended.get() {
            return Poll::Ready(None);
        }
        mail.waker.set(Some(cx.waker().clone()));
        // Without our shard's activation nothing can be taken; what wakes us next comes with it.
        let Some(core) = current_core().filter(|core| std::ptr::eq(core.port, mail.slot.port)) else {
            return Poll::Pending;
        };
        if mail.left.get() == 0 {
            mail.left.set(MESSAGES_PER_POLL);
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        mail.left.set(mail.left.get() - 1);
        if let Some(envelope) = core.next_message(mail.slot) {
            // SAFETY: messages come to this slot by `InboxHandle<J>` alone, so the table is `Methods::<J>`'s, whose
            // task is this mail.
            unsafe { (envelope.table().run)(NonNull::from(&**mail).cast(), envelope, &core, mail.slot) };
            return Poll::Ready(mail.taken.take());
        }
        if mail.slot.own.stopping.get().is_some() && core.is_drained(mail.slot) {
            return Poll::Ready(None);
        }
        Poll::Pending
    }
}

impl<J> fmt::Debug for Recv<'_, J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Recv(..)")
    }
}

/// What the actor's future and its inbox share: the inbox may be moved into another task of the shard.
struct Mail<J> {
    slot: &'static Slot,
    /// The message that the method table has just taken.
    taken: Cell<Option<J>>,
    /// Who waits for a message.
    waker: Cell<Option<Waker>>,
    left: Cell<u32>,
    has_ended: Cell<bool>,
}

/// The actor.
pub(super) struct InboxTask<J, F> {
    mail: Rc<Mail<J>>,
    body: Cell<Option<Pin<Box<F>>>>,
}

impl<J: MessageArg, F: Future<Output = ()>> InboxTask<J, F> {
    pub(super) fn new(slot: &'static Slot, body: impl FnOnce(Inbox<J>, Cx<InboxActor<J>>) -> F) -> Box<Self> {
        let mail = Rc::new(Mail {
            slot,
            taken: Cell::new(None),
            waker: Cell::new(None),
            left: Cell::new(MESSAGES_PER_POLL),
            has_ended: Cell::new(false),
        });
        let task = Box::new(Self { mail, body: Cell::new(None) });
        // A panic here drops the task, which ends the mail.
        let inbox = Inbox(task.mail.clone());
        task.body.set(Some(Box::pin(body(inbox, Cx::new(slot)))));
        task
    }
}

impl<J: MessageArg, F: Future<Output = ()>> Task for InboxTask<J, F> {
    fn kind(&self) -> &'static str {
        InboxActor::<J>::NAME
    }

    fn poll(&self, run: &Run<'_>, cx: &mut Context<'_>) -> Step {
        let Some(mut body) = self.body.take() else {
            return Step::Exit(ExitReason::Normal);
        };
        self.mail.left.set(MESSAGES_PER_POLL);
        // An inbox that waits in another task is woken there; one that waits in this body is polled below.
        if let Some(waker) = self.mail.waker.take() {
            if waker_key(&waker) == Some(run.slot.key()) {
                self.mail.waker.set(Some(waker));
            } else {
                waker.wake();
            }
        }
        if body.as_mut().poll(cx).is_pending() {
            self.body.set(Some(body));
            return Step::Parked;
        }
        drop(body);
        Step::Exit(match run.slot.own.stopping.get() {
            Some(Stopping::Stopped) => ExitReason::Stopped,
            Some(Stopping::ShardDown) => ExitReason::ShardDown,
            Some(Stopping::Normal) | None => ExitReason::Normal,
        })
    }

    fn drop_frame(&self, _: &ExitReason) {
        drop(self.body.take());
    }

    fn take_asked(&self) -> Option<Asked> {
        None
    }
}

impl<J, F> Drop for InboxTask<J, F> {
    fn drop(&mut self) {
        // An inbox that outlives its actor finds no more messages.
        self.mail.has_ended.set(true);
        if let Some(waker) = self.mail.waker.take() {
            waker.wake();
        }
    }
}

struct Methods<J>(PhantomData<J>);

impl<J: MessageArg> Methods<J> {
    const TABLE: &'static MethodTable = &MethodTable { name: "send", run: take::<J>, drop_args: drop_args::<J> };
}

unsafe fn take<J: MessageArg>(mail: NonNull<()>, envelope: Envelope, _: &Core, _: &'static Slot) {
    // SAFETY: `Recv::poll` passes its mail.
    let mail = unsafe { mail.cast::<Mail<J>>().as_ref() };
    // SAFETY: made by `InboxHandle::<J>::send`, with these types.
    let opened = unsafe { envelope.open::<(J,), (), Infallible>() };
    mail.taken.set(Some(opened.args.0));
    if let Some(asked) = opened.asked {
        // SAFETY: as above.
        unsafe { Ask::<(J,), (), Infallible>::answer(asked, Ok(())) };
    }
}

unsafe fn drop_args<J: MessageArg>(envelope: Envelope) {
    debug_assert_eq!(envelope.carried(), Carried::Tell);
    // SAFETY: by `MethodTable::drop_args`' contract.
    drop(unsafe { envelope.tell_args::<(J,)>() });
}
