//! A bounded ring for many producers and one consumer, with a sequence number in each cell.
//!
//! The design is Dmitry Vyukov's bounded queue (1024cores, "Bounded MPMC queue"), with the consumer's half reduced to
//! one thread. `README.md` in this folder has the ordering argument; `models` below checks it with loom.

use std::{mem::MaybeUninit, ptr};

use crossbeam_utils::CachePadded;

use crate::sync::{AtomicUsize, Fault, Ordering, UnsafeCell, planted};

/// A bounded multi-producer, single-consumer queue.
///
/// # Ordering contract
///
/// * What a producer wrote before [`push`](Self::push) is visible to the consumer after the [`pop`](Self::pop) that
///   returns the value.
/// * Values come out in the order in which their cells were claimed; so one producer's values keep their order.
/// * `pop` may return `None` while later cells are full: the producer of the first one has claimed it and not yet
///   published. That producer must ring the consumer's doorbell after its push, whatever others saw.
pub(crate) struct Ring<T> {
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
unsafe impl<T: Send> Send for Ring<T> {}
// SAFETY: as above; the consumer's half is `unsafe` and names its own condition.
unsafe impl<T: Send> Sync for Ring<T> {}

impl<T> Ring<T> {
    /// A ring for at least `capacity` values: rounded up to a power of two, and to 2 at the least (with one cell a
    /// full and a free cell would carry the same sequence number).
    pub(crate) fn new(capacity: usize) -> Self {
        let capacity = capacity.max(2).next_power_of_two();
        let cells = (0..capacity)
            .map(|position| Cell {
                sequence: AtomicUsize::new(position),
                value: UnsafeCell::new(MaybeUninit::uninit()),
            })
            .collect();
        Self { cells, tail: CachePadded::new(AtomicUsize::new(0)), head: CachePadded::new(AtomicUsize::new(0)) }
    }

    /// Appends `value`, or gives it back when there is no room. Never waits.
    #[inline]
    pub(crate) fn push(&self, value: T) -> Result<(), T> {
        let mut position = self.tail.load(Ordering::Relaxed);
        loop {
            let cell = self.cell(position);
            // Acquire: pairs with the Release in `pop` that freed the cell, so that our write comes after its read.
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
                            // Release: pairs with the Acquire in `pop` and `is_ready`.
                            let publish =
                                if planted(Fault::RingPublish) { Ordering::Relaxed } else { Ordering::Release };
                            cell.sequence.store(position.wrapping_add(1), publish);
                            return Ok(());
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

    /// Takes the oldest value, if it is published.
    ///
    /// # Safety
    ///
    /// Only one thread at a time may be in `pop`, and what one such thread did must happen before the next one's call.
    #[inline]
    pub(crate) unsafe fn pop(&self) -> Option<T> {
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

    /// Whether `pop` would return a value now. For the consumer's second look before it sleeps.
    #[inline]
    pub(crate) fn is_ready(&self) -> bool {
        let position = self.head.load(Ordering::Relaxed);
        self.cell(position).sequence.load(Ordering::Acquire) == position.wrapping_add(1)
    }

    /// Whether no cell is claimed: nothing is in the ring, published or about to be. Exact only for the consumer.
    pub(crate) fn is_drained(&self) -> bool {
        // Acquire would add nothing: the caller decides only whether to look elsewhere first.
        self.tail.load(Ordering::Relaxed) == self.head.load(Ordering::Relaxed)
    }

    /// Panics in a model if another thread's use of the ring does not happen before this.
    #[cfg(loom)]
    pub(crate) fn assert_unshared(&mut self) {
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

impl<T> Drop for Ring<T> {
    fn drop(&mut self) {
        #[cfg(loom)]
        if std::thread::panicking() {
            return;
        } else {
            self.assert_unshared();
        }
        // SAFETY: `&mut self` proves that no producer and no other consumer is left.
        while let Some(value) = unsafe { self.pop() } {
            drop(value);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn gives_back_what_has_no_room_at_every_capacity() {
        for capacity in [1, 2, 3, 64, 1024] {
            let ring = Ring::new(capacity);
            let room = capacity.max(2).next_power_of_two();
            for lap in 0..3 {
                for i in 0..room {
                    assert_eq!(ring.push(lap * room + i), Ok(()));
                }
                assert_eq!(ring.push(usize::MAX), Err(usize::MAX), "capacity {capacity}");
                for i in 0..room {
                    // SAFETY: this thread is the only consumer.
                    assert_eq!(unsafe { ring.pop() }, Some(lap * room + i));
                }
                // SAFETY: as above.
                assert_eq!(unsafe { ring.pop() }, None);
                assert!(ring.is_drained());
            }
        }
    }

    #[test]
    fn each_value_left_in_a_dropped_ring_is_dropped_once() {
        let value = Arc::new(());
        let ring = Ring::new(8);
        for _ in 0..5 {
            assert!(ring.push(value.clone()).is_ok());
        }
        drop(ring);
        assert_eq!(Arc::strong_count(&value), 1);
    }

    #[test]
    fn producers_keep_their_order_and_nothing_is_lost() {
        const EACH: usize = 50_000;
        for capacity in [1, 2, 64] {
            let ring = Arc::new(Ring::new(capacity));
            let producers: Vec<_> = (0..4)
                .map(|producer| {
                    let ring = ring.clone();
                    std::thread::spawn(move || {
                        for i in 0..EACH {
                            let mut value = (producer, i);
                            while let Err(back) = ring.push(value) {
                                value = back;
                                std::thread::yield_now();
                            }
                        }
                    })
                })
                .collect();
            let mut next = [0; 4];
            while next != [EACH; 4] {
                // SAFETY: this thread is the only consumer.
                match unsafe { ring.pop() } {
                    Some((producer, i)) => {
                        assert_eq!(next[producer], i);
                        next[producer] += 1;
                    }
                    None => std::thread::yield_now(),
                }
            }
            for producer in producers {
                producer.join().expect("producer");
            }
            assert!(ring.is_drained());
        }
    }
}
