//! The end of a runtime, on a thread of its own: it waits for shards, and so must run on none of them.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use actor_core::{Remote, ShardId};
use crossbeam_channel::{Receiver, Sender, select_biased, unbounded};

use crate::pump::PumpControl;

/// How long a shutdown may take unless it is told.
pub(crate) const DEFAULT_LIMIT: Duration = Duration::from_secs(30);
/// How long killed actors have to get out of the poll that they are in.
const KILL_GRACE: Duration = Duration::from_secs(1);

/// How a runtime ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShutdownReport {
    /// Actors that had not stopped within the limit and were killed.
    pub killed: u64,
    /// Shards whose thread did not come back even so: code on it blocks. They end when it returns.
    pub stuck: Vec<ShardId>,
}

impl ShutdownReport {
    /// Whether every actor stopped by itself and every thread ended.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.killed == 0 && self.stuck.is_empty()
    }
}

/// A future of a runtime's end. Need not be awaited: the shutdown goes on without it.
///
/// # Cancel safety
///
/// Dropping it changes nothing; another call of `shutdown` waits for the same end.
pub struct Shutdown(Arc<Ending>);

impl Future for Shutdown {
    type Output = ShutdownReport;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<ShutdownReport> {
        let mut state = self.0.lock();
        if let Some(report) = state.report.clone() {
            let thread = state.thread.take();
            drop(state);
            join(thread);
            return Poll::Ready(report);
        }
        if !state.waiting.iter().any(|waker| waker.will_wake(cx.waker())) {
            state.waiting.push(cx.waker().clone());
        }
        Poll::Pending
    }
}

impl fmt::Debug for Shutdown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Shutdown(..)")
    }
}

/// What it takes to end a runtime's shards.
pub(crate) struct Shards {
    pub(crate) remotes: Vec<Remote>,
    pub(crate) controls: Vec<PumpControl>,
    pub(crate) threads: Vec<JoinHandle<()>>,
    /// Shards say here that they have no actor left.
    pub(crate) ended: Receiver<usize>,
}

/// The one end of a runtime, whoever asks for it.
pub(crate) struct Ending {
    state: Mutex<State>,
    over: Condvar,
}

#[derive(Default)]
struct State {
    /// Present until the shutdown begins.
    shards: Option<Shards>,
    /// Brings the deadline forward.
    hurry: Option<Sender<Instant>>,
    report: Option<ShutdownReport>,
    waiting: Vec<Waker>,
    /// The thread that does it. Joined by the first that sees the report, so that then no thread is left.
    thread: Option<JoinHandle<()>>,
}

impl Ending {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { state: Mutex::default(), over: Condvar::new() })
    }

    /// Hands over what is to be ended.
    pub(crate) fn arm(&self, shards: Shards) {
        self.lock().shards = Some(shards);
    }

    pub(crate) fn begin(self: &Arc<Self>, limit: Duration) -> Shutdown {
        let now = Instant::now();
        // A limit beyond the clock's end is none; a year is as good.
        let deadline = now.checked_add(limit).unwrap_or(now + Duration::from_secs(365 * 86_400));
        let mut state = self.lock();
        match (state.shards.take(), &state.hurry) {
            (Some(shards), _) => {
                let (hurry, hurried) = unbounded();
                state.hurry = Some(hurry);
                self.start(state, shards, deadline, hurried);
            }
            // Nobody listens any more when it is over.
            (None, Some(hurry)) => _ = hurry.send(deadline),
            (None, None) => {}
        }
        Shutdown(self.clone())
    }

    /// Whether the shutdown is over; waits for it at most until `deadline`.
    pub(crate) fn wait_until(&self, deadline: Instant) -> bool {
        let mut state = self.lock();
        while state.report.is_none() {
            let Some(left) = deadline.checked_duration_since(Instant::now()) else {
                return false;
            };
            state = self.over.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        let thread = state.thread.take();
        drop(state);
        join(thread);
        true
    }

    pub(crate) fn is_over(&self) -> bool {
        self.lock().report.is_some()
    }

    /// With the lock, so that whoever sees the report sees the thread too.
    fn start(
        self: &Arc<Self>,
        mut state: MutexGuard<'_, State>,
        shards: Shards,
        deadline: Instant,
        hurried: Receiver<Instant>,
    ) {
        let (handed, taken) = (Arc::new(Mutex::new(Some(shards))), self.clone());
        let theirs = handed.clone();
        let thread = thread::Builder::new().name("actor-shutdown".into()).spawn(move || {
            let shards = theirs.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(shards) = shards {
                taken.finish(shards.end(deadline, &hurried));
            }
        });
        match thread {
            Ok(thread) => state.thread = Some(thread),
            Err(error) => {
                drop(state);
                // No thread to wait on: ends the shards at once and lets their threads go by themselves.
                tracing::error!(%error, "no thread for an orderly shutdown; the actors are killed");
                if let Some(shards) = handed.lock().unwrap_or_else(PoisonError::into_inner).take() {
                    self.finish(shards.kill());
                }
            }
        }
    }

    fn finish(&self, report: ShutdownReport) {
        if !report.is_clean() {
            tracing::warn!(killed = report.killed, stuck = ?report.stuck, "the runtime did not end in order");
        }
        let mut state = self.lock();
        state.report = Some(report);
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        self.over.notify_all();
        for waker in waiting {
            waker.wake();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits for a thread that has nothing left to do but end.
fn join(thread: Option<JoinHandle<()>>) {
    // A waker may poll the future on the very thread that wakes it.
    if let Some(thread) = thread.filter(|thread| thread.thread().id() != thread::current().id()) {
        _ = thread.join();
    }
}

impl Shards {
    /// Ends the shards in order; kills what is left at the deadline.
    pub(crate) fn end(self, mut deadline: Instant, hurried: &Receiver<Instant>) -> ShutdownReport {
        for remote in &self.remotes {
            remote.begin_shutdown();
        }
        let mut open = vec![true; self.remotes.len()];
        let mut killed = 0;
        let mut is_killing = false;
        while open.contains(&true) {
            select_biased! {
                recv(self.ended) -> shard => match shard {
                    Ok(shard) => open[shard] = false,
                    // All pumps have gone, one of them by a failure.
                    Err(_) => break,
                },
                recv(hurried) -> sooner => if let Ok(sooner) = sooner && !is_killing {
                    deadline = deadline.min(sooner);
                },
                default(deadline.saturating_duration_since(Instant::now())) => {
                    if is_killing {
                        break;
                    }
                    is_killing = true;
                    deadline = Instant::now() + KILL_GRACE;
                    for (remote, _) in self.remotes.iter().zip(&open).filter(|(_, open)| **open) {
                        killed += remote.load();
                        remote.kill_all();
                    }
                },
            }
        }
        // No shard sends any more, or the ones that might are told that nobody is there.
        for control in &self.controls {
            control.release();
        }
        let mut stuck = Vec::new();
        for ((thread, remote), open) in self.threads.into_iter().zip(&self.remotes).zip(open) {
            if open {
                stuck.push(remote.shard());
            } else {
                // A shard's thread has caught what panicked on it.
                _ = thread.join();
            }
        }
        ShutdownReport { killed, stuck }
    }

    /// Ends the shards at once, waiting for nothing.
    fn kill(self) -> ShutdownReport {
        let killed = self.remotes.iter().map(Remote::load).sum();
        for (remote, control) in self.remotes.iter().zip(&self.controls) {
            remote.kill_all();
            control.release();
        }
        ShutdownReport { killed, stuck: self.remotes.iter().map(Remote::shard).collect() }
    }
}
