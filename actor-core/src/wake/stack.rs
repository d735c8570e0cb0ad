//! An intrusive stack: any thread pushes, its owner takes all at once, oldest first.
//!
//! The push is R. K. Treiber's (1986); taking everything in one swap leaves it no ABA problem, for nobody ever pops a
//! single node.

use std::{marker::PhantomData, ptr, ptr::NonNull};

use crate::{
    prefetch,
    sync::{AtomicPtr, Fault, Ordering, planted},
};

/// A node that carries its own link.
///
/// # Safety
///
/// `link` returns the same pointer for the node's whole life, and nothing but [`Stack`] writes it while the node is on
/// a stack.
pub(crate) unsafe trait Linked: Sized {
    /// The node's link.
    fn link(&self) -> &AtomicPtr<Self>;
}

/// A stack of nodes that live elsewhere.
///
/// # Ordering contract
///
/// What happened before a [`push`](Self::push) is visible after the [`take`](Self::take) that returns the node. One
/// thread's nodes come out in the order in which it pushed them.
pub(crate) struct Stack<T> {
    head: AtomicPtr<T>,
    /// Nodes are reached from several threads.
    nodes: PhantomData<*mut T>,
}

// SAFETY: the stack hands nodes from pushing threads to the owner by the Release/Acquire pair on `head`.
unsafe impl<T: Send> Send for Stack<T> {}
// SAFETY: as above; no method gives shared access to a node.
unsafe impl<T: Send> Sync for Stack<T> {}

impl<T: Linked> Stack<T> {
    /// An empty stack.
    pub(crate) fn new() -> Self {
        Self { head: AtomicPtr::new(ptr::null_mut()), nodes: PhantomData }
    }

    /// Puts `node` on the stack, unless it is closed. Returns whether it did. Never waits.
    ///
    /// # Safety
    ///
    /// `node` is valid until it has been taken, and is on no stack.
    #[inline]
    pub(crate) unsafe fn push(&self, node: NonNull<T>) -> bool {
        // SAFETY: valid by the caller's promise.
        let link = unsafe { node.as_ref() }.link();
        // A guess, and mostly right: to look first would fetch the line twice, to read it and to write it.
        let mut head = ptr::null_mut();
        loop {
            if head == closed() {
                return false;
            }
            // Relaxed: published with the CAS below.
            link.store(head, Ordering::Relaxed);
            // Release: pairs with the Acquire in `take`. Each push is a read-modify-write and so continues the release
            // sequence of those beneath it.
            let publish = if planted(Fault::StackPush) { Ordering::Relaxed } else { Ordering::Release };
            match self.head.compare_exchange_weak(head, node.as_ptr(), publish, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(now) => head = now,
            }
        }
    }

    /// Refuses nodes from now on, and takes those that are there. The owner's.
    pub(crate) fn close(&self) -> Taken<T> {
        self.take_leaving(closed())
    }

    /// Takes nodes again after [`close`](Self::close). The owner's.
    pub(crate) fn open(&self) {
        if self.head.load(Ordering::Relaxed) == closed() {
            // Relaxed: a push reads nothing of the owner's; what it may rely on it has by its own road.
            self.head.store(ptr::null_mut(), Ordering::Relaxed);
        }
    }

    /// Whether a node is there: one load, for the owner's look before it takes.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        let head = self.head.load(Ordering::Relaxed);
        if head.is_null() || head == closed() {
            return true;
        }
        // The caller is about to take it.
        prefetch::for_write(head);
        false
    }

    /// Takes all nodes, oldest first.
    #[inline]
    pub(crate) fn take(&self) -> Taken<T> {
        if self.is_empty() {
            return Taken { next: None };
        }
        self.take_leaving(ptr::null_mut())
    }

    fn take_leaving(&self, head: *mut T) -> Taken<T> {
        // Acquire: pairs with the Release in `push`.
        let taken = self.head.swap(head, Ordering::Acquire);
        let mut newest = NonNull::new(taken).filter(|node| node.as_ptr() != closed());
        let mut oldest = None;
        while let Some(node) = newest {
            // SAFETY: pushed nodes stay valid until taken, and this call has just taken the chain: nobody else writes
            // its links until the iterator has let go of a node.
            let link = unsafe { node.as_ref() }.link();
            newest = NonNull::new(link.load(Ordering::Relaxed));
            link.store(oldest.map_or(ptr::null_mut(), NonNull::as_ptr), Ordering::Relaxed);
            oldest = Some(node);
        }
        Taken { next: oldest }
    }
}

/// What the head is while the stack is closed: no node's address.
fn closed<T>() -> *mut T {
    ptr::without_provenance_mut(1)
}

/// The nodes of one [`Stack::take`]. Each is let go of before it is returned: its link has been read by then, and it
/// may be pushed again at once.
///
/// The iterator is used up before the owner takes again; what is not taken from it is lost to the stack.
pub(crate) struct Taken<T> {
    next: Option<NonNull<T>>,
}

impl<T: Linked> Iterator for Taken<T> {
    type Item = NonNull<T>;

    #[inline]
    fn next(&mut self) -> Option<NonNull<T>> {
        let node = self.next?;
        // SAFETY: not yet returned, so still valid and untouched by others (see `take`).
        self.next = NonNull::new(unsafe { node.as_ref() }.link().load(Ordering::Relaxed));
        Some(node)
    }
}
