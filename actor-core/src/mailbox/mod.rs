//! The bounded ring that carries user messages into a shard.

#[cfg(all(test, loom))]
mod models;
mod ring;

pub(crate) use ring::Ring;
