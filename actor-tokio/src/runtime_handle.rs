//! The handle of a runtime: starts actors from anywhere.

use std::{
    fmt,
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use actor_core::{
    Cx, Inbox, InboxActor, InboxHandle, IntoActor, Remote, ShardId, SpawnError, Stats, Typed, message::MessageArg,
};

use crate::{
    Placement, Shutdown, Spawn, current,
    shutdown::{DEFAULT_LIMIT, Ending},
};

/// Reaches a runtime from any thread: starts actors, and shuts it down. `Clone + Send + Sync`.
///
/// It does not keep the runtime: when that is gone, spawns answer [`SpawnError::Closed`].
#[derive(Clone)]
pub struct RuntimeHandle(Arc<Inner>);

struct Inner {
    remotes: Vec<Remote>,
    next: AtomicUsize,
    ending: Arc<Ending>,
}

/// There is no runtime to be reached from here.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error(
    "no ShardedRuntime here: this code runs neither on one of its shards nor in its block_on; pass a RuntimeHandle in \
     (`rt.handle()`)"
)]
pub struct NoRuntime;

impl RuntimeHandle {
    pub(crate) fn new(remotes: Vec<Remote>, ending: Arc<Ending>) -> Self {
        Self(Arc::new(Inner { remotes, next: AtomicUsize::new(0), ending }))
    }

    /// The runtime that this code runs in: on a shard, in a task of one, or in [`block_on`](crate::ShardedRuntime::block_on).
    ///
    /// # Panics
    ///
    /// Elsewhere. [`try_current`](Self::try_current) does not.
    #[must_use]
    #[track_caller]
    pub fn current() -> Self {
        match Self::try_current() {
            Ok(handle) => handle,
            Err(error) => panic!("{error}"),
        }
    }

    /// The runtime that this code runs in.
    ///
    /// # Errors
    ///
    /// If it runs in none.
    pub fn try_current() -> Result<Self, NoRuntime> {
        current::current().ok_or(NoRuntime)
    }

    /// Starts an actor. The closure runs on the actor's shard, so that what it builds need not be `Send`; it may
    /// return the actor, or a `Result` of it.
    ///
    /// # Errors
    ///
    /// Awaiting gives a [`SpawnError`] if the closure fails or panics, the shard does not exist, the mailbox has no
    /// capacity, or the runtime shuts down.
    pub fn spawn<F, R>(&self, build: F) -> Spawn<<R::Actor as Typed>::Handle>
    where
        F: FnOnce() -> R + Send + 'static,
        R: IntoActor,
    {
        Spawn::new(self.clone(), move |remote, mailbox| remote.spawn(mailbox, build))
    }

    /// Starts an actor whose state takes awaiting to build. The future runs on the actor's shard; it need not be
    /// `Send`.
    ///
    /// # Errors
    ///
    /// As for [`spawn`](Self::spawn); the future's own error is [`SpawnError::Failed`].
    pub fn spawn_async<F, Fut>(&self, build: F) -> Spawn<<<Fut::Output as IntoActor>::Actor as Typed>::Handle>
    where
        F: FnOnce() -> Fut + Send + 'static,
        Fut: Future<Output: IntoActor> + 'static,
    {
        Spawn::new(self.clone(), move |remote, mailbox| remote.spawn_async(mailbox, build))
    }

    /// Starts an actor that is a plain future over its inbox. It ends when the future does.
    ///
    /// # Errors
    ///
    /// As for [`spawn`](Self::spawn).
    pub fn spawn_fn<J, F, Fut>(&self, body: F) -> Spawn<InboxHandle<J>>
    where
        J: MessageArg,
        F: FnOnce(Inbox<J>, Cx<InboxActor<J>>) -> Fut + Send + 'static,
        Fut: Future<Output = ()> + 'static,
    {
        Spawn::new(self.clone(), move |remote, mailbox| remote.spawn_inbox(mailbox, body))
    }

    /// How many shards the runtime has.
    #[must_use]
    pub fn shards(&self) -> usize {
        self.0.remotes.len()
    }

    /// The runtime's shards.
    pub fn shard_ids(&self) -> impl ExactSizeIterator<Item = ShardId> + '_ {
        self.0.remotes.iter().map(Remote::shard)
    }

    /// Each shard's counters, in the order of [`shard_ids`](Self::shard_ids). Zeros for a shard that has ended.
    pub async fn stats(&self) -> Vec<Stats> {
        let mut stats = Vec::with_capacity(self.shards());
        for remote in &self.0.remotes {
            stats.push(remote.stats().await.unwrap_or_default());
        }
        stats
    }

    /// Shuts the runtime down, within 30 s; see [`shutdown_timeout`](Self::shutdown_timeout).
    pub fn shutdown(&self) -> Shutdown {
        self.shutdown_timeout(DEFAULT_LIMIT)
    }

    /// Shuts the runtime down: no actor is started any more; on each shard, the actors stop one by one, the youngest
    /// first, each handling what it has accepted and running its stop hook. When `limit` has passed, those that are
    /// left are killed, and have 1 s to get out of the poll that they are in. Then the shards' threads end.
    ///
    /// A handler that waits holds its actor's stop back until then. Shards stop on their own: a service whose actors need
    /// actors of other shards to stop in order stops those first.
    ///
    /// Begins at once; the future, which need not be awaited, is done when the threads have ended. Calls after the
    /// first wait for the same end, and can only bring it forward.
    ///
    /// # Examples
    ///
    /// ```
    /// use actor_tokio::prelude::*;
    /// use std::time::Duration;
    ///
    /// # fn main() -> Result<(), actor_tokio::Error> {
    /// let rt = ShardedRuntime::builder().cores(1).build()?;
    /// let report = rt.block_on(rt.handle().shutdown_timeout(Duration::from_secs(5)));
    /// assert!(report.is_clean());
    /// # Ok(()) }
    /// ```
    pub fn shutdown_timeout(&self, limit: Duration) -> Shutdown {
        self.0.ending.begin(limit)
    }

    pub(crate) fn ending(&self) -> &Arc<Ending> {
        &self.0.ending
    }

    pub(crate) fn remote(&self, shard: ShardId) -> Result<&Remote, SpawnError> {
        let shards = self.shards();
        self.0.remotes.get(shard.index()).ok_or(SpawnError::NoSuchShard { shard, shards })
    }

    pub(crate) fn place(&self, placement: Placement<'_>) -> ShardId {
        let shards = self.shards();
        let index = match placement {
            Placement::RoundRobin => self.0.next.fetch_add(1, Ordering::Relaxed) % shards,
            // The high bits: users' hashes are often weak in the low ones.
            Placement::Hash(hash) => {
                ((u128::from(hash.wrapping_mul(0x9e37_79b9_7f4a_7c15)) * shards as u128) >> 64) as usize
            }
            Placement::LeastLoaded => {
                let loads = self.0.remotes.iter().map(Remote::load).enumerate();
                loads.min_by_key(|(_, load)| *load).map_or(0, |(index, _)| index)
            }
            Placement::SameAs(placed) => return placed.shard(),
        };
        self.0.remotes[index].shard()
    }
}

impl fmt::Debug for RuntimeHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RuntimeHandle").field("shards", &self.shards()).finish_non_exhaustive()
    }
}
