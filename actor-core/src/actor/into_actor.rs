//! What the closure of a spawn may return.

use std::{error::Error, sync::Arc};

use super::Actor;
use crate::BoxError;

/// What a spawn's closure may return: an actor, or a `Result` of one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an actor, nor a `Result` of one",
    label = "the closure of a spawn returns the actor's state",
    note = "write `#[actor]` above the struct and above its `impl` block; an error must convert into \
            `Box<dyn Error + Send + Sync>`"
)]
pub trait IntoActor {
    /// The actor.
    type Actor: Actor;

    /// The actor, or why there is none.
    ///
    /// # Errors
    ///
    /// The user's own.
    fn into_actor(self) -> Result<Self::Actor, Arc<dyn Error + Send + Sync>>;
}

impl<A: Actor> IntoActor for A {
    type Actor = A;

    fn into_actor(self) -> Result<A, Arc<dyn Error + Send + Sync>> {
        Ok(self)
    }
}

impl<A: Actor, E: Into<BoxError>> IntoActor for Result<A, E> {
    type Actor = A;

    fn into_actor(self) -> Result<A, Arc<dyn Error + Send + Sync>> {
        self.map_err(|error| error.into().into())
    }
}
