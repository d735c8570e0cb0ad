//! The end of an actor, as a future.

use std::{
    fmt,
    future::Future,
    task::{Context, Poll},
};

use crate::{
    ExitReason,
    slot::{Pin, Ticket},
};

/// A future of the reason of an actor's end. Does not keep the actor going.
///
/// # Cancel safety
///
/// Dropping it changes nothing; another one gives the same reason.
///
/// # Examples
///
/// ```
/// # use actor_tokio::prelude::*;
/// # #[actor] struct Counter { total: u64 }
/// # #[actor] impl Counter { pub fn add(&mut self, by: u64) -> u64 { self.total += by; self.total } }
/// # fn main() -> Result<(), actor_tokio::Error> {
/// # let rt = ShardedRuntime::builder().cores(1).build()?;
/// # rt.block_on(async {
/// # let counter = rt.spawn(|| Counter { total: 0 }).await?;
/// let exit = counter.closed();
/// drop(counter); // the last handle: the actor stops
/// assert_eq!(exit.await, ExitReason::Normal);
/// # Ok(()) }) }
/// ```
pub struct Exit {
    pin: Pin,
    ticket: Option<Ticket>,
}

impl Exit {
    pub(crate) fn new(pin: Pin) -> Self {
        Self { pin, ticket: None }
    }

    /// The reason, if the actor has ended.
    #[must_use]
    pub fn try_reason(&self) -> Option<ExitReason> {
        self.pin.room.reason()
    }
}

impl Future for Exit {
    type Output = ExitReason;

    fn poll(mut self: std::pin::Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<ExitReason> {
        let Self { pin, ticket } = &mut *self;
        pin.room.reason_or_wait(ticket, cx.waker()).map_or(Poll::Pending, Poll::Ready)
    }
}

impl Drop for Exit {
    fn drop(&mut self) {
        // Or a long-lived actor would keep the task of everyone who ever looked.
        if let Some(ticket) = self.ticket {
            self.pin.room.stop_waiting(ticket);
        }
    }
}

impl fmt::Debug for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Exit").field(&self.pin.id()).finish()
    }
}
