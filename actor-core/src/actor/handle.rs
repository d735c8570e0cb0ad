//! Handles: what refers to an actor.

use std::{
    fmt,
    hash::{Hash, Hasher},
    marker::PhantomData,
    sync::atomic::Ordering,
};

use super::{Actor, Call, Exit, Method, Permit, Reserve, Typed, actor_task::Methods, waiting::Target};
use crate::{
    ActorId, Overflow, ShardId, TryReserveError, shard,
    slot::{Admit, Pin, Signals, SlotRef},
};

/// Refers to an actor and keeps it going: when the last handle is dropped, the actor handles what it has accepted and
/// stops.
///
/// The `#[actor]` macro wraps it in a typed handle with a method per message. Handles are `Clone + Send + Sync` for
/// every actor, whatever its state is made of, and work from any thread and any runtime.
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
/// let weak = counter.downgrade();
/// assert_eq!(weak.upgrade().map(|same| same.id()), Some(counter.id()));
/// assert_eq!(counter.stop().await, ExitReason::Stopped);
/// assert!(counter.is_closed());
/// # Ok(()) }) }
/// ```
pub struct Handle<A: ?Sized> {
    slot: SlotRef,
    /// Owns no `A`, gives out no `A`.
    actor: PhantomData<fn(&A)>,
}

/// Refers to an actor without keeping it going.
pub struct WeakHandle<A: ?Sized> {
    pin: Pin,
    actor: PhantomData<fn(&A)>,
}

impl<A: Actor> Handle<A> {
    /// A call of method `M`. Lazy: nothing is sent before it is awaited, or told.
    #[inline]
    pub fn call<M: Method<A>>(&self, args: M::Args) -> Call<M::Args, M::Ok, M::Err> {
        let slot = self.slot.slot();
        Call::new(slot, slot.head.generation(), Methods::<A, M>::TABLE, args)
    }
}

impl<A: Typed> Handle<A> {
    pub(crate) fn new(slot: SlotRef) -> Self {
        Self { slot, actor: PhantomData }
    }

    pub(crate) fn slot(&self) -> &SlotRef {
        &self.slot
    }

    /// Stops the actor: it takes no new messages, handles those that it has accepted, runs its stop hook and ends with
    /// [`ExitReason::Stopped`](crate::ExitReason::Stopped). Acts at once; the future, which need not be awaited, is of
    /// the reason of the end.
    pub fn stop(&self) -> Exit {
        self.end(Signals::STOP)
    }

    /// Ends the actor between two polls, without its stop hook; messages that it has accepted are answered with
    /// `Died`. Acts at once, like [`stop`](Self::stop).
    pub fn kill(&self) -> Exit {
        self.end(Signals::KILL)
    }

    /// A future of the reason of the actor's end; ready if it has ended.
    #[must_use]
    pub fn closed(&self) -> Exit {
        Exit::new(self.slot.pin())
    }

