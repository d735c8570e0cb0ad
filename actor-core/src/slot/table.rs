//! A port's slots: segments that double in size, never move and are never freed.

use std::{
    cell::Cell,
    ptr,
    sync::atomic::{AtomicPtr, Ordering},
};

use super::{Port, Slot};
use crate::id::MAX_SLOTS;

/// The table. Any thread looks up; the port's holder adds and reuses.
pub(crate) struct Table {
    segments: [AtomicPtr<Slot>; SEGMENTS],
    free: Cell<Option<&'static Slot>>,
    /// Slots handed out at least once.
    used: Cell<u32>,
}

const FIRST_BITS: u32 = 6;
const SEGMENTS: usize = (crate::id::SLOT_BITS - FIRST_BITS + 1) as usize;

impl Table {
    pub(crate) fn new() -> Self {
        Self {
            segments: [const { AtomicPtr::new(ptr::null_mut()) }; SEGMENTS],
            free: Cell::new(None),
            used: Cell::new(0),
        }
    }

    /// The slot with this number, if the table has ever had one.
    #[inline]
    pub(crate) fn get(&self, index: u32) -> Option<&'static Slot> {
        let (segment, offset) = locate(index);
        // Acquire: pairs with the Release in `take`.
        let first = self.segments.get(segment)?.load(Ordering::Acquire);
        if first.is_null() {
            return None;
        }
        // SAFETY: a segment is leaked whole, fully initialised before it is published, and holds `segment_len` slots,
        // of which `locate` names one.
        Some(unsafe { &*first.add(offset) })
    }

    /// A vacant slot; `None` when all [`MAX_SLOTS`] are taken. The holder's.
    pub(crate) fn take(&self, port: &'static Port) -> Option<&'static Slot> {
        if let Some(slot) = self.free.get() {
            self.free.set(slot.own.next_free.take());
            return Some(slot);
        }
        let index = self.used.get();
        if index == MAX_SLOTS {
            return None;
        }
        let (segment, offset) = locate(index);
        if offset == 0 {
            let slots: Vec<Slot> = (index..index + segment_len(segment)).map(|index| Slot::new(port, index)).collect();
            self.segments[segment].store(Box::leak(slots.into_boxed_slice()).as_mut_ptr(), Ordering::Release);
        }
        self.used.set(index + 1);
        self.get(index)
    }

    /// Returns a vacated slot. The holder's.
    pub(crate) fn give_back(&self, slot: &'static Slot) {
        slot.own.next_free.set(self.free.replace(Some(slot)));
    }

    /// All slots that have ever been handed out. The holder's.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &'static Slot> + '_ {
        (0..self.used.get()).filter_map(|index| self.get(index))
    }
}

/// Segment `k` holds the numbers from `64 * (2^k - 1)` on, `64 * 2^k` of them.
fn locate(index: u32) -> (usize, usize) {
    let shifted = index + (1 << FIRST_BITS);
    let segment = shifted.ilog2() - FIRST_BITS;
    (segment as usize, (shifted - (1 << (segment + FIRST_BITS))) as usize)
}

const fn segment_len(segment: usize) -> u32 {
    1 << (segment as u32 + FIRST_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_one_place() {
        let mut expected = (0, 0);
        for index in 0..100_000 {
            assert_eq!(locate(index), expected);
            expected.1 += 1;
            if expected.1 == segment_len(expected.0) as usize {
                expected = (expected.0 + 1, 0);
            }
        }
        assert!(locate(MAX_SLOTS - 1).0 < SEGMENTS);
    }
}
