//! Pauses of microseconds: Tokio's own timers count milliseconds.

use std::{io, time::Duration};

use rustix::{
    fd::OwnedFd,
    time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime},
};
use tokio::io::unix::AsyncFd;

/// A timer of the Tokio runtime that it was made in.
pub struct Pacer(AsyncFd<OwnedFd>);

impl Pacer {
    #[allow(unsafe_code, reason = "registering a descriptor with Tokio")]
    pub fn new() -> io::Result<Self> {
        let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
        // SAFETY: an `OwnedFd` is one open descriptor, the same as long as it lives, and lives in the `AsyncFd`.
        Ok(Self(unsafe { AsyncFd::register(timer) }?))
    }

    pub async fn pause(&self, time: Duration) -> io::Result<()> {
        let none = Timespec { tv_sec: 0, tv_nsec: 0 };
        let once = Timespec { tv_sec: time.as_secs().cast_signed(), tv_nsec: time.subsec_nanos().into() };
        let spec = Itimerspec { it_interval: none, it_value: once };
        timerfd_settime(self.0.get_ref(), TimerfdTimerFlags::empty(), &spec)?;
        loop {
            let mut guard = self.0.readable().await?;
            let taken = guard.try_io(|timer| Ok(rustix::io::read(timer.get_ref(), &mut [0; 8])?));
            match taken {
                Ok(taken) => return taken.map(drop),
                Err(_would_block) => {}
            }
        }
    }
}
