//! The bounded ring that carries user messages into a shard.

mod ring;

pub(crate) use ring::Ring;
