//! Who refers to a slot from outside: handles, which keep the actor going, and pins, which keep the slot from being
//! used again.

use std::sync::atomic::{AtomicU64, Ordering};

/// The two counts in one word, so that "nobody refers to it" is one reading.
#[derive(Debug, Default)]
pub(crate) struct Refs(AtomicU64);

/// What the release of a reference left behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "the shard must hear of the last one"]
pub(crate) enum Left {
    /// Others refer to the slot in the same way.
    Some,
    /// That was the last handle, or the last reference of all.
    None,
}

const HANDLE: u64 = 1;
const PIN: u64 = 1 << 32;
const HANDLES: u64 = PIN - 1;

impl Refs {
    /// One more handle, made from a handle (or by the shard itself).
    ///
    /// # Panics
    ///
    /// Aborts the process at 2^31 handles of one actor: only leaked handles get there, and a wrap would free the slot
    /// under them.
    #[inline]
    pub(crate) fn add_handle(&self) {
        // Relaxed, as for any count that is cloned from a live one.
        let before = self.0.fetch_add(HANDLE, Ordering::Relaxed);
        if before & HANDLES > u64::from(u32::MAX / 2) {
            std::process::abort();
        }
    }

    /// One more handle, made from a pin: only while another one exists.
    pub(crate) fn upgrade(&self) -> bool {
        // Acquire: as for `Weak::upgrade`; pairs with the Release in `drop_handle`.
        self.0
            .fetch_update(Ordering::Acquire, Ordering::Relaxed, |word| (word & HANDLES != 0).then_some(word + HANDLE))
            .is_ok()
    }

    /// One handle fewer.
    #[inline]
    pub(crate) fn drop_handle(&self) -> Left {
        // AcqRel: what was done through the handle happens before the shard acts on the last one's end.
        let before = self.0.fetch_sub(HANDLE, Ordering::AcqRel);
        if before & HANDLES == 1 { Left::None } else { Left::Some }
    }

    /// One more pin, made from a handle or a pin.
    pub(crate) fn add_pin(&self) {
        let before = self.0.fetch_add(PIN, Ordering::Relaxed);
        if before > u64::MAX / 2 {
            std::process::abort();
        }
    }

    /// One pin fewer.
    pub(crate) fn drop_pin(&self) -> Left {
        let before = self.0.fetch_sub(PIN, Ordering::AcqRel);
        if before == PIN { Left::None } else { Left::Some }
    }

    /// Whether a handle exists.
    pub(crate) fn has_handles(&self) -> bool {
        self.0.load(Ordering::Acquire) & HANDLES != 0
    }

    /// Whether anything refers to the slot.
    pub(crate) fn is_referenced(&self) -> bool {
        self.0.load(Ordering::Acquire) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_and_pins_are_counted_apart() {
        let refs = Refs::default();
        assert!(!refs.upgrade());
        refs.add_handle();
        refs.add_pin();
        assert!(refs.upgrade());
        assert_eq!(refs.drop_handle(), Left::Some);
        assert_eq!(refs.drop_handle(), Left::None);
        assert!(!refs.has_handles() && refs.is_referenced() && !refs.upgrade());
        assert_eq!(refs.drop_pin(), Left::None);
        assert!(!refs.is_referenced());
    }
}
