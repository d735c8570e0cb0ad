//! The host's half of a shard's doorbell: what another thread rings, and what the shard's driver waits for.
//!
//! Each implementation is a pair: a [`Notify`](actor_core::port::Notify) that any thread may hold, and a `Bell` which
//! belongs to the driver. [`Doorbell`] is the one for this system: an eventfd where there is one, a waker elsewhere.
//! Both keep one contract, and `contract.rs` runs it on both:
//!
//! - a ring is never lost: the next `poll_rung` finds it, or the task that polled last is woken;
//! - rings that nobody has taken yet merge: one `poll_rung` takes them all;
//! - what a thread did before it rang is visible to the driver that took the ring;
//! - ringing never blocks and never panics, before, while and after the driver lives.

#[cfg(any(target_os = "linux", target_os = "android"))]
mod eventfd;
#[cfg(any(test, not(any(target_os = "linux", target_os = "android"))))]
mod waker;

#[cfg(test)]
mod contract;

#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) use eventfd::{Bell, EventFd as Doorbell};
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) use waker::{Bell, WakerBell as Doorbell};
