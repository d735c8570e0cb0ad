//! What other threads ask of a shard itself, rather than of one of its actors.

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use super::Core;

/// Something to be done on the shard, between two polls. Dropped undone when the shard has closed.
pub(crate) struct Request(Box<dyn FnOnce(&Core) + Send>);

impl Request {
    pub(crate) fn new(what: impl FnOnce(&Core) + Send + 'static) -> Self {
        Self(Box::new(what))
    }

    pub(crate) fn run(self, core: &Core) {
        (self.0)(core);
    }
}

/// The answering end of a request's reply. Dropped without an answer, it says so.
pub(crate) struct Promise<T>(Arc<Mutex<Promised<T>>>);

/// The asking end: a future of the answer, `None` if there will be none.
pub(crate) struct Promising<T>(Arc<Mutex<Promised<T>>>);

enum Promised<T> {
    Waiting(Option<Waker>),
    Kept(T),
    Broken,
}

/// A promise and its future.
pub(crate) fn promise<T>() -> (Promise<T>, Promising<T>) {
    let shared = Arc::new(Mutex::new(Promised::Waiting(None)));
    (Promise(shared.clone()), Promising(shared))
}

impl<T> Promise<T> {
    pub(crate) fn keep(self, value: T) {
        self.settle(Promised::Kept(value));
    }

    fn settle(&self, outcome: Promised<T>) {
        let mut state = lock(&self.0);
        if let Promised::Waiting(waker) = &mut *state {
            let waker = waker.take();
            *state = outcome;
            drop(state);
            if let Some(waker) = waker {
                waker.wake();
            }
        }
    }
}

impl<T> Drop for Promise<T> {
    fn drop(&mut self) {
        self.settle(Promised::Broken);
    }
}

impl<T> Future for Promising<T> {
    type Output = Option<T>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        // Cloned before and dropped after the lock: a waker is user code.
        let mut fresh = Some(cx.waker().clone());
        let mut state = lock(&self.0);
        match &mut *state {
            Promised::Waiting(waker) => {
                std::mem::swap(waker, &mut fresh);
                drop(state);
                Poll::Pending
            }
            Promised::Kept(_) => match std::mem::replace(&mut *state, Promised::Broken) {
                Promised::Kept(value) => Poll::Ready(Some(value)),
                Promised::Waiting(_) | Promised::Broken => Poll::Ready(None),
            },
            Promised::Broken => Poll::Ready(None),
        }
    }
}

fn lock<T>(shared: &Mutex<Promised<T>>) -> MutexGuard<'_, Promised<T>> {
    // Nothing under the lock panics.
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
