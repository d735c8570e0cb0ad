//! The pump: the Tokio task in which a shard's turns run.
//!
//! A task and not the runtime's root future: a root that wakes itself costs one `epoll_wait` per poll, and gets one
//! poll for every 61 of any busy task.

use std::{
    future::poll_fn,
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::Poll,
};

use actor_core::{
    Shard, Turn,
    port::{Nanos, Notify},
};
use crossbeam_channel::Sender;
use crossbeam_utils::CachePadded;
use tokio::time::{Instant, Sleep, sleep_until};

use crate::{
    bell::{Bell, Doorbell},
    crowd::Present,
};

/// What the runtime tells a pump beside the engine's own requests.
#[derive(Clone)]
pub(crate) struct PumpControl {
    /// On a line of its own: it is read each turn, and who knows what the allocator puts beside it.
    released: Arc<CachePadded<AtomicBool>>,
    doorbell: Doorbell,
}

impl PumpControl {
    pub(crate) fn new(doorbell: Doorbell) -> Self {
        Self { released: Arc::default(), doorbell }
    }

    /// Lets the pump end, once its shard has: all shards have ended and none sends any more.
    pub(crate) fn release(&self) {
        self.released.store(true, Ordering::Release);
        // Straight to the driver: this is no business of the engine's sleep word.
        self.doorbell.notify();
    }

    fn is_released(&self) -> bool {
        self.released.load(Ordering::Acquire)
    }
}

/// Runs the shard until it is released. Says `ended` once, when the shard was told to shut down and has no actor left.
///
/// It spins before it sleeps, if the shard was made so, and if the process has no more shards than `room`.
pub(crate) async fn pump(
    shard: &Shard,
    mut bell: Bell,
    control: PumpControl,
    ended: Sender<usize>,
    room: Option<usize>,
) {
    let present = Present::new();
    let mut alarm = Alarm { sleep: Box::pin(sleep_until(Instant::now())), set_for: None };
    let mut has_ended = false;
    while !control.is_released() {
        let next_timer = match shard.turn() {
            // Lets I/O and the other tasks run: woken only after the next look at the driver.
            Turn::More => {
                tokio::task::yield_now().await;
                continue;
            }
            // Behind the tasks that are ready now. Not asleep meanwhile, so that other shards need not ring: under load,
            // tasks and actors alternate without a bell. (The pump is always either queued or has announced its sleep.)
            Turn::Idle { was_busy: true, .. } => {
                requeue().await;
                continue;
            }
            // Nobody else on this thread has anything to do either, unless a socket has: look on for a moment.
            Turn::Idle { .. } if room.is_none_or(|room| present.fits(room)) && shard.spin() => continue,
            Turn::Idle { next_timer, .. } => next_timer,
            Turn::Ended => {
                if !has_ended {
                    has_ended = true;
                    // Nobody listens when the runtime was dropped and has given up waiting.
                    _ = ended.send(shard.remote().shard().index());
                }
                // Tasks of the shard that are no actors may still wait for answers.
                shard.next_timer()
            }
        };
        if let Err(error) = rest(shard, &mut bell, &mut alarm, next_timer).await {
            // A doorbell that fails once fails for ever, and a shard that can't be woken is none: its actors end, and
            // their handles say so.
            tracing::error!(%error, shard = %shard.remote().shard(), "the shard's doorbell failed; the shard ends");
            return;
        }
    }
}

/// Goes to the end of Tokio's run queue, without a look at the driver: that would be a system call for each busy turn.
async fn requeue() {
    let mut is_queued = false;
    poll_fn(|cx| {
        if is_queued {
            return Poll::Ready(());
        }
        is_queued = true;
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Waits until there may be something to do.
async fn rest(shard: &Shard, bell: &mut Bell, alarm: &mut Alarm, next_timer: Option<Nanos>) -> io::Result<()> {
    let mut is_asleep = false;
    poll_fn(|cx| {
        // Polled each time: it must take a ring that has come, or the next rest would end at once.
        let rung = bell.poll_rung(cx)?.is_ready();
        if rung || is_asleep || !shard.announce_sleep(cx.waker()) {
            return Poll::Ready(Ok(()));
        }
        is_asleep = true;
        alarm.poll(cx, next_timer).map(Ok)
    })
    .await
}

/// Tokio's timer for the shard's earliest one. Set anew only for an earlier time, or once it has fired: most timers
/// are the time limits of asks, which are answered long before.
struct Alarm {
    sleep: Pin<Box<Sleep>>,
    set_for: Option<Nanos>,
}

impl Alarm {
    fn poll(&mut self, cx: &mut std::task::Context<'_>, next: Option<Nanos>) -> Poll<()> {
        let Some(next) = next else {
            return Poll::Pending;
        };
        if self.set_for.is_none_or(|set_for| next < set_for) {
            self.sleep.as_mut().reset(Instant::now() + next.until(Nanos::now()));
            self.set_for = Some(next);
        }
        let fired = self.sleep.as_mut().poll(cx);
        if fired.is_ready() {
            self.set_for = None;
        }
        fired
    }
}
