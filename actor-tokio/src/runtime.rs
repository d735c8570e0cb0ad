//! The runtime: its shards, and the end of them.

use std::{
    fmt,
    future::Future,
    time::{Duration, Instant},
};

use actor_core::{Cx, Inbox, InboxActor, InboxHandle, IntoActor, ShardId, Typed, message::MessageArg};
use tokio::runtime::{Builder as TokioBuilder, LocalOptions};

use crate::{Builder, RuntimeHandle, Shutdown, Spawn, current::Entered};

/// How long a dropped runtime's actors have to stop in order.
const DROP_LIMIT: Duration = Duration::from_secs(1);
/// How long a drop waits for what was told to end.
const DROP_WAIT: Duration = Duration::from_secs(5);

/// A set of shards: one thread per core, each with a current-thread Tokio runtime and the actors that live there.
///
/// Dropped without [`shutdown`](Self::shutdown), it stops its actors in order within 1 s and kills those that are
/// left. The drop may happen anywhere, async code included: it waits for the threads (5 s at most) unless it happens
/// on one of the shards, which then end on their own.
///
/// # Examples
///
/// ```
/// use actor_tokio::prelude::*;
///
/// # fn main() -> Result<(), actor_tokio::Error> {
/// let rt = ShardedRuntime::builder().cores(1).thread_name("service").build()?;
/// assert_eq!(rt.handle().shards(), 1);
/// rt.block_on(rt.shutdown());
/// # Ok(()) }
/// ```
pub struct ShardedRuntime {
    handle: RuntimeHandle,
}

impl ShardedRuntime {
    /// A runtime to be put together.
    pub fn builder() -> Builder {
        Builder::default()
    }

    pub(crate) fn new(handle: RuntimeHandle) -> Self {
        Self { handle }
    }

    /// The way to spawn and to shut down from anywhere.
    #[must_use]
    pub fn handle(&self) -> RuntimeHandle {
        self.handle.clone()
    }

    /// Runs a future on this thread until it is done, in a local Tokio runtime of its own with I/O and time:
    /// `tokio::spawn` and `spawn_local` work in it. This thread is no shard.
    ///
    /// # Panics
    ///
    /// If this thread runs async code already (a shard, a Tokio worker): await the future there. And if the system
    /// refuses the descriptors of a Tokio runtime.
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        let runtime = TokioBuilder::new_current_thread()
            .enable_io()
            .enable_time()
            .build_local(LocalOptions::default())
            .unwrap_or_else(|error| panic!("no Tokio runtime for block_on ({error}): raise the limit of open files"));
        let _current = Entered::new(self.handle());
        runtime.block_on(future)
    }

    /// Starts an actor; see [`RuntimeHandle::spawn`].
    pub fn spawn<F, R>(&self, build: F) -> Spawn<<R::Actor as Typed>::Handle>
    where
        F: FnOnce() -> R + Send + 'static,
        R: IntoActor,
    {
        self.handle.spawn(build)
    }

    /// Starts an actor whose state takes awaiting to build; see [`RuntimeHandle::spawn_async`].
    pub fn spawn_async<F, Fut>(&self, build: F) -> Spawn<<<Fut::Output as IntoActor>::Actor as Typed>::Handle>
    where
        F: FnOnce() -> Fut + Send + 'static,
        Fut: Future<Output: IntoActor> + 'static,
    {
        self.handle.spawn_async(build)
    }

    /// Starts an actor that is a plain future over its inbox; see [`RuntimeHandle::spawn_fn`].
    pub fn spawn_fn<J, F, Fut>(&self, body: F) -> Spawn<InboxHandle<J>>
    where
        J: MessageArg,
        F: FnOnce(Inbox<J>, Cx<InboxActor<J>>) -> Fut + Send + 'static,
        Fut: Future<Output = ()> + 'static,
    {
        self.handle.spawn_fn(body)
    }

    /// The runtime's shards.
    pub fn shard_ids(&self) -> impl ExactSizeIterator<Item = ShardId> + '_ {
        self.handle.shard_ids()
    }

    /// Shuts the runtime down within 30 s; see [`RuntimeHandle::shutdown_timeout`].
    pub fn shutdown(&self) -> Shutdown {
        self.handle.shutdown()
    }

    /// Shuts the runtime down within `limit`; see [`RuntimeHandle::shutdown_timeout`].
    pub fn shutdown_timeout(&self, limit: Duration) -> Shutdown {
        self.handle.shutdown_timeout(limit)
    }
}

impl Drop for ShardedRuntime {
    fn drop(&mut self) {
        let ending = self.handle.ending();
        if ending.is_over() {
            return;
        }
        drop(ending.begin(DROP_LIMIT));
        // A shard cannot wait for its own end.
        if ShardId::current().is_none() && !ending.wait_until(Instant::now() + DROP_WAIT) {
            tracing::warn!("a dropped runtime has not ended within 5 s: code on one of its shards blocks");
        }
    }
}

impl fmt::Debug for ShardedRuntime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShardedRuntime").field("shards", &self.handle.shards()).finish_non_exhaustive()
    }
}
