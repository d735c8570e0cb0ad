//! How much a mailbox holds and what happens beyond that, in one word.

use crate::Overflow;

/// Capacity and policy of a mailbox. One word, because a sender reads it for each message, and the cache line that it
/// has anyway is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bounds(u32);

/// Messages that a mailbox holds at the most.
pub(crate) const MAX_CAPACITY: u32 = (1 << POLICY_SHIFT) - 1;

/// Messages beyond the capacity that a mailbox that drops admits: those that its shard has not looked at yet, or has
/// thrown out and not dropped yet. Bounds what one actor's senders can pile up between two looks.
pub(crate) const TRANSIT: u32 = 1024;

const POLICY_SHIFT: u32 = 30;
/// Set for both policies that drop.
const DROPS: u32 = 1 << 31;

const WAIT: u32 = 0;
const REJECT: u32 = 1 << POLICY_SHIFT;
const DROP_OLDEST: u32 = DROPS;
const DROP_NEWEST: u32 = DROPS | 1 << POLICY_SHIFT;

impl Bounds {
    /// A capacity beyond [`MAX_CAPACITY`] is that.
    pub(crate) fn new(capacity: u32, overflow: Overflow) -> Self {
        let policy = match overflow {
            Overflow::Wait => WAIT,
            Overflow::Reject => REJECT,
            Overflow::DropOldest => DROP_OLDEST,
            Overflow::DropNewest => DROP_NEWEST,
        };
        Self(capacity.min(MAX_CAPACITY) | policy)
    }

    pub(crate) const fn to_bits(self) -> u32 {
        self.0
    }

    pub(crate) const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// Messages that the mailbox holds.
    #[inline]
    pub(crate) const fn capacity(self) -> u32 {
        self.0 & MAX_CAPACITY
    }

    /// Permits that may be out at a time.
    #[inline]
    pub(crate) const fn permits(self) -> u32 {
        if self.drops() { self.capacity() + TRANSIT } else { self.capacity() }
    }

    /// Whether a full mailbox loses messages, rather than keep its senders waiting.
    #[inline]
    pub(crate) const fn drops(self) -> bool {
        self.0 & DROPS != 0
    }

    pub(crate) const fn overflow(self) -> Overflow {
        match self.0 & !MAX_CAPACITY {
            REJECT => Overflow::Reject,
            DROP_OLDEST => Overflow::DropOldest,
            DROP_NEWEST => Overflow::DropNewest,
            _ => Overflow::Wait,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_halves_come_back_as_they_were() {
        for overflow in [Overflow::Wait, Overflow::Reject, Overflow::DropOldest, Overflow::DropNewest] {
            for (capacity, kept) in [(1, 1), (256, 256), (MAX_CAPACITY, MAX_CAPACITY), (u32::MAX, MAX_CAPACITY)] {
                let bounds = Bounds::from_bits(Bounds::new(capacity, overflow).to_bits());
                assert_eq!((bounds.capacity(), bounds.overflow()), (kept, overflow));
                let drops = matches!(overflow, Overflow::DropOldest | Overflow::DropNewest);
                assert_eq!(bounds.drops(), drops);
                assert_eq!(bounds.permits(), kept + if drops { TRANSIT } else { 0 });
            }
        }
    }
}
