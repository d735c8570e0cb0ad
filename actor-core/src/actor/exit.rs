//! The end of an actor, as a future.

use std::{
    fmt,
    future::Future,
    task::{Context, Poll},
};

use crate::{ExitReason, slot::Pin};

/// A future of the reason of an actor's end. Does not keep the actor going.
///
/// # Cancel safety
///
/// Dropping it changes nothing; another one gives the same reason.
pub struct Exit {
    pin: Pin,
}

impl Exit {
    pub(crate) fn new(pin: Pin) -> Self {
        Self { pin }
    }

    /// The reason, if the actor has ended.
    #[must_use]
    pub fn try_reason(&self) -> Option<ExitReason> {
        self.pin.room.reason()
    }
}

impl Future for Exit {
    type Output = ExitReason;

    fn poll(self: std::pin::Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<ExitReason> {
        self.pin.room.reason_or_wait(cx.waker()).map_or(Poll::Pending, Poll::Ready)
    }
}

impl fmt::Debug for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Exit").field(&self.pin.id()).finish()
    }
}
