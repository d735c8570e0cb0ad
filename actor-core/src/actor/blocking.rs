//! Waiting on a thread that runs no async code.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
};

use crate::port::Nanos;

struct Unparker(Thread);

impl Wake for Unparker {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Polls `future` until it is done, and parks this thread in between: no longer than until the deadline that it has then,
/// after which it is ready by itself.
pub(super) fn block_on<F: Future + Unpin>(mut future: F, deadline: impl Fn(&F) -> Option<Nanos>) -> F::Output {
    let waker = Waker::from(Arc::new(Unparker(thread::current())));
    loop {
        if let Poll::Ready(output) = Pin::new(&mut future).poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        match deadline(&future) {
            Some(deadline) => thread::park_timeout(deadline.until(Nanos::now())),
            None => thread::park(),
        }
    }
}
