//! The actor that owns the keys of one shard.

use std::time::Duration;

use actor_tokio::prelude::*;

use super::batch::Batch;
use super::clock;
use super::store::Store;

/// How often keys that have ended are looked for.
const SWEEP_EVERY: Duration = Duration::from_millis(100);
/// How many of them one message removes, so that no sweep keeps clients waiting.
const SWEEP: usize = 512;

/// The keys of one shard. Nobody else touches them: a command on a key is a message to its partition.
#[actor(mailbox = 4096)]
pub struct Partition {
    store: Store,
}

#[actor]
impl Partition {
    /// An empty one.
    pub fn new() -> Self {
        Self { store: Store::new() }
    }

    /// Runs the commands of `batch`, as far as their answers are enough, and sends it back.
    pub fn run(&mut self, mut batch: Box<Batch>) -> Box<Batch> {
        batch.run(&mut self.store);
        batch
    }

    /// Removes some keys that have ended. Answers whether those were all.
    pub fn sweep(&mut self) -> bool {
        self.store.sweep(clock::now(), SWEEP)
    }

    #[actor(on_start)]
    fn begin(&mut self, cx: &mut Cx<Self>) {
        // A weak handle: the sweeper must not keep the partition alive.
        let partition = cx.handle().downgrade();
        tokio::task::spawn_local(async move {
            loop {
                tokio::time::sleep(SWEEP_EVERY).await;
                let Some(partition) = partition.upgrade() else { return };
                // Each step is a message of its own, so clients get their turn in between.
                while partition.sweep().await.is_ok_and(|all| !all) {}
            }
        });
    }
}

impl Default for Partition {
    fn default() -> Self {
        Self::new()
    }
}
