//! What an actor's context knows of its runtime.

use actor_core::{Cx, Typed};

use crate::RuntimeHandle;

/// The runtime's side of an actor's context. In the prelude.
pub trait CxExt {
    /// The runtime that the actor belongs to.
    ///
    /// # Panics
    ///
    /// If the actor's shard is not run by a [`ShardedRuntime`](crate::ShardedRuntime), but by hand.
    fn runtime(&self) -> RuntimeHandle;
}

impl<A: Typed> CxExt for Cx<A> {
    fn runtime(&self) -> RuntimeHandle {
        RuntimeHandle::current()
    }
}