    /// Whether the actor takes no messages any more: it stops, or has ended.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.slot.slot().admission.is_closed()
    }

    /// The actor's identity.
    #[must_use]
    pub fn id(&self) -> ActorId {
        self.slot.slot().id()
    }

    /// The shard that the actor lives on.
    #[must_use]
    pub fn shard(&self) -> ShardId {
        shard_of(self.slot.slot())
    }

    /// Messages that the actor's mailbox holds.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.slot.slot().bounds().capacity() as usize
    }

    /// Messages that are accepted and not begun, and places that are reserved. Never more than
    /// [`capacity`](Self::capacity). A busy shard gives room back in portions: up to a quarter of the capacity, and 32 at
    /// the most, may still be counted though their handling has begun.
    #[must_use]
    pub fn queue_len(&self) -> usize {
        // A mailbox that drops has more permits out than it holds messages.
        self.capacity().min(self.slot.slot().admission.count() as usize)
    }

    /// What becomes of a message that finds the mailbox full.
    #[must_use]
    pub fn overflow(&self) -> Overflow {
        self.slot.slot().bounds().overflow()
    }

    /// Messages that the mailbox has dropped so far, because it was full. Always 0 for one that waits or rejects.
    #[must_use]
    pub fn evicted(&self) -> u64 {
        self.slot.slot().evicted()
    }

    /// Reserves a place in the mailbox for one message. Waits for room, in line with the asks and tells that do; the
    /// [`Permit`] then sends without waiting.
    ///
    /// # Errors
    ///
    /// Awaiting gives a [`ReserveError`](crate::ReserveError) if the actor is stopping or has ended, if a
    /// [`timeout`](Reserve::timeout) passes, or if the actor reserves in its own full mailbox.
    ///
    /// # Examples
    ///
    /// See [`Permit`].
    pub fn reserve(&self) -> Reserve<A> {
        Reserve::new(self.target())
    }

    /// Reserves a place in the mailbox for one message, if there is room. Never waits.
    ///
    /// # Errors
    ///
    /// If the mailbox is full (or others wait for room in it), or the actor is stopping or has ended.
    pub fn try_reserve(&self) -> Result<Permit<A>, TryReserveError> {
        let target = self.target();
        match target.slot.try_reserve(target.generation) {
            Ok(place) => Ok(Permit::new(target, place)),
            Err(Admit::Closed) => Err(TryReserveError::Closed),
            Err(Admit::Full | Admit::Granted) => Err(TryReserveError::Full),
        }
    }

    fn target(&self) -> Target {
        let slot = self.slot.slot();
        Target { slot, generation: slot.head.generation() }
    }

    /// A handle that does not keep the actor going.
    #[must_use]
    pub fn downgrade(&self) -> WeakHandle<A> {
        WeakHandle { pin: self.slot.pin(), actor: PhantomData }
    }

    fn end(&self, how: Signals) -> Exit {
        let slot = self.slot.slot();
        let generation = slot.head.generation();
        // Closed here, so that no later message of this thread is accepted.
        slot.close(generation);
        shard::signal(slot, generation, how);
        self.closed()
    }
}

pub(super) fn shard_of(slot: &crate::slot::Slot) -> ShardId {
    ShardId::new(u16::try_from(slot.port.shard.load(Ordering::Relaxed)).unwrap_or(u16::MAX))
}

impl<A: Typed> WeakHandle<A> {
    /// A handle, unless the last one has gone.
    #[must_use]
    pub fn upgrade(&self) -> Option<A::Handle> {
        self.pin.upgrade().map(|slot| Handle::new(slot).into())
    }

    /// The actor's identity.
    #[must_use]
    pub fn id(&self) -> ActorId {
        self.pin.id()
    }

    /// A future of the reason of the actor's end.
    #[must_use]
    pub fn closed(&self) -> Exit {
        Exit::new(self.pin.clone())
    }
}

// === impl Handle, WeakHandle: by hand, since derives would ask the same of `A` ===

impl<A: ?Sized> Clone for Handle<A> {
    fn clone(&self) -> Self {
        Self { slot: self.slot.clone(), actor: PhantomData }
    }
}

impl<A: ?Sized> PartialEq for Handle<A> {
    /// Whether both refer to the same actor.
    fn eq(&self, other: &Self) -> bool {
        self.slot == other.slot
    }
}

impl<A: ?Sized> Eq for Handle<A> {}

impl<A: ?Sized> Hash for Handle<A> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.slot.hash(state);
    }
}

impl<A: Typed> fmt::Debug for Handle<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Handle<{}>({})", A::NAME, self.id())
    }
}

impl<A: ?Sized> Clone for WeakHandle<A> {
    fn clone(&self) -> Self {
        Self { pin: self.pin.clone(), actor: PhantomData }
    }
}

impl<A: Typed> fmt::Debug for WeakHandle<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WeakHandle<{}>({})", A::NAME, self.id())
    }
}
