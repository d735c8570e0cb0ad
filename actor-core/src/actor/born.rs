//! The one who waits for an actor whose state is being built.

use std::fmt;

use super::{Actor, Handle};
use crate::{
    SpawnError,
    shard::Promise,
    slot::{Slot, SlotRef},
};

/// Gets the handle when the state is there, or the reason why it never will be. Keeps the actor going until then.
pub(super) struct Born<A: Actor> {
    answer: Promise<Result<A::Handle, SpawnError>>,
    handle: Handle<A>,
}

impl<A: Actor> Born<A> {
    pub(super) fn new(answer: Promise<Result<A::Handle, SpawnError>>, slot: &'static Slot) -> Self {
        Self { answer, handle: Handle::new(SlotRef::new(slot)) }
    }

    pub(super) fn succeeded(self) {
        self.answer.keep(Ok(self.handle.into()));
    }

    pub(super) fn failed(self, error: SpawnError) {
        self.answer.keep(Err(error));
    }
}

impl<A: Actor> fmt::Debug for Born<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Born({:?})", self.handle)
    }
}
