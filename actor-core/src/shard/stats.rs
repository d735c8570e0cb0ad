//! A shard's counters.

use std::cell::Cell;

/// What a shard has done so far. Counts only grow, except `actors` and `queued`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Actors that live now.
    pub actors: u64,
    /// Actors started.
    pub spawned: u64,
    /// Messages that reached the shard: each is later counted once in `handled`, `returned`, `evicted` or `queued`.
    pub received: u64,
    /// Messages whose handler was begun.
    pub handled: u64,
    /// Messages that were not handled: their actor had ended, their asker's time was over or it had withdrawn them.
    pub returned: u64,
    /// Messages that full mailboxes have dropped (see [`Overflow`](crate::Overflow)).
    pub evicted: u64,
    /// Messages that wait in mailboxes now.
    pub queued: u64,
    /// Polls of actors.
    pub polls: u64,
    /// Turns.
    pub turns: u64,
    /// Times that the shard announced sleep.
    pub sleeps: u64,
    /// Sleeps that another thread's ring ended.
    pub rung: u64,
    /// Sleeps after whose end nothing was found to do: woken in vain.
    pub spurious: u64,
    /// Messages sent to other shards.
    pub sent: u64,
    /// Looks at other shards' doorbells that found the shard asleep and woke it: each wrote to the driver once.
    pub rings: u64,
    /// Looks at other shards' doorbells that found the shard awake, or woken by another: nothing was written.
    pub elided: u64,
    /// Rings of this shard's doorbell by threads that execute no shard, or that asked something of the shard itself (a
    /// start, statistics), that woke it.
    pub rings_from_outside: u64,
    /// Waits of actors of this shard that were ended as part of a deadlock.
    pub deadlocks: u64,
    /// Spins before sleep.
    pub spins: u64,
    /// Spins that found something, so that there was no sleep.
    pub spins_won: u64,
}

/// The counters, each a plain cell.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) actors: Counter,
    pub(crate) spawned: Counter,
    pub(crate) received: Counter,
    pub(crate) handled: Counter,
    pub(crate) returned: Counter,
    pub(crate) evicted: Counter,
    pub(crate) polls: Counter,
    pub(crate) turns: Counter,
    pub(crate) sleeps: Counter,
    pub(crate) rung: Counter,
    pub(crate) spurious: Counter,
    pub(crate) sent: Counter,
    pub(crate) rings: Counter,
    pub(crate) elided: Counter,
    pub(crate) deadlocks: Counter,
    pub(crate) spins: Counter,
    pub(crate) spins_won: Counter,
}

/// One counter.
#[derive(Debug, Default)]
pub(crate) struct Counter(Cell<u64>);

impl Counter {
    #[inline]
    pub(crate) fn add(&self, n: u64) {
        self.0.set(self.0.get() + n);
    }

    pub(crate) fn sub(&self, n: u64) {
        self.0.set(self.0.get() - n);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.get()
    }
}

impl Counters {
    /// All but what the port counts.
    pub(crate) fn read(&self) -> Stats {
        let (received, handled) = (self.received.get(), self.handled.get());
        let (returned, evicted) = (self.returned.get(), self.evicted.get());
        Stats {
            actors: self.actors.get(),
            spawned: self.spawned.get(),
            received,
            handled,
            returned,
            evicted,
            queued: received - handled - returned - evicted,
            polls: self.polls.get(),
            turns: self.turns.get(),
            sleeps: self.sleeps.get(),
            rung: self.rung.get(),
            spurious: self.spurious.get(),
            sent: self.sent.get(),
            rings: self.rings.get(),
            elided: self.elided.get(),
            rings_from_outside: 0,
            deadlocks: self.deadlocks.get(),
            spins: self.spins.get(),
            spins_won: self.spins_won.get(),
        }
    }
}
