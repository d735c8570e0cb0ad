//! Names of things: shards, actors, and the packed address of a slot.

use std::fmt;

/// Bits of a [`SlotKey`] that name the port.
pub(crate) const PORT_BITS: u32 = 12;
/// Bits of a [`SlotKey`] that hold the slot's generation.
pub(crate) const GENERATION_BITS: u32 = 24;
/// Bits of a [`SlotKey`] that name the slot within its port.
pub(crate) const SLOT_BITS: u32 = 28;
/// Ports that one process can hold at a time: live shards of all its runtimes together.
pub(crate) const MAX_PORTS: usize = 1 << PORT_BITS;
/// The last generation: a slot that reaches it is retired, never reused.
pub(crate) const MAX_GENERATION: u32 = (1 << GENERATION_BITS) - 1;
/// Slots that one shard can hold.
pub(crate) const MAX_SLOTS: u32 = 1 << SLOT_BITS;

/// A shard's number within its runtime, counted from 0.
///
/// # Examples
///
/// ```
/// use actor_core::ShardId;
/// assert_eq!(ShardId::new(3).index(), 3);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ShardId(u16);

impl ShardId {
    /// The shard with this number. Whether a runtime has such a shard is checked where the id is used.
    #[must_use]
    pub const fn new(number: u16) -> Self {
        Self(number)
    }

    /// The shard that this thread executes, if it executes one.
    #[cfg(not(loom))]
    #[must_use]
    pub fn current() -> Option<Self> {
        crate::shard::current_shard()
    }

    /// The number, for use as an index.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Debug for ShardId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ShardId({})", self.0)
    }
}

impl fmt::Display for ShardId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// An actor's identity: unique within the process for as long as anything can refer to the actor.
///
/// A slot whose actor is gone, and that no handle refers to, is used again with the next generation; an id that
/// outlived its actor then differs from the newcomer's.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ActorId(SlotKey);

impl ActorId {
    pub(crate) const fn new(key: SlotKey) -> Self {
        Self(key)
    }
}

impl fmt::Debug for ActorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ActorId({self})")
    }
}

impl fmt::Display for ActorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0.port(), self.0.slot(), self.0.generation())
    }
}

/// Port, generation and slot in one word: what a waker carries as its data pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct SlotKey(u64);

impl SlotKey {
    pub(crate) const fn new(port: u16, slot: u32, generation: u32) -> Self {
        debug_assert!((port as usize) < MAX_PORTS && slot < MAX_SLOTS && generation <= MAX_GENERATION);
        Self(((port as u64) << (GENERATION_BITS + SLOT_BITS)) | ((generation as u64) << SLOT_BITS) | slot as u64)
    }

    pub(crate) const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    pub(crate) const fn to_bits(self) -> u64 {
        self.0
    }

    pub(crate) const fn port(self) -> u16 {
        (self.0 >> (GENERATION_BITS + SLOT_BITS)) as u16
    }

    pub(crate) const fn generation(self) -> u32 {
        (self.0 >> SLOT_BITS) as u32 & MAX_GENERATION
    }

    pub(crate) const fn slot(self) -> u32 {
        self.0 as u32 & (MAX_SLOTS - 1)
    }
}

const _: () = assert!(PORT_BITS + GENERATION_BITS + SLOT_BITS == 64);

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_key_keeps_its_three_parts_at_their_limits() {
        for port in [0, 1, MAX_PORTS as u16 - 1] {
            for slot in [0, 1, MAX_SLOTS - 1] {
                for generation in [0, 1, MAX_GENERATION] {
                    let key = SlotKey::new(port, slot, generation);
                    assert_eq!((key.port(), key.slot(), key.generation()), (port, slot, generation));
                    assert_eq!(SlotKey::from_bits(key.to_bits()), key);
                }
            }
        }
    }
}
