//! Where an actor is started.

use actor_core::{Handle, ShardId, Typed};

/// Which shard a new actor is started on.
#[derive(Clone, Copy, Default)]
#[non_exhaustive]
pub enum Placement<'a> {
    /// One shard after the other: the default for [`ShardedRuntime::spawn`](crate::ShardedRuntime::spawn).
    #[default]
    RoundRobin,
    /// The shard that this hash of a key falls on: the same hash, the same shard.
    Hash(u64),
    /// The shard with the fewest actors, as of its last turn.
    LeastLoaded,
    /// The shard that this actor lives on.
    SameAs(&'a dyn Placed),
}

/// Something that lives on a shard: a handle.
pub trait Placed {
    /// The shard.
    fn shard(&self) -> ShardId;
}

impl<A: Typed, H: std::ops::Deref<Target = Handle<A>>> Placed for H {
    fn shard(&self) -> ShardId {
        Handle::shard(self)
    }
}
