//! What all that send and are sent to know of each other.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU32, Ordering::Relaxed},
    },
    time::Instant,
};

use actor_core::{InboxHandle, Remote};

use super::{
    common::threads::{Dice, block_on},
    ledger::Ledger,
    node::{Letter, Node, NodeHandle, source},
};

pub struct World {
    pub seed: u64,
    pub ledger: Arc<Ledger>,
    /// The nodes by number: each is replaced now and then.
    pub nodes: Box<[Mutex<Option<NodeHandle>>]>,
    sources: Mutex<Vec<InboxHandle<Letter>>>,
    remotes: Vec<Remote>,
    next_sender: AtomicU32,
    is_over: AtomicBool,
    ends_at: Instant,
}

/// Actors of the mesh on each shard, and plain futures.
const NODES_PER_SHARD: usize = 3;
const SOURCES_PER_SHARD: usize = 2;
/// Mailboxes, in turn.
const CAPACITIES: [usize; 3] = [1, 2, 256];

impl World {
    pub fn new(seed: u64, remotes: Vec<Remote>, ends_at: Instant) -> Arc<Self> {
        Arc::new(Self {
            seed,
            ledger: Arc::default(),
            nodes: (0..remotes.len() * NODES_PER_SHARD).map(|_| Mutex::default()).collect(),
            sources: Mutex::default(),
            remotes,
            next_sender: AtomicU32::new(0),
            is_over: AtomicBool::new(false),
            ends_at,
        })
    }

    /// Starts the mesh, once the shards run.
    pub fn populate(self: &Arc<Self>) {
        for index in 0..self.nodes.len() {
            self.start_node(index);
        }
        for nth in 0..self.remotes.len() * SOURCES_PER_SHARD {
            let (world, remote) = (self.clone(), &self.remotes[nth % self.remotes.len()]);
            let source = remote.spawn_inbox(Some(4), move |inbox, _| source(world, inbox));
            let source = block_on(source).expect("spawned");
            self.sources.lock().expect("sources").push(source);
        }
    }

    fn start_node(self: &Arc<Self>, index: usize) {
        let (world, remote) = (self.clone(), &self.remotes[index % self.remotes.len()]);
        let mailbox = CAPACITIES[index / self.remotes.len() % CAPACITIES.len()];
        let node = block_on(remote.spawn(Some(mailbox), move || Node::new(world, index))).expect("spawned");
        *self.nodes[index].lock().expect("node") = Some(node);
    }

    /// Ends nodes and starts others in their place, until time is up.
    pub fn renew(self: &Arc<Self>) {
        let mut dice = Dice::new(self.seed ^ 0xdead);
        while Instant::now() < self.ends_at {
            let index = dice.below(self.nodes.len());
            let node = self.nodes[index].lock().expect("node").take().expect("nobody else takes it");
            block_on(match dice.below(4) {
                0 => node.kill(),
                1 => {
                    // When the senders have dropped theirs too, or find out that it is closed.
                    let exit = node.closed();
                    drop(node.stop());
                    drop(node);
                    exit
                }
                _ => node.stop(),
            });
            self.start_node(index);
        }
    }

    pub fn next_sender(&self) -> u32 {
        self.next_sender.fetch_add(1, Relaxed)
    }

    pub fn node(&self, index: usize) -> Option<NodeHandle> {
        self.nodes[index].lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn source(&self, any: u64) -> Option<InboxHandle<Letter>> {
        let sources = self.sources.lock().unwrap_or_else(PoisonError::into_inner);
        (!sources.is_empty()).then(|| sources[any as usize % sources.len()].clone())
    }

    pub fn is_time_up(&self) -> bool {
        Instant::now() >= self.ends_at
    }

    /// Whether to send no more: for those on shards, who do not look at the clock.
    pub fn is_over(&self) -> bool {
        self.is_over.load(Relaxed)
    }

    /// Ends the sending, and lets go of all handles.
    pub fn end(&self) {
        self.is_over.store(true, Relaxed);
        for node in &self.nodes {
            drop(node.lock().expect("node").take());
        }
        self.sources.lock().expect("sources").clear();
    }
}
