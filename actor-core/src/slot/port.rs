//! Ports: where threads reach a shard. Process-wide, append-only, immortal, used again by one shard after another.
//!
//! A waker or a handle may outlive its runtime by any time. What it touches therefore is never unmapped: a port and
//! its slots stay, and the generation of the slot, or the epoch of the port, says that the shard it meant is gone.

use std::{
    collections::VecDeque,
    fmt,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering},
    },
};

use crossbeam_utils::CachePadded;

use super::{Slot, Table};
use crate::{
    envelope::{AskHead, Asked, Envelope},
    id::MAX_PORTS,
    life::panic::capture,
    mailbox::{EngineRing, Mark, Producer, Ready, Ring, Spill},
    port::Nanos,
    shard::Request,
    wake::{Doorbell, Stack, Taken},
};

/// What threads share with one shard.
pub(crate) struct Port {
    number: u16,
    /// Counts the domains that have held this port. Even: free; odd: held.
    epoch: AtomicU32,
    pub(crate) doorbell: CachePadded<Doorbell>,
    /// Rings by threads that execute no shard, and for requests, that woke this lease's shard.
    outside_rings: AtomicU64,
    /// When a shard last woke this one; 0 if that is unknown, or known to the woken.
    rung_at: AtomicU64,
    /// Slots that other threads have left signals for.
    pub(crate) signals: CachePadded<Stack<Slot>>,
    /// Answers for tasks of the shard. Closed while nobody holds the port.
    pub(crate) replies: CachePadded<Stack<AskHead>>,
    /// What other threads ask of the shard itself.
    requests: Mutex<Requests>,
    has_requests: AtomicBool,
    /// The holder's ring. Valid while a permit of one of its slots is out, or the port is held.
    ring: AtomicPtr<EngineRing<Envelope>>,
    /// Which lanes of the ring to look at.
    pub(crate) ready: CachePadded<Ready>,
    /// Messages that were admitted when the ring had no room.
    spill: Spill<Envelope>,
    /// The default time that an ask may take, in nanoseconds; `u64::MAX` for none.
    pub(crate) ask_timeout: AtomicU64,
    /// The shard's number in its runtime.
    pub(crate) shard: AtomicU32,
    /// Actors on the shard, as of its last turn. On a line of its own: the owner writes it, and all senders read what is
    /// above.
    load: CachePadded<AtomicU64>,
    pub(crate) table: Table,
}

#[derive(Default)]
struct Requests {
    open: bool,
    queue: VecDeque<Request>,
}

// SAFETY: `table` has owner-only cells, touched by the holder of the `Lease` alone; the rest is thread-safe.
unsafe impl Sync for Port {}
// SAFETY: as above; leases are handed on under `FREE`'s lock.
unsafe impl Send for Port {}

static PORTS: [AtomicPtr<Port>; MAX_PORTS] = [const { AtomicPtr::new(std::ptr::null_mut()) }; MAX_PORTS];

/// Ports that nobody holds, and how many exist.
static FREE: Mutex<(Vec<u16>, u16)> = Mutex::new((Vec::new(), 0));

/// The port with this number, if there has ever been one.
#[inline]
pub(crate) fn port(number: u16) -> Option<&'static Port> {
    // Acquire: pairs with the Release in `Lease::take`.
    let port = PORTS.get(number as usize)?.load(Ordering::Acquire);
    // SAFETY: ports are leaked, and initialised before they are published.
    unsafe { port.as_ref() }
}

/// The right to be a port's shard. Given back by [`Lease::end`].
pub(crate) struct Lease {
    port: &'static Port,
    epoch: u32,
    ring: *mut EngineRing<Envelope>,
}

// SAFETY: the lease is the exclusive right to the port's owner-only parts and owns the ring; both may change threads
// with it.
unsafe impl Send for Lease {}

/// All ports are held.
#[derive(Debug)]
pub(crate) struct PortsExhausted;

