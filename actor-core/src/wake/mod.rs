//! Waking a shard from anywhere: intrusive stacks, the doorbell, and the wakers of actors.
//!
//! `README.md` in this folder argues the protocols; each has a loom model in `models.rs`.

mod doorbell;
#[cfg(all(test, loom))]
mod models;
mod stack;
#[cfg(not(loom))]
mod waker;

pub(crate) use doorbell::{Doorbell, publish_fence};
pub(crate) use stack::{Linked, Stack, Taken};
#[cfg(not(loom))]
pub(crate) use waker::{waker_key, with_slot_waker};
