//! A lane for each producing shard, made when it first pushes, and one more for everybody else.

use std::{array, ptr};

use crossbeam_utils::CachePadded;

use super::{Mark, Producer, Ready, Ring, lane::Lane, vyukov::VyukovRing};
#[cfg(not(loom))]
use crate::id::MAX_PORTS;
use crate::sync::{AtomicPtr, AtomicU8, AtomicUsize, Fault, Ordering, UnsafeCell, fence, planted};

/// Lanes for one shard each. A model has one.
#[cfg(not(loom))]
pub(super) const OWN_LANES: usize = 63;
#[cfg(loom)]
pub(super) const OWN_LANES: usize = 1;

#[cfg(loom)]
const MAX_PORTS: usize = 2;

/// The number of the lane that everybody else shares.
const SHARED: u32 = OWN_LANES as u32;

/// No lane has been looked for.
const UNKNOWN: u8 = u8::MAX;

/// Values that one lane gives before the next has its turn.
const BURST: u32 = 32;

/// After how many looks in a row that find a lane empty the consumer stops looking. A producer that finds its bit clear
/// pays for setting it; the consumer pays a few instructions for a look.
#[cfg(not(loom))]
const PATIENCE: u8 = 16;
#[cfg(loom)]
const PATIENCE: u8 = 1;

/// A bounded queue with a lane for each producing shard. A lane has room for half the capacity, rounded up to a power of
/// two; the shared lane is a [`VyukovRing`] of the whole. First in, first out, for each producer.
///
/// The first 63 shards that push get lanes of their own; further shards, and all threads that are no shard, share one.
pub struct LanesRing<T> {
    /// The lane of each port: each entry is written by the port's holder, when it first pushes.
    lane_of: Box<[AtomicU8]>,
    /// The lanes, null until made.
    lanes: [AtomicPtr<Lane<T>>; OWN_LANES],
    /// How many ports have asked for a lane of their own.
    claimed: AtomicUsize,
    lane_capacity: usize,
    shared: VyukovRing<T>,
    scan: CachePadded<UnsafeCell<Scan>>,
}

/// Where the consumer is.
struct Scan {
    /// The lane that gave the last value.
    lane: u32,
    /// How many more it may give before the others are looked at.
    left: u32,
    /// How many looks in a row have found each lane empty.
    empty: [u8; OWN_LANES + 1],
}

// SAFETY: the lanes are `Send` and `Sync` if `T: Send`; `scan` is touched by the consumer's functions alone, which are
// `unsafe` and name their one caller.
unsafe impl<T: Send> Send for LanesRing<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for LanesRing<T> {}

impl<T: Send> LanesRing<T> {
    /// The bytes that a ring takes when `producers` shards have pushed, the allocator's own apart.
    #[cfg(all(test, not(loom)))]
    pub(super) fn size(capacity: usize, producers: usize) -> usize {
        let lane = size_of::<Lane<T>>() + capacity.div_ceil(2).next_power_of_two() * 64;
        let shared = capacity.max(2).next_power_of_two() * 64;
        size_of::<Self>() + MAX_PORTS + shared + producers.min(OWN_LANES) * lane
    }

    /// How many lanes have been made.
    #[cfg(all(test, not(loom)))]
    pub(super) fn lanes(&self) -> usize {
        self.lanes.iter().filter(|lane| !lane.load(Ordering::Relaxed).is_null()).count()
    }

    #[inline]
    fn lane(&self, number: u32) -> Option<&Lane<T>> {
        // Acquire: pairs with the Release in `find_lane`.
        let lane = self.lanes.get(number as usize)?.load(Ordering::Acquire);
        // SAFETY: null, or made by `find_lane` and freed by our drop.
        unsafe { lane.as_ref() }
    }

    /// The first push of a port.
    #[cold]
    fn find_lane(&self, port: u16) -> u32 {
        let number = self.claimed.fetch_add(1, Ordering::Relaxed);
        let number = if let Some(place) = self.lanes.get(number) {
            // Release: pairs with the Acquire in `lane`.
            place.store(Box::into_raw(Box::new(Lane::new(self.lane_capacity))), Ordering::Release);
            number as u32
        } else {
            SHARED
        };
        // Relaxed: read by this port's holders alone, one after the other.
        self.lane_of[usize::from(port)].store(number as u8, Ordering::Relaxed);
        number
    }

    /// # Safety
    ///
    /// As for [`Ring::pop`].
    #[inline]
    unsafe fn pop_lane(&self, ready: &Ready, number: u32) -> Option<T> {
        if number == SHARED {
            // SAFETY: the caller is the consumer.
            unsafe { self.shared.pop(ready) }
        } else {
            // SAFETY: the caller is the consumer.
            self.lane(number).and_then(|lane| unsafe { lane.pop() })
        }
    }

    /// # Safety
    ///
    /// As for [`Ring::pop`].
    #[inline]
    unsafe fn is_lane_ready(&self, ready: &Ready, number: u32) -> bool {
        if number == SHARED {
            // SAFETY: the caller is the consumer.
            unsafe { self.shared.is_ready(ready) }
        } else {
            // SAFETY: the caller is the consumer.
            self.lane(number).is_some_and(|lane| unsafe { lane.is_ready() })
        }
    }