impl Lease {
    /// Takes a port and gives it a ring of `ring_capacity`.
    pub(crate) fn take(ring_capacity: usize) -> Result<Self, PortsExhausted> {
        let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
        let number = match free.0.pop() {
            Some(number) => number,
            None if usize::from(free.1) < MAX_PORTS => {
                let number = free.1;
                let port = Box::leak(Box::new(Port::new(number)));
                PORTS[number as usize].store(port, Ordering::Release);
                free.1 += 1;
                number
            }
            None => return Err(PortsExhausted),
        };
        drop(free);
        let port = port(number).expect("just made, or made before it was free");
        let ring = Box::into_raw(Box::new(EngineRing::new(ring_capacity)));
        port.ready.reset();
        // Release: pairs with the Acquire in `push`; a permit was granted after it in any case.
        port.ring.store(ring, Ordering::Release);
        port.outside_rings.store(0, Ordering::Relaxed);
        port.lock_requests().open = true;
        port.replies.open();
        let epoch = port.epoch.fetch_add(1, Ordering::AcqRel) + 1;
        Ok(Self { port, epoch, ring })
    }

    pub(crate) fn port(&self) -> &'static Port {
        self.port
    }

    pub(crate) fn epoch(&self) -> u32 {
        self.epoch
    }

    #[inline]
    fn ring(&self) -> &EngineRing<Envelope> {
        // SAFETY: owned by this lease until `end`.
        unsafe { &*self.ring }
    }

    /// The next message in the ring.
    ///
    /// # Safety
    ///
    /// Only one thread at a time looks for messages, as everywhere below: the one that the lease's domain is bound to.
    #[inline]
    pub(crate) unsafe fn pop(&self) -> Option<Envelope> {
        // SAFETY: the caller's.
        unsafe { self.ring().pop(&self.port.ready) }
    }

    /// What waits beside the ring, if nothing in it is older.
    ///
    /// # Safety
    ///
    /// As for [`pop`](Self::pop).
    pub(crate) unsafe fn take_spill(&self) -> VecDeque<Envelope> {
        // SAFETY: the caller's.
        unsafe { self.port.spill.take(self.ring()) }
    }

    /// Whether `pop` or `take_spill` would find something.
    ///
    /// # Safety
    ///
    /// As for [`pop`](Self::pop).
    #[inline]
    pub(crate) unsafe fn has_messages(&self) -> bool {
        // SAFETY: the caller's.
        unsafe { self.ring().is_ready(&self.port.ready) || self.port.spill.is_ready(self.ring()) }
    }

    /// Refuses requests from now on and returns those that wait.
    pub(crate) fn close_requests(&self) -> VecDeque<Request> {
        let mut requests = self.port.lock_requests();
        requests.open = false;
        self.port.has_requests.store(false, Ordering::Relaxed);
        std::mem::take(&mut requests.queue)
    }

    /// Refuses answers from now on, and completes those that are there: their askers may have left the shard.
    pub(crate) fn close_replies(&self) {
        complete(self.port.replies.close());
    }

    /// Ends the lease.
    ///
    /// # Safety
    ///
    /// No permit of any of the port's slots is out, so no thread is about to push.
    pub(crate) unsafe fn end(self) {
        self.port.doorbell.close();
        self.port.ring.store(std::ptr::null_mut(), Ordering::Release);
        // SAFETY: made by `take`; the caller's promise says that no other thread reaches it.
        drop(unsafe { Box::from_raw(self.ring) });
        self.port.epoch.fetch_add(1, Ordering::AcqRel);
        FREE.lock().unwrap_or_else(PoisonError::into_inner).0.push(self.port.number);
    }
}

impl Port {
    fn new(number: u16) -> Self {
        Self {
            number,
            epoch: AtomicU32::new(0),
            doorbell: CachePadded::new(Doorbell::new()),
            outside_rings: AtomicU64::new(0),
            rung_at: AtomicU64::new(0),
            signals: CachePadded::new(Stack::new()),
            replies: CachePadded::new(Stack::new()),
            requests: Mutex::default(),
            has_requests: AtomicBool::new(false),
            ring: AtomicPtr::default(),
            ready: CachePadded::new(Ready::new()),
            spill: Spill::new(),
            ask_timeout: AtomicU64::new(u64::MAX),
            shard: AtomicU32::new(0),
            load: CachePadded::new(AtomicU64::new(0)),
            table: Table::new(),
        }
    }

    pub(crate) const fn number(&self) -> u16 {
        self.number
    }

