//! A queue under a lock: what the other rings are compared with, in their answers and in their speed.

use std::{collections::VecDeque, sync::PoisonError};

use super::{Mark, Producer, Ready, Ring};
use crate::sync::{Mutex, MutexGuard};

/// A bounded queue under a lock, for exactly as many values as asked for. First in, first out, over all producers.
pub struct MutexRing<T> {
    queue: Mutex<VecDeque<T>>,
    capacity: usize,
}

impl<T> MutexRing<T> {
    fn lock(&self) -> MutexGuard<'_, VecDeque<T>> {
        // Nothing under the lock panics.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Send> Ring<T> for MutexRing<T> {
    fn new(capacity: usize) -> Self {
        Self { queue: Mutex::new(VecDeque::with_capacity(capacity)), capacity }
    }

    #[inline]
    unsafe fn push(&self, _: &Ready, _: Producer, value: T) -> Result<Mark, T> {
        let mut queue = self.lock();
        if queue.len() >= self.capacity {
            return Err(value);
        }
        queue.push_back(value);
        Ok(Mark::NONE)
    }

    #[inline]
    unsafe fn pop(&self, _: &Ready) -> Option<T> {
        self.lock().pop_front()
    }

    #[inline]
    unsafe fn is_ready(&self, _: &Ready) -> bool {
        !self.lock().is_empty()
    }

    unsafe fn is_drained(&self) -> bool {
        self.lock().is_empty()
    }

    #[cfg(loom)]
    fn assert_unshared(&mut self) {
        _ = self.queue.get_mut();
    }
}
