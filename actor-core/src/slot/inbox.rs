//! An actor's inbox: a linked list of envelopes in nodes of the shard's pool. The owner's alone.
//!
//! An idle inbox is two null pointers; a node is one cache line; nodes are used again, most recent first.

use std::{
    cell::Cell,
    mem::MaybeUninit,
    ptr::{self, NonNull},
};

use crate::envelope::Envelope;

/// A first-in, first-out list. Its nodes belong to one [`NodePool`].
pub(crate) struct Inbox {
    first: Cell<*mut Node>,
    last: Cell<*mut Node>,
}

/// The shard's stock of nodes. Grows as needed and keeps what it has: admission bounds it by the sum of capacities.
pub(crate) struct NodePool {
    free: Cell<*mut Node>,
    segments: Cell<Vec<Box<[Node]>>>,
    next_segment: Cell<usize>,
}

#[repr(C, align(64))]
struct Node {
    next: Cell<*mut Node>,
    envelope: Cell<MaybeUninit<Envelope>>,
}

const FIRST_SEGMENT: usize = 64;
const LARGEST_SEGMENT: usize = 4096;

impl Inbox {
    pub(crate) const fn new() -> Self {
        Self { first: Cell::new(ptr::null_mut()), last: Cell::new(ptr::null_mut()) }
    }

    /// Appends `envelope`.
    #[inline]
    pub(crate) fn push(&self, pool: &NodePool, envelope: Envelope) {
        let node = pool.take(envelope).as_ptr();
        let last = self.last.replace(node);
        if last.is_null() {
            self.first.set(node);
        } else {
            // SAFETY: nodes on the list stay in the pool's segments; this thread owns list and pool (both are !Sync).
            unsafe { (*last).next.set(node) };
        }
    }

    /// Takes the oldest envelope.
    #[inline]
    pub(crate) fn pop(&self, pool: &NodePool) -> Option<Envelope> {
        let node = NonNull::new(self.first.get())?;
        // SAFETY: as in `push`.
        let next = unsafe { node.as_ref() }.next.get();
        self.first.set(next);
        if next.is_null() {
            self.last.set(ptr::null_mut());
        }
        // SAFETY: the node was on the list, so it holds an envelope, and has just been taken off.
        Some(unsafe { pool.give_back(node) })
    }
}

impl NodePool {
    pub(crate) const fn new() -> Self {
        Self {
            free: Cell::new(ptr::null_mut()),
            segments: Cell::new(Vec::new()),
            next_segment: Cell::new(FIRST_SEGMENT),
        }
    }

    #[inline]
    fn take(&self, envelope: Envelope) -> NonNull<Node> {
        let Some(node) = NonNull::new(self.free.get()) else {
            self.grow();
            return self.take(envelope);
        };
        // SAFETY: free nodes lie in `segments`, which keeps them for the pool's life; nobody else points at this one.
        let free = unsafe { node.as_ref() };
        self.free.set(free.next.replace(ptr::null_mut()));
        free.envelope.set(MaybeUninit::new(envelope));
        node
    }

    /// # Safety
    ///
    /// `node` came from `take` of this pool, and nothing points at it any more.
    #[inline]
    unsafe fn give_back(&self, node: NonNull<Node>) -> Envelope {
        // SAFETY: in `segments`, see `take`.
        let used = unsafe { node.as_ref() };
        used.next.set(self.free.replace(node.as_ptr()));
        // SAFETY: `take` wrote it, and the caller's promise makes this its only reading.
        unsafe { used.envelope.replace(MaybeUninit::uninit()).assume_init() }
    }

    #[cold]
    fn grow(&self) {
        let count = self.next_segment.get();
        self.next_segment.set((count * 2).min(LARGEST_SEGMENT));
        let segment: Box<[Node]> = (0..count)
            .map(|_| Node { next: Cell::new(ptr::null_mut()), envelope: Cell::new(MaybeUninit::uninit()) })
            .collect();
        for node in segment.iter().rev() {
            node.next.set(self.free.replace(ptr::from_ref(node).cast_mut()));
        }
        let mut segments = self.segments.take();
        segments.push(segment);
        self.segments.set(segments);
    }
}