    /// Which of the domains that have held this port holds it, or held it last.
    pub(crate) fn epoch(&self) -> u32 {
        self.epoch.load(Ordering::Acquire)
    }

    /// Puts an admitted message on its way; the caller then settles the mark and looks at the doorbell. Never waits for
    /// room.
    ///
    /// # Safety
    ///
    /// The caller holds a permit of the slot that the message is for, which is a slot of this port; and executes the shard
    /// that `from` names, if it names one.
    #[inline]
    pub(crate) unsafe fn push(&self, from: Producer, envelope: Envelope) -> Mark {
        // SAFETY: the permit keeps the domain from ending, so the ring is there.
        let ring = unsafe { &*self.ring.load(Ordering::Acquire) };
        // SAFETY: a shard is executed by one thread at a time; leases, and domains that change threads, hand on what was
        // done before.
        unsafe { self.spill.push(ring, &self.ready, from, envelope) }
    }

    /// How many actors the shard has, as of its last turn.
    pub(crate) fn load(&self) -> u64 {
        self.load.load(Ordering::Relaxed)
    }

    /// Says how many actors the shard has. The holder's.
    #[inline]
    pub(crate) fn set_load(&self, actors: u64) {
        if self.load() != actors {
            self.load.store(actors, Ordering::Relaxed);
        }
    }

    /// Makes what this thread has left here visible, messages with this mark among it, and wakes the shard if it sleeps.
    /// For a thread that executes no shard.
    #[inline]
    pub(crate) fn ring_from_outside(&self, mark: Mark) {
        self.ready.settle(mark);
        if self.doorbell.ring_after_fence() {
            // A sleeper's wake costs a system call; this is nothing beside it.
            self.outside_rings.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A shard is about to wake this one. Relaxed: the notice that follows goes through the kernel; at worst the woken
    /// misses one.
    pub(crate) fn set_rung_at(&self, now: Nanos) {
        self.rung_at.store(now.0, Ordering::Relaxed);
    }

    /// When a shard woke this one, if one did and it has not been asked for. The holder's.
    pub(crate) fn take_rung_at(&self) -> Option<Nanos> {
        let at = self.rung_at.load(Ordering::Relaxed);
        if at == 0 {
            return None;
        }
        self.rung_at.store(0, Ordering::Relaxed);
        Some(Nanos(at))
    }

    pub(crate) fn outside_rings(&self) -> u64 {
        self.outside_rings.load(Ordering::Relaxed)
    }

    /// Leaves a request for the shard of `epoch`, or gives it back when that one has closed.
    pub(crate) fn request(&self, epoch: u32, request: Request) -> Result<(), Request> {
        let mut requests = self.lock_requests();
        if !requests.open || self.epoch.load(Ordering::Acquire) != epoch {
            return Err(request);
        }
        requests.queue.push_back(request);
        self.has_requests.store(true, Ordering::Release);
        drop(requests);
        self.ring_from_outside(Mark::NONE);
        Ok(())
    }

    #[inline]
    pub(crate) fn has_requests(&self) -> bool {
        self.has_requests.load(Ordering::Relaxed)
    }

    /// Takes all requests. The holder's.
    pub(crate) fn take_requests(&self) -> VecDeque<Request> {
        if !self.has_requests() {
            return VecDeque::new();
        }
        let mut requests = self.lock_requests();
        self.has_requests.store(false, Ordering::Relaxed);
        std::mem::take(&mut requests.queue)
    }

    /// Completes the answers that have come. Returns whether there were any. The holder's; runs wakers.
    pub(crate) fn take_replies(&self) -> bool {
        if self.replies.is_empty() {
            return false;
        }
        complete(self.replies.take());
        true
    }

    fn lock_requests(&self) -> std::sync::MutexGuard<'_, Requests> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn complete(answers: Taken<AskHead>) {
    for head in answers {
        // SAFETY: `Asked::send_home` put its block on the stack, the one callee's end, and has let go of it.
        let asked = unsafe { Asked::new(head) };
        // A waker may be user code; so may a reply that nobody takes.
        _ = capture(|| asked.complete_here());
    }
}

impl fmt::Debug for Port {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Port({})", self.number)
    }
}
