//! What the `#[actor]` macro implements for a user's type.

use std::{fmt, future::Future, ops::Deref};

use super::{
    Cx, Handle,
    message::{Args, MessageError, MessageReply},
};
use crate::{BoxError, ExitReason, Overflow};

/// The struct's side: what its handles are called, how large its mailbox is and what happens beyond that.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an actor",
    label = "`#[actor]` is missing on this type's definition",
    note = "write `#[actor]` above the struct, and above its `impl` block"
)]
pub trait Typed: Sized + 'static {
    /// The typed handle.
    type Handle: From<Handle<Self>> + Deref<Target = Handle<Self>> + Clone + Send + Sync + 'static;
    /// The type's name, for people.
    const NAME: &'static str;
    /// Messages that the mailbox holds; `None` for the runtime's default.
    const MAILBOX: Option<usize>;
    /// What becomes of a message for a full mailbox.
    const OVERFLOW: Overflow = Overflow::Wait;
}

/// The main `impl` block's side: the hooks.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no `#[actor] impl` block",
    label = "this type's messages are not declared",
    note = "write `#[actor]` above its `impl` block"
)]
pub trait Actor: Typed {
    /// Whether there is a start hook; without one the step is left out.
    const HAS_ON_START: bool = false;
    /// Whether there is a stop hook.
    const HAS_ON_STOP: bool = false;

    /// Runs before the first message. An error ends the actor with [`ExitReason::Failed`].
    fn on_start<'a>(&'a mut self, cx: &'a mut Cx<Self>) -> impl Future<Output = Result<(), BoxError>> + 'a {
        _ = cx;
        async { Ok(()) }
    }

    /// Runs after the last message, unless the actor was killed or panicked.
    fn on_stop<'a>(&'a mut self, reason: &'a ExitReason, cx: &'a mut Cx<Self>) -> impl Future<Output = ()> + 'a {
        _ = (reason, cx);
        async {}
    }

    /// A message without an asker was handled with an error. Returns false if nobody took note of it: the host then
    /// reports it.
    fn on_error(&mut self, failure: &TellFailure<'_>) -> bool {
        _ = failure;
        false
    }
}

/// One message method of an actor. The implementing type is a marker that nobody makes a value of.
pub trait Method<A: Actor>: 'static {
    /// The arguments, as a tuple.
    type Args: Args;
    /// What the handler returns, or the `Ok` of it.
    type Ok: MessageReply;
    /// The `Err` of it; [`Infallible`](std::convert::Infallible) when it returns no `Result`.
    type Err: MessageError;
    /// The method's name.
    const NAME: &'static str;
    /// Whether the future that `run` returns is ready at its first poll.
    const SYNC: bool;

    /// Handles one message.
    fn run<'a>(
        actor: &'a mut A,
        cx: &'a mut Cx<A>,
        args: Self::Args,
    ) -> impl Future<Output = Result<Self::Ok, Self::Err>> + 'a;
}

/// The error of a handler whose message nobody asked about.
pub struct TellFailure<'a> {
    pub(crate) method: &'static str,
    pub(crate) error: &'a dyn fmt::Debug,
}

impl TellFailure<'_> {
    /// The method that returned the error.
    #[must_use]
    pub const fn method(&self) -> &'static str {
        self.method
    }

    /// The error.
    #[must_use]
    pub const fn error(&self) -> &dyn fmt::Debug {
        self.error
    }
}

impl fmt::Display for TellFailure<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {:?}", self.method, self.error)
    }
}

impl fmt::Debug for TellFailure<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TellFailure").field("method", &self.method).field("error", &self.error).finish()
    }
}
