//! One lane: a bounded ring for one producer and one consumer, with a sequence number in each cell.
//!
//! The consumer finds a value with one line of the producer's, the cell itself, and writes nothing into it; it gives cells
//! back by a counter, in batches, of which the producer keeps a copy. Lamport's queue has the counters ("Specifying
//! Concurrent Program Modules", 1983), FastForward the mark in the cell (Giacomoni et al., 2008), MCRingBuffer the copies
//! and the batches (Lee et al., 2009).

use std::{mem::MaybeUninit, ptr};

use crossbeam_utils::CachePadded;

use crate::sync::{AtomicUsize, Fault, Ordering, UnsafeCell, planted};

/// A bounded single-producer, single-consumer queue.
pub(super) struct Lane<T> {
    cells: Box<[Cell<T>]>,
    producer: CachePadded<UnsafeCell<Producing>>,
    consumer: CachePadded<UnsafeCell<Consuming>>,
    /// How many values the consumer has read, told in batches.
    freed: CachePadded<AtomicUsize>,
}

/// The producer's own.
struct Producing {
    /// The next position to fill.
    tail: usize,
    /// The position that has no room, as far as it knows.
    limit: usize,
}

/// The consumer's own.
struct Consuming {
    /// The next position to read.
    head: usize,
    /// What `freed` says.
    told: usize,
}

/// One cell of one cache line, if the value has at most 56 bytes.
#[repr(C, align(64))]
struct Cell<T> {
    /// `position + 1` of the last value that was put here.
    sequence: AtomicUsize,
    value: UnsafeCell<MaybeUninit<T>>,
}

// SAFETY: a value is written by the producer, then published by the Release on `sequence`, and read once by the consumer
// after its Acquire; so values move between threads (`T: Send`) and are never shared. The halves in `producer` and
// `consumer` are touched through `unsafe` functions that name their one caller.
unsafe impl<T: Send> Send for Lane<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Lane<T> {}

impl<T> Lane<T> {
    /// A lane for `capacity` values, rounded up to a power of two.
    pub(super) fn new(capacity: usize) -> Self {
        let capacity = capacity.next_power_of_two();
        let cells = (0..capacity)
            .map(|_| Cell { sequence: AtomicUsize::new(0), value: UnsafeCell::new(MaybeUninit::uninit()) })
            .collect();
        Self {
            cells,
            producer: CachePadded::new(UnsafeCell::new(Producing { tail: 0, limit: capacity })),
            consumer: CachePadded::new(UnsafeCell::new(Consuming { head: 0, told: 0 })),
            freed: CachePadded::new(AtomicUsize::new(0)),
        }
    }

    /// Appends `value`, or gives it back when there is no room.
    ///
    /// # Safety
    ///
    /// Only one thread at a time pushes, and what one such thread did happens before the next one's call.
    #[inline]
    pub(super) unsafe fn push(&self, value: T) -> Result<(), T> {
        self.producer.with_mut(|own| {
            // SAFETY: the caller is the only producer, and nothing here comes back to this lane.
            let own = unsafe { &mut *own };
            if own.tail == own.limit {
                // Acquire: pairs with the Release in `tell`: our write into a cell comes after its reading.
                own.limit = self.freed.load(Ordering::Acquire).wrapping_add(self.cells.len());
                if own.tail == own.limit {
                    return Err(value);
                }
            }
            let cell = self.cell(own.tail);
            // SAFETY: below the limit, so the consumer is done with the cell; nobody else touches it until the store below.
            cell.value.with_mut(|slot| unsafe { (*slot).write(value) });
            own.tail = own.tail.wrapping_add(1);
            // Release: pairs with the Acquire in `pop` and `is_ready`.
            let publish = if planted(Fault::LanePublish) { Ordering::Relaxed } else { Ordering::Release };
            cell.sequence.store(own.tail, publish);
            Ok(())
        })
    }

    /// Takes the oldest value. When there is none, the producer is told of all the room.
    ///
    /// # Safety
    ///
    /// Only one thread at a time is the consumer, and what one such thread did happens before the next one's call.
    #[inline]
    pub(super) unsafe fn pop(&self) -> Option<T> {
        self.consumer.with_mut(|own| {
            // SAFETY: the caller is the only consumer, and nothing here comes back to this lane.
            let own = unsafe { &mut *own };
            let cell = self.cell(own.head);
            let next = own.head.wrapping_add(1);
            // Acquire: pairs with the Release in `push`.
            if cell.sequence.load(Ordering::Acquire) != next {
                if own.told != own.head {
                    self.tell(own);
                }
                return None;
            }
            // SAFETY: the sequence says that the producer has filled the cell; `head` moves on, so it is read once.
            let value = cell.value.with(|slot| unsafe { ptr::read(slot).assume_init() });
            own.head = next;
            if next.wrapping_sub(own.told) * 4 >= self.cells.len() {
                self.tell(own);
            }
            Some(value)
        })
    }

    /// Whether `pop` would return a value.
    ///
    /// # Safety
    ///
    /// As for [`pop`](Self::pop).
    #[inline]
    pub(super) unsafe fn is_ready(&self) -> bool {
        // SAFETY: the caller is the consumer, the only one that writes this.
        let head = self.consumer.with(|own| unsafe { (*own).head });
        self.cell(head).sequence.load(Ordering::Acquire) == head.wrapping_add(1)
    }

    #[cfg(loom)]
    pub(super) fn assert_unshared(&mut self) {
        self.producer.with_mut(|_| ());
        self.consumer.with_mut(|_| ());
        self.freed.with_mut(|_| ());
        for cell in &mut self.cells {
            cell.sequence.with_mut(|_| ());
        }
    }

    /// Gives all cells back that have been read.
    #[inline]
    fn tell(&self, own: &mut Consuming) {
        own.told = own.head;
        // Release: pairs with the Acquire in `push`.
        let free = if planted(Fault::LaneFree) { Ordering::Relaxed } else { Ordering::Release };
        self.freed.store(own.head, free);
    }

    #[inline]
    fn cell(&self, position: usize) -> &Cell<T> {
        &self.cells[position & (self.cells.len() - 1)]
    }
}

impl<T> Drop for Lane<T> {
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
