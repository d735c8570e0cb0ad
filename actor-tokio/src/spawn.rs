//! A spawn that is being put together.

use std::{
    fmt,
    future::{Future, IntoFuture},
    pin::Pin,
    task::{Context, Poll},
};

use actor_core::{Mailbox, Overflow, Remote, ShardId, SpawnError, Spawning};

use crate::{Placement, RuntimeHandle};

type Start<H> = Box<dyn FnOnce(&Remote, Mailbox) -> Spawning<H> + Send>;

/// A start of an actor, to be awaited: says where it goes and what it gets.
///
/// # Examples
///
/// ```
/// # use actor_tokio::prelude::*;
/// # #[actor] struct Session; #[actor] impl Session { pub fn ping(&self) {} }
/// # fn main() -> Result<(), actor_tokio::Error> {
/// # let rt = ShardedRuntime::builder().cores(1).build()?;
/// # rt.block_on(async {
/// let near = rt.spawn(|| Session).on(ShardId::new(0)).mailbox(16).overflow(Overflow::Reject).await?;
/// let beside = rt.spawn(|| Session).placement(Placement::SameAs(&near)).await?;
/// assert_eq!(near.shard(), beside.shard());
/// # Ok(()) }) }
/// ```
#[must_use = "an actor is started by awaiting its spawn"]
pub struct Spawn<H> {
    runtime: RuntimeHandle,
    shard: Option<ShardId>,
    mailbox: Mailbox,
    start: Start<H>,
}

impl<H> Spawn<H> {
    pub(crate) fn new(
        runtime: RuntimeHandle,
        start: impl FnOnce(&Remote, Mailbox) -> Spawning<H> + Send + 'static,
    ) -> Self {
        Self { runtime, shard: None, mailbox: Mailbox::default(), start: Box::new(start) }
    }

    /// Starts it on this shard.
    pub fn on(mut self, shard: ShardId) -> Self {
        self.shard = Some(shard);
        self
    }

    /// Lets `placement` choose the shard.
    pub fn placement(mut self, placement: Placement<'_>) -> Self {
        self.shard = Some(self.runtime.place(placement));
        self
    }

    /// Gives it a mailbox for `capacity` messages, whatever its type or the runtime says. More than 2^30 - 1 are taken
    /// as that.
    pub fn mailbox(mut self, capacity: usize) -> Self {
        self.mailbox.capacity = Some(capacity);
        self
    }

    /// Says what becomes of a message that finds the mailbox full, whatever its type says. [`Overflow::Wait`] unless
    /// either does.
    pub fn overflow(mut self, overflow: Overflow) -> Self {
        self.mailbox.overflow = Some(overflow);
        self
    }
}

impl<H> IntoFuture for Spawn<H> {
    type Output = Result<H, SpawnError>;
    type IntoFuture = Spawned<H>;

    fn into_future(self) -> Spawned<H> {
        let shard = self.shard.unwrap_or_else(|| self.runtime.place(Placement::RoundRobin));
        Spawned(self.runtime.remote(shard).map(|remote| (self.start)(remote, self.mailbox)).map_err(Some))
    }
}

impl<H> fmt::Debug for Spawn<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spawn").field("shard", &self.shard).field("mailbox", &self.mailbox).finish_non_exhaustive()
    }
}

/// A start on its way: a future of the handle.
///
/// # Cancel safety
///
/// Dropped, it lets the actor go: one that nobody refers to stops.
#[must_use = "the handle comes by awaiting this"]
pub struct Spawned<H>(Result<Spawning<H>, Option<SpawnError>>);

impl<H> Future for Spawned<H> {
    type Output = Result<H, SpawnError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            Ok(spawning) => Pin::new(spawning).poll(cx),
            Err(error) => Poll::Ready(Err(error.take().unwrap_or(SpawnError::Closed))),
        }
    }
}

impl<H> fmt::Debug for Spawned<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Spawned(..)")
    }
}
