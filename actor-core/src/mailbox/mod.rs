//! What carries user messages into a shard: a bounded ring, and the queue beside it when it is full.

#[cfg(all(test, loom))]
mod models;
mod ring;
mod spill;

pub(crate) use ring::Ring;
pub(crate) use spill::Spill;
