//! What the engine knows of an actor: something to poll, of which a few pieces can be taken when it ends.

use std::task::Context;

use crate::{ExitReason, envelope::Asked, shard::Core, slot::Slot};

/// An actor, erased. Lives in its slot until the end; touched by its shard's thread only.
pub(crate) trait Task {
    /// The actor type's name.
    fn kind(&self) -> &'static str;

    /// Handles messages until there are none, one waits, or its share of the turn is used up.
    fn poll(&self, run: &Run<'_>, cx: &mut Context<'_>) -> Step;

    /// Drops what is half-done: user code that may panic. Called once, outside a poll, before the task is dropped.
    fn drop_frame(&self, reason: &ExitReason);

    /// The asker of the message that was being handled.
    fn take_asked(&self) -> Option<Asked>;
}

/// Where a poll happens.
pub(crate) struct Run<'a> {
    pub(crate) core: &'a Core,
    pub(crate) slot: &'static Slot,
}

/// How a poll ended.
pub(crate) enum Step {
    /// Nothing to do until a notification.
    Parked,
    /// More to do: queue it again, behind the others.
    More,
    /// It has ended.
    Exit(ExitReason),
}
