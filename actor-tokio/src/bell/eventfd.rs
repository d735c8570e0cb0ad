//! The doorbell of systems with an eventfd: rings reach the driver through Tokio's reactor, so that one system call
//! waits for sockets and for rings alike.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use actor_core::port::Notify;
use rustix::event::{EventfdFlags, eventfd};
use rustix::io::Errno;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// What other threads ring.
///
/// The file descriptor is shared: it is closed when the last clone and the [`Bell`] are gone, so that a late ring cannot
/// write into a descriptor which was opened since.
#[derive(Clone, Debug)]
pub(crate) struct EventFd(Arc<OwnedFd>);

/// What the driver waits for.
#[derive(Debug)]
pub(crate) struct Bell(AsyncFd<Arc<OwnedFd>>);

// === impl EventFd ===

impl EventFd {
    /// Opens an eventfd: non-blocking, closed by `exec`.
    ///
    /// # Errors
    ///
    /// The system's: no free file descriptor, usually.
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self(Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?)))
    }

    /// Registers with the reactor of the Tokio runtime that this is called in. At most one `Bell` of a doorbell may
    /// live: two would take rings from each other.
    ///
    /// # Errors
    ///
    /// The system's (`epoll_ctl`).
    ///
    /// # Panics
    ///
    /// Outside a Tokio runtime with I/O enabled.
    pub(crate) fn listen(&self) -> io::Result<Bell> {
        // SAFETY: the file descriptor must stay open, and the same, while the `AsyncFd` lives. It is an `OwnedFd`, which
        // nothing closes before its owner is dropped; the `Arc` in the `AsyncFd` keeps that owner alive, and keeps it
        // from being replaced: `Arc` gives no `&mut` here, and `Bell` never lets go of its `AsyncFd`, so nobody swaps the
        // `Arc` itself.
        let registered = unsafe { AsyncFd::register_with_interest(Arc::clone(&self.0), Interest::READABLE) };
        Ok(Bell(registered?))
    }
}

impl Notify for EventFd {
    fn notify(&self) {
        loop {
            match rustix::io::write(&self.0, &1_u64.to_ne_bytes()) {
                Err(Errno::INTR) => {}
                // The counter, which the driver never reads, is full. What has not been written is no event: make room.
                Err(Errno::AGAIN) => _ = rustix::io::read(&self.0, &mut [0; 8]),
                // No other error is possible for an eventfd that is open; a ringer could do nothing about it.
                Ok(_) | Err(_) => return,
            }
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
    /// - `Pending`: nobody did; the task of `cx`, and only the one that polled last, is woken by the next ring. Also when
    ///   the task has spent its cooperative budget: then it is woken at once.
    /// - `Ready(Err(_))`: the runtime is shutting down.
    pub(crate) fn poll_rung(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // The counter is not read: that would be a system call a sleep, for a number that nobody needs. Readiness is
        // edge-triggered, and every write is an edge, whatever the counter was. A ring before the clearing is either the
        // event that is being taken, or the reactor has not delivered its own yet, or it has and `clear_ready` sees that
        // this event is no longer the latest and clears nothing. (The kernel's lock on the counter's wait queue, which the
        // writer and `epoll_wait` both take, makes visible what came before the ring.)
        ready!(self.0.poll_read_ready(cx))?.clear_ready();
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::EventFd;
    use actor_core::port::Notify;
    use std::fs;
    use std::future::poll_fn;
    use std::os::fd::{AsRawFd, OwnedFd};
    use std::task::Poll;

    fn counter(fd: &OwnedFd) -> Result<u64, rustix::io::Errno> {
        let mut count = [0; 8];
        rustix::io::read(fd, &mut count).map(|_| u64::from_ne_bytes(count))
    }

    #[test]
    fn a_ring_is_written_even_when_the_counter_is_full() {
        let bell = EventFd::new().unwrap();
        rustix::io::write(&bell.0, &(u64::MAX - 1).to_ne_bytes()).unwrap();
        bell.notify();
        assert_eq!(counter(&bell.0), Ok(1));
    }

    /// What `poll_rung` rests on: every write is an event, whether or not the ones before have been read.
    #[tokio::test]
    async fn each_ring_is_an_event_though_none_is_read() {
        let ring = EventFd::new().unwrap();
        let mut bell = ring.listen().unwrap();
        for _ in 0..3 {
            assert!(poll_fn(|cx| Poll::Ready(bell.poll_rung(cx).is_pending())).await);
            ring.notify();
            poll_fn(|cx| bell.poll_rung(cx)).await.unwrap();
        }
        assert_eq!(counter(&ring.0), Ok(3));
    }

    #[test]
    fn not_inherited_and_never_blocking() {
        let bell = EventFd::new().unwrap();
        let info = fs::read_to_string(format!("/proc/self/fdinfo/{}", bell.0.as_raw_fd())).unwrap();
        let flags = info.lines().find_map(|line| line.strip_prefix("flags:")).unwrap();
        let flags = u32::from_str_radix(flags.trim(), 8).unwrap();
        assert_eq!(flags & 0o2_004_000, 0o2_004_000, "O_CLOEXEC | O_NONBLOCK in {flags:o}");
    }
}
