//! A bounded ring for many producers and one consumer, with a sequence number in each cell.
//!
//! The design is Dmitry Vyukov's bounded queue (1024cores, "Bounded MPMC queue"), with the consumer's half reduced to
//! one thread. `README.md` in this folder has the ordering argument; `models.rs` checks it with loom.

use std::{mem::MaybeUninit, ptr};

use crossbeam_utils::CachePadded;

use super::{Mark, Producer, Ready, Ring};
use crate::sync::{AtomicUsize, Fault, Ordering, UnsafeCell, planted};

/// A bounded multi-producer, single-consumer queue, for as many values as asked for, rounded up to a power of two and to 2
/// at the least (with one cell a full and a free cell would carry the same sequence number). First in, first out, over all
/// producers.
///
/// `pop` may return `None` while later cells are full: the producer of the first one has claimed it and not yet published.
pub struct VyukovRing<T> {
    cells: Box<[Cell<T>]>,
    /// The next position to claim. Producers only.
    tail: CachePadded<AtomicUsize>,
    /// The next position to read. The consumer stores; others only ever ask for statistics.
    head: CachePadded<AtomicUsize>,
}

/// One cell: as wide as a cache line, so that two producers never share one.
#[repr(C, align(64))]
struct Cell<T> {
    /// `position` when free for the claim of `position`, `position + 1` when it holds that claim's value.
    sequence: AtomicUsize,
    value: UnsafeCell<MaybeUninit<T>>,
}

// SAFETY: a cell's value is written only by the producer that claimed its position and read only by the consumer after
// the Release/Acquire pair on `sequence`; so values move between threads (`T: Send`) and are never shared.
unsafe impl<T: Send> Send for VyukovRing<T> {}
// SAFETY: as above; the consumer's half is `unsafe` and names its own condition.
unsafe impl<T: Send> Sync for VyukovRing<T> {}

impl<T> VyukovRing<T> {
    /// # Safety
    ///
    /// As for [`Ring::pop`].
    #[inline]
    unsafe fn take(&self) -> Option<T> {
        let position = self.head.load(Ordering::Relaxed);
        let cell = self.cell(position);
        // Acquire: pairs with the Release in `push`.
        if cell.sequence.load(Ordering::Acquire) != position.wrapping_add(1) {
            return None;
        }
        // SAFETY: the sequence says that the producer of `position` has published and gone; the caller is the only
        // consumer, so the value is read exactly once.
        let value = cell.value.with(|slot| unsafe { ptr::read(slot).assume_init() });
        // Release: pairs with the Acquire in `push` of the producer that claims the cell one lap later.
        let free = if planted(Fault::RingFree) { Ordering::Relaxed } else { Ordering::Release };
        cell.sequence.store(position.wrapping_add(self.cells.len()), free);
        self.head.store(position.wrapping_add(1), Ordering::Relaxed);
        Some(value)
    }

    #[cfg(loom)]
    fn check_unshared(&mut self) {
        self.tail.with_mut(|_| ());
        self.head.with_mut(|_| ());
        for cell in &mut self.cells {
            cell.sequence.with_mut(|_| ());
        }
    }

    #[inline]
    fn cell(&self, position: usize) -> &Cell<T> {
        &self.cells[position & (self.cells.len() - 1)]
    }
}

impl<T: Send> Ring<T> for VyukovRing<T> {
    fn new(capacity: usize) -> Self {
        let capacity = capacity.max(2).next_power_of_two();
        let cells = (0..capacity)
            .map(|position| Cell {
                sequence: AtomicUsize::new(position),
                value: UnsafeCell::new(MaybeUninit::uninit()),
            })
            .collect();
        Self { cells, tail: CachePadded::new(AtomicUsize::new(0)), head: CachePadded::new(AtomicUsize::new(0)) }
    }

    #[inline]
    unsafe fn push(&self, _: &Ready, _: Producer, value: T) -> Result<Mark, T> {
        let mut position = self.tail.load(Ordering::Relaxed);
        loop {
            let cell = self.cell(position);
            // Acquire: pairs with the Release in `take` that freed the cell, so that our write comes after its read.
            let sequence = cell.sequence.load(Ordering::Acquire);
            match sequence.wrapping_sub(position).cast_signed() {
                0 => {
                    // Relaxed: the claim orders nothing; the cell's own sequence does.
                    match self.tail.compare_exchange_weak(
                        position,
                        position.wrapping_add(1),
                        Ordering::Relaxed,
                        Ordering::Relaxed,
                    ) {
                        Ok(_) => {
                            // SAFETY: the successful CAS makes this thread the only one with `position`, and the
                            // sequence said that the consumer is done with the cell; nobody else touches it until the
                            // store below.
                            cell.value.with_mut(|slot| unsafe { (*slot).write(value) });
                            // Release: pairs with the Acquire in `take` and `is_ready`.
                            let publish =
                                if planted(Fault::RingPublish) { Ordering::Relaxed } else { Ordering::Release };
                            cell.sequence.store(position.wrapping_add(1), publish);
                            return Ok(Mark::NONE);
                        }
                        Err(now) => position = now,
                    }
                }
                // The cell still holds the value of one lap ago: full, unless `tail` moved on meanwhile.
                behind if behind < 0 => {
                    let now = self.tail.load(Ordering::Relaxed);
                    if now == position {
                        return Err(value);
                    }
                    position = now;
                }
                _ => position = self.tail.load(Ordering::Relaxed),
            }
        }
    }

    #[inline]
    unsafe fn pop(&self, _: &Ready) -> Option<T> {
        // SAFETY: the caller's.
        unsafe { self.take() }
    }

    #[inline]
    unsafe fn is_ready(&self, _: &Ready) -> bool {
        let position = self.head.load(Ordering::Relaxed);
        self.cell(position).sequence.load(Ordering::Acquire) == position.wrapping_add(1)
    }

    /// A claim that is not yet published counts as one that is.
    unsafe fn is_drained(&self) -> bool {
        // Acquire would add nothing: the caller decides only whether to look elsewhere first.
        self.tail.load(Ordering::Relaxed) == self.head.load(Ordering::Relaxed)
    }

    #[cfg(loom)]
    fn assert_unshared(&mut self) {
        self.check_unshared();
    }
}

impl<T> Drop for VyukovRing<T> {
    fn drop(&mut self) {
        #[cfg(loom)]
        if std::thread::panicking() {
            return;
        } else {
            self.check_unshared();
        }
        // SAFETY: `&mut self` proves that no producer and no other consumer is left.
        while let Some(value) = unsafe { self.take() } {
            drop(value);
        }
    }
}
