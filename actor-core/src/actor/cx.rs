//! The context: what an actor may ask of its shard.

use std::{fmt, marker::PhantomData};

use super::{Actor, Handle, IntoActor, Typed, handle::shard_of, spawn};
use crate::{
    ActorId, ShardId, SpawnError, shard,
    slot::{Pin, Signals, Slot, SlotRef},
};

/// An actor's own view of itself. Handlers get it on request, as an argument `cx: &mut Cx<Self>`.
///
/// # Examples
///
/// ```
/// use actor_tokio::prelude::*;
///
/// #[actor]
/// struct Fuse;
///
/// #[actor]
/// impl Fuse {
///     pub fn blow(&mut self, cx: &mut Cx<Self>) -> ActorId {
///         cx.stop(); // after what has been accepted
///         cx.id()
///     }
/// }
///
/// # fn main() -> Result<(), actor_tokio::Error> {
/// # let rt = ShardedRuntime::builder().cores(1).build()?;
/// # rt.block_on(async {
/// let fuse = rt.spawn(|| Fuse).await?;
/// assert_eq!(fuse.blow().await?, fuse.id());
/// assert_eq!(fuse.closed().await, ExitReason::Normal);
/// # Ok(()) }) }
/// ```
pub struct Cx<A: ?Sized> {
    pin: Pin,
    /// `!Send`: a context stays on its shard.
    actor: PhantomData<*const A>,
}

impl<A: Typed> Cx<A> {
    /// The context of the actor in `slot`; made by its shard.
    pub(crate) fn new(slot: &'static Slot) -> Self {
        Self { pin: Pin::new(slot), actor: PhantomData }
    }

    /// The actor's own typed handle. An actor that keeps it keeps itself going; see [`Handle::downgrade`].
    #[must_use]
    pub fn handle(&self) -> A::Handle {
        Handle::new(SlotRef::new(self.pin.slot())).into()
    }

    /// The actor's identity.
    #[must_use]
    pub fn id(&self) -> ActorId {
        self.pin.id()
    }

    /// The shard that the actor lives on.
    #[must_use]
    pub fn shard(&self) -> ShardId {
        shard_of(&self.pin)
    }

    /// Stops the actor: no message is accepted from now on; those that were are handled, then it ends with
    /// [`ExitReason::Normal`](crate::ExitReason::Normal).
    pub fn stop(&self) {
        let slot = self.pin.slot();
        let generation = slot.head.generation();
        slot.close(generation);
        shard::signal(slot, generation, Signals::LEAVE);
    }

    /// Starts an actor on this shard, at once. The closure runs here, so that it and what it makes need not be `Send`.
    ///
    /// # Errors
    ///
    /// If the closure returns an error or panics, or the shard is shutting down.
    pub fn spawn<F, R>(&self, build: F) -> Result<<R::Actor as Typed>::Handle, SpawnError>
    where
        F: FnOnce() -> R,
        R: IntoActor<Actor: Actor>,
    {
        spawn::here(build)
    }
}

impl<A: Typed> fmt::Debug for Cx<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cx<{}>({})", A::NAME, self.id())
    }
}
