//! A place in a mailbox, held without a message.

use std::{fmt, marker::PhantomData, mem, task::Waker};

use super::{
    Call,
    message::{Args as MessageArgs, MessageError, MessageReply},
    waiting::Target,
};
use crate::{
    ActorId, Returned, TryTellError,
    slot::{Place, Served},
};

/// A place in an actor's mailbox, held for one message: what [`Handle::reserve`](super::Handle::reserve) gives.
/// Dropped, it gives the place back, to the next that waits for one.
///
/// It counts in [`queue_len`](super::Handle::queue_len), as a message that is on its way does. It neither keeps the
/// actor alive nor holds its stop back: a stopping actor takes its places back, even from permits that were leaked, and
/// a message that is sent by one afterwards is answered with `Closed`.
///
/// # Examples
///
/// Take on work only when there is room for what comes of it:
///
/// ```
/// # use actor_tokio::prelude::*;
/// # #[actor] struct Counter { total: u64 }
/// # #[actor] impl Counter { pub fn add(&mut self, by: u64) -> u64 { self.total += by; self.total } }
/// # fn main() -> Result<(), actor_tokio::Error> {
/// # let rt = ShardedRuntime::builder().cores(1).build()?;
/// # rt.block_on(async {
/// # let counter = rt.spawn(|| Counter { total: 0 }).await?;
/// # async fn next_job() -> u64 { 5 }
/// let permit = counter.reserve().await?;
/// let by = next_job().await;
/// permit.send(counter.add(by))?; // never waits, and never finds the mailbox full
///
/// let permit = counter.try_reserve()?;
/// assert_eq!(permit.ask(counter.add(1)).await?, 6);
/// # Ok(()) }) }
/// ```
#[must_use = "a permit that is dropped gives its place back"]
pub struct Permit<A: ?Sized> {
    target: Target,
    /// A granted one.
    place: Place,
    actor: PhantomData<fn(&A)>,
}

impl<A: ?Sized> Permit<A> {
    /// With a place that has been granted.
    pub(super) fn new(target: Target, place: Place) -> Self {
        Self { target, place, actor: PhantomData }
    }

    /// Sends the call's message into the place, without asking for a reply. Never waits.
    ///
    /// # Errors
    ///
    /// Gives the arguments back if the actor is stopping or has ended, or if the call is for another actor than the
    /// permit: the place is then given back.
    ///
    /// # Panics
    ///
    /// If the call has been polled, as [`Call::tell`] does.
    pub fn send<Args, T, E>(self, call: Call<Args, T, E>) -> Result<(), TryTellError<Args>>
    where
        Args: MessageArgs,
        T: MessageReply,
        E: MessageError,
    {
        let (target, table, args) = call.into_message("send");
        if target != self.target {
            return Err(TryTellError::OtherActor(Returned::new(args)));
        }
        // The place has its permit, so no waker is kept. No user code runs from here to the delivery.
        match target.poll_place(self.place, &mut Waker::noop().clone()) {
            Served::Granted => {
                // The place has been given up, and nothing else is to be dropped.
                mem::forget(self);
                target.deliver_tell(table, args);
                Ok(())
            }
            Served::Closed | Served::Waiting(_) => Err(TryTellError::Closed(Returned::new(args))),
        }
    }

    /// Makes the call an ask that is sent into the place, at its first poll: it never waits for room. Its time limit
    /// and its other settings stay.
    ///
    /// Dropped before that, the ask gives the place back; so do its `tell`, `try_tell` and `into_args`, which go on
    /// without it.
    ///
    /// # Errors
    ///
    /// Awaiting gives an [`AskError`](crate::AskError) as for any ask:
    /// [`OtherActor`](crate::AskError::OtherActor) if the call is for another actor than the permit.
    ///
    /// # Panics
    ///
    /// If the call has been polled.
    pub fn ask<Args, T, E>(self, call: Call<Args, T, E>) -> Call<Args, T, E>
    where
        Args: MessageArgs,
        T: MessageReply,
        E: MessageError,
    {
        if !call.is_for(self.target) {
            return call.with_place(None);
        }
        let place = self.place;
        let call = call.with_place(Some(place));
        mem::forget(self);
        call
    }

    /// The identity of the actor.
    #[must_use]
    pub fn id(&self) -> ActorId {
        self.target.id()
    }
}

impl<A: ?Sized> Drop for Permit<A> {
    fn drop(&mut self) {
        self.target.leave(self.place);
    }
}

impl<A: ?Sized> fmt::Debug for Permit<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Permit({})", self.id())
    }
}