    /// Looks at all lanes that are marked, those after the last one first.
    ///
    /// # Safety
    ///
    /// As for [`Ring::pop`].
    unsafe fn pop_next(&self, ready: &Ready, scan: &mut Scan) -> Option<T> {
        scan.left = 0;
        let first = (scan.lane + 1) % u64::BITS;
        let mut marked = ready.lanes().rotate_right(first);
        while marked != 0 {
            let number = (first + marked.trailing_zeros()) % u64::BITS;
            marked &= marked - 1;
            // SAFETY: the caller's.
            if let Some(value) = unsafe { self.pop_or_clear(ready, scan, number) } {
                scan.lane = number;
                scan.left = BURST - 1;
                scan.empty[number as usize] = 0;
                return Some(value);
            }
        }
        None
    }

    /// Pops from a lane, and stops looking at one that has been empty for long.
    ///
    /// # Safety
    ///
    /// As for [`Ring::pop`].
    #[inline]
    unsafe fn pop_or_clear(&self, ready: &Ready, scan: &mut Scan, number: u32) -> Option<T> {
        // SAFETY: the caller's.
        let found = unsafe { self.pop_lane(ready, number) };
        if found.is_none() {
            // A mark of an earlier ring at the same port may name a lane that this one does not have.
            let empty = &mut scan.empty[(number.min(SHARED)) as usize];
            *empty += 1;
            if *empty >= PATIENCE {
                *empty = 0;
                // SAFETY: the caller's.
                return unsafe { self.clear(ready, number) };
            }
        }
        found
    }

    /// Stops looking at a lane, unless there is something after all.
    ///
    /// # Safety
    ///
    /// As for [`Ring::pop`].
    #[cold]
    unsafe fn clear(&self, ready: &Ready, number: u32) -> Option<T> {
        ready.clear(Mark::of(number));
        // SeqCst: pairs with the fence in `Ready::settle`. Either the producer finds its bit clear, or we find what it
        // pushed.
        fence(Ordering::SeqCst);
        if planted(Fault::ReadyClear) {
            return None;
        }
        // SAFETY: the caller's.
        let found = unsafe { self.pop_lane(ready, number) };
        if found.is_some() {
            ready.set(Mark::of(number));
        }
        found
    }
}

impl<T: Send> Ring<T> for LanesRing<T> {
    fn new(capacity: usize) -> Self {
        Self {
            lane_of: (0..MAX_PORTS).map(|_| AtomicU8::new(UNKNOWN)).collect(),
            lanes: array::from_fn(|_| AtomicPtr::new(ptr::null_mut())),
            claimed: AtomicUsize::new(0),
            lane_capacity: capacity.div_ceil(2),
            shared: VyukovRing::new(capacity),
            scan: CachePadded::new(UnsafeCell::new(Scan { lane: 0, left: 0, empty: [0; OWN_LANES + 1] })),
        }
    }

    #[inline]
    unsafe fn push(&self, ready: &Ready, from: Producer, value: T) -> Result<Mark, T> {
        let number = match from {
            Producer::Shard(port) => match self.lane_of[usize::from(port)].load(Ordering::Relaxed) {
                UNKNOWN => self.find_lane(port),
                number => u32::from(number),
            },
            Producer::Outside => SHARED,
        };
        match self.lane(number) {
            // SAFETY: a lane has one port, and the caller is the one thread that pushes as that.
            Some(lane) => unsafe { lane.push(value) }?,
            // SAFETY: any thread may.
            None => _ = unsafe { self.shared.push(ready, from, value) }?,
        }
        let mark = Mark::of(number);
        ready.announce(mark);
        Ok(mark)
    }

    #[inline]
    unsafe fn pop(&self, ready: &Ready) -> Option<T> {
        self.scan.with_mut(|scan| {
            // SAFETY: the caller is the only consumer, and nothing here comes back to this ring.
            let scan = unsafe { &mut *scan };
            if scan.left > 0
                // SAFETY: the caller's.
                && let Some(value) = unsafe { self.pop_lane(ready, scan.lane) }
            {
                scan.left -= 1;
                return Some(value);
            }
            // SAFETY: the caller's.
            unsafe { self.pop_next(ready, scan) }
        })
    }

    unsafe fn is_ready(&self, ready: &Ready) -> bool {
        let mut marked = ready.lanes();
        while marked != 0 {
            // SAFETY: the caller's.
            if unsafe { self.is_lane_ready(ready, marked.trailing_zeros()) } {
                return true;
            }
            marked &= marked - 1;
        }
        false
    }

    unsafe fn is_drained(&self) -> bool {
        // All lanes, marked or not: a mark may be on its way. A push that happens before this call happens after the making
        // of its lane, so no lane that matters is missed.
        self.lanes.iter().enumerate().all(|(number, _)| {
            // SAFETY: the caller's.
            self.lane(number as u32).is_none_or(|lane| unsafe { !lane.is_ready() })
        }) && {
            // SAFETY: the caller's.
            unsafe { self.shared.is_drained() }
        }
    }

    #[cfg(loom)]
    fn assert_unshared(&mut self) {
        self.claimed.with_mut(|_| ());
        self.scan.with_mut(|_| ());
        for lane in &mut self.lanes {
            lane.with_mut(|lane| {
                // SAFETY: null, or a lane that our drop has not freed yet.
                if let Some(lane) = unsafe { lane.as_mut() } {
                    lane.assert_unshared();
                }
            });
        }
        Ring::<T>::assert_unshared(&mut self.shared);
    }
}

impl<T> Drop for LanesRing<T> {
    fn drop(&mut self) {
        for lane in &self.lanes {
            // Relaxed: `&mut self` proves that no producer is left.
            let lane = lane.load(Ordering::Relaxed);
            if !lane.is_null() {
                // SAFETY: made by `find_lane`, freed here only.
                drop(unsafe { Box::from_raw(lane) });
            }
        }
    }
}
