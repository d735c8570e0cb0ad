//! The engine of a thread-per-core actor system. It knows no runtime and starts no thread: a host binds each
//! [`Domain`] to a thread, runs its turns, and lends it a clock and a way to be woken.
//!
//! Users want the crate `actor-tokio`, which is such a host and re-exports what they need of this one.
//!
//! The road of a message: a handle's [`Call`] takes a permit of its actor and writes an envelope; on the actor's own
//! shard that goes straight into its inbox, otherwise through the shard's ring, whose doorbell wakes a sleeper. A
//! [turn](Shard::turn) polls the actor, whose handler's answer is written into the block that the asker waits at.
#![warn(missing_docs)]
#![cfg_attr(loom, allow(dead_code, unused_imports, reason = "a model builds the protocols alone"))]

mod id;
mod mailbox;
mod overflow;
pub mod port;
mod prefetch;
mod sync;
mod wake;

#[cfg(not(loom))]
mod actor;
mod envelope;
#[cfg(not(loom))]
mod error;
pub mod life;
#[cfg(not(loom))]
mod shard;
mod slot;
#[cfg(not(loom))]
pub mod timer;

/// The rings, for measurements. No part of the crate's interface.
#[cfg(feature = "rings")]
#[doc(hidden)]
pub mod rings {
    pub use crate::mailbox::{LanesRing, Mark, MutexRing, Producer, Ready, Ring, VyukovRing};
}

#[cfg(not(loom))]
pub use self::{
    actor::{
        Actor, Call, Cx, Exit, Handle, Inbox, InboxActor, InboxHandle, IntoActor, Mailbox, Method, Permit, Recv,
        Reserve, Spawning, Tell, TellFailure, Typed, WeakHandle, message,
    },
    error::{
        AskError, BoxError, DeadlockPath, ReserveError, Returned, SpawnError, TellError, TryReserveError, TryTellError,
        Waits,
    },
    shard::{Activation, Domain, DomainConfig, DomainError, Remote, Shard, Spin, Stats, Turn},
};
pub use self::{
    id::{ActorId, ShardId},
    life::ExitReason,
    overflow::Overflow,
};
