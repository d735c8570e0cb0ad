//! What carries user messages into a shard: a bounded ring, and the queue beside it when it is full.
//!
//! There are three rings, all of them always compiled; a build's engine uses one, which the environment variable
//! `ACTOR_RING` names while it is built. `README.md` in this folder has the arguments.

#[cfg(all(test, not(loom)))]
mod contract;
#[allow(dead_code, reason = "the engine uses one of the rings")]
mod lane;
#[allow(dead_code, reason = "the engine uses one of the rings")]
mod lanes;
#[cfg(all(test, loom))]
mod models;
#[allow(dead_code, reason = "the engine uses one of the rings")]
mod mutex;
#[allow(dead_code, reason = "the engine uses one of the rings")]
mod ready;
mod ring;
mod spill;
#[allow(dead_code, reason = "the engine uses one of the rings")]
mod vyukov;

/// The ring of this build's engine.
#[cfg(actor_ring = "lanes")]
pub(crate) type EngineRing<T> = lanes::LanesRing<T>;
/// The ring of this build's engine.
#[cfg(actor_ring = "mutex")]
pub(crate) type EngineRing<T> = mutex::MutexRing<T>;
/// The ring of this build's engine.
#[cfg(actor_ring = "vyukov")]
pub(crate) type EngineRing<T> = vyukov::VyukovRing<T>;

#[cfg(not(any(actor_ring = "lanes", actor_ring = "mutex", actor_ring = "vyukov")))]
compile_error!("no ring is chosen: ACTOR_RING is `lanes`, `mutex` or `vyukov`, or is not set");
#[cfg(any(
    all(actor_ring = "lanes", actor_ring = "mutex"),
    all(actor_ring = "lanes", actor_ring = "vyukov"),
    all(actor_ring = "mutex", actor_ring = "vyukov")
))]
compile_error!("two rings are chosen: ACTOR_RING names one of `lanes`, `mutex` and `vyukov`, or is not set");

#[cfg(any(test, feature = "rings"))]
pub use self::{lanes::LanesRing, mutex::MutexRing, vyukov::VyukovRing};
pub use self::{
    ready::{Mark, Ready},
    ring::{Producer, Ring},
};
pub(crate) use spill::Spill;
