//! The doorbell of systems without an eventfd: a flag and the waker of the driver's task.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use actor_core::port::Notify;

/// What other threads ring.
#[derive(Clone, Debug, Default)]
pub(crate) struct WakerBell(Arc<Shared>);

/// What the driver waits for.
#[derive(Debug)]
pub(crate) struct Bell(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    /// Somebody rang, and the driver has not taken it.
    rung: AtomicBool,
    /// The task that polled last. Locked only to store or to take: wakers run, and are dropped, outside.
    waker: Mutex<Option<Waker>>,
}

// === impl WakerBell ===

impl WakerBell {
    /// Makes a doorbell. Cannot fail; the signature is the eventfd's.
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self::default())
    }

    /// The driver's end. At most one may live: two would take rings from each other.
    pub(crate) fn listen(&self) -> io::Result<Bell> {
        Ok(Bell(Arc::clone(&self.0)))
    }
}

impl Notify for WakerBell {
    fn notify(&self) {
        // AcqRel: pairs with the swap in `take`. A ring that finds the flag set stops here: the flag's setter looks for
        // the waker, and the `take` that clears the flag comes later in its order, so it sees what we did before as well.
        if !self.0.rung.swap(true, Ordering::AcqRel)
            && let Some(waker) = self.0.swap_waker(None)
        {
            waker.wake();
        }
    }
}

// === impl Bell ===

impl Bell {
    /// Takes all rings so far.
    ///
    /// # Returns
    ///
    /// - `Ready(Ok(()))`: somebody rang since the last time.
    /// - `Pending`: nobody did; the task of `cx`, and only the one that polled last, is woken by the next ring.
    pub(crate) fn poll_rung(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.0.take() {
            return Poll::Ready(Ok(()));
        }
        drop(self.0.swap_waker(Some(cx.waker().clone())));
        // Look again: a ringer that found no waker had its turn at the lock before us, and set the flag before that.
        if self.0.take() { Poll::Ready(Ok(())) } else { Poll::Pending }
    }
}

// === impl Shared ===

impl Shared {
    fn take(&self) -> bool {
        // AcqRel: pairs with the swap in `notify`.
        self.rung.swap(false, Ordering::AcqRel)
    }

    fn swap_waker(&self, waker: Option<Waker>) -> Option<Waker> {
        // Nothing panics under this lock, so poison would mean nothing.
        std::mem::replace(&mut *self.waker.lock().unwrap_or_else(PoisonError::into_inner), waker)
    }
}
