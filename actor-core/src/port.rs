//! The host seams: what the engine asks of whoever drives it. A test implements them by hand; `actor-tokio` with an
//! eventfd, the monotonic clock and a timer thread.

use std::{
    fmt,
    sync::{Arc, OnceLock},
    task::Waker,
    time::{Duration, Instant},
};

use crate::{ActorId, Overflow};

/// A point on the process's monotonic clock, in nanoseconds since its first use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Nanos(pub u64);

impl Nanos {
    /// The clock's last point, 584 years after its first use: a deadline that never comes.
    pub const NEVER: Self = Self(u64::MAX);

    /// The time now on the process's clock.
    #[must_use]
    pub fn now() -> Self {
        Self::of(Instant::now())
    }

    /// The point of the process's clock at which `instant` lies; instants before the clock's first use are its start.
    #[must_use]
    pub fn of(instant: Instant) -> Self {
        static START: OnceLock<Instant> = OnceLock::new();
        let start = *START.get_or_init(Instant::now);
        Self::default().after(instant.saturating_duration_since(start))
    }

    /// This point and `duration` more; the clock's last point when it does not reach so far (584 years).
    #[must_use]
    pub fn after(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)))
    }

    /// The time from `now` until this point; zero if it has passed.
    #[must_use]
    pub fn until(self, now: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(now.0))
    }
}

/// Names an armed timer of the [`Timer`] that returned it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TimerKey(pub u64);

/// Wakes a shard's driver from any thread.
pub trait Notify: Send + Sync {
    /// Makes the driver look at its shard again. Never blocks, never panics, and a call is never lost: a driver that
    /// is not waiting yet finds it when it starts to.
    fn notify(&self);
}

/// The shard's clock. Read once a turn and once every few polls.
pub trait Clock {
    /// The time now. Never goes back.
    fn now(&self) -> Nanos;
}

/// Timers for callers that are on no shard.
pub trait Timer: Send + Sync {
    /// Wakes `waker` once, at `at` or soon after.
    fn arm(&self, at: Nanos, waker: Waker) -> TimerKey;

    /// Disarms a timer; one that has fired, or was disarmed before, is left alone.
    fn cancel(&self, key: TimerKey);
}

static OUTSIDE_TIMER: OnceLock<&'static dyn Timer> = OnceLock::new();

/// Says which timer serves calls that are awaited on no shard. The first call in a process wins; without one, such
/// calls have no time limit.
pub fn set_outside_timer(timer: &'static dyn Timer) {
    _ = OUTSIDE_TIMER.set(timer);
}

pub(crate) fn outside_timer() -> Option<&'static dyn Timer> {
    OUTSIDE_TIMER.get().copied()
}

/// What a shard's driver tells the engine while a turn runs, and hears from it.
pub trait Driver {
    /// Whether the actors polled in this turn may go on: false ends the turn, to be continued. A Tokio host answers
    /// with the cooperative budget of the task that runs the turn.
    fn has_budget(&self) -> bool {
        true
    }

    /// Something that a person should know.
    fn report(&self, report: Report<'_>) {
        _ = report;
    }
}

/// What the engine reports to its [`Driver`].
#[non_exhaustive]
pub enum Report<'a> {
    /// A message without an asker was handled, and its handler returned an error.
    TellFailed {
        /// Which actor.
        actor: ActorId,
        /// The actor's type.
        kind: &'static str,
        /// The method.
        method: &'static str,
        /// What it returned.
        error: &'a dyn fmt::Debug,
    },
    /// An actor ended by a panic or by a failure of its start.
    ActorFailed {
        /// Which actor.
        actor: ActorId,
        /// The actor's type.
        kind: &'static str,
        /// Why it ended.
        reason: &'a crate::ExitReason,
    },
    /// An actor's full mailbox has dropped messages. Comes once a turn and actor.
    Evicted {
        /// Which actor.
        actor: ActorId,
        /// The actor's type.
        kind: &'static str,
        /// What it does when its mailbox is full.
        policy: Overflow,
        /// Messages dropped since the last report.
        count: u64,
    },
}

/// The seam through which every choice of the engine goes: which ready actor is polled next, and in which order the
/// sources of a turn are looked at. Without one the engine takes the first alternative each time, at no cost.
pub trait Choose {
    /// Picks one of `alternatives` (at least 2), as a number below it; what lies above is taken as the last.
    fn choose(&self, point: ChoicePoint, alternatives: usize) -> usize;
}

/// Where a choice is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChoicePoint {
    /// Which of the ready actors is polled next, oldest first.
    NextActor,
    /// Which source is drained first at a look at the inbox: 0 is signals, 1 the ring.
    NextSource,
}

/// All that a shard needs of its host.
pub struct Host {
    /// Wakes the driver from other threads.
    pub notify: Arc<dyn Notify>,
    /// The shard's time.
    pub clock: Box<dyn Clock>,
    /// The driver itself.
    pub driver: Box<dyn Driver>,
    /// Who decides where there is a choice; `None` takes the first alternative.
    pub choose: Option<Box<dyn Choose>>,
}

/// The process's monotonic clock, as a [`Clock`].
#[derive(Clone, Copy, Debug, Default)]
pub struct MonotonicClock;

impl Clock for MonotonicClock {
    fn now(&self) -> Nanos {
        Nanos::now()
    }
}
