//! Timers for callers that are on no shard: one thread for the whole process, started when the first of them is armed.
//!
//! The thread ends when it has had nothing to wait for during a short [linger](LINGER), so that a process whose runtimes
//! are gone is back to the threads it had; the next timer starts it again.
//!
//! # Why no timer is stranded
//!
//! All decisions are made under one lock, over the queue and [`Thread`] together:
//!
//! - The thread ends by storing `Absent` in the same critical section in which it saw the queue empty. A caller arms in a
//!   critical section before that, and then the queue is not empty; or in one after it, and then it sees `Absent` and
//!   starts another thread. The old one touches nothing any more.
//! - The thread stores until when it waits in the same critical section in which it begins to wait (the condition variable
//!   gives the lock up and waits in one step). A caller that arms something earlier sees that and notifies; while the
//!   thread is awake it looks at the queue again before it waits, so nobody has to notify.
//! - A thread that cannot be started leaves `Absent`: the next timer tries again, and the timers keep their place.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::Waker;
use std::thread;
use std::time::Duration;

use actor_core::port::{Nanos, Timer, TimerKey};
use actor_core::timer::TimerQueue;

/// How long the thread stays with nothing to do; it ends after one to two of these. Long enough that a caller which asks
/// again and again, and whose timers are cancelled as often, does not start a thread each time.
const LINGER: Duration = Duration::from_millis(200);

/// The timers of all callers that are on no shard.
#[derive(Clone)]
pub(crate) struct OutsideTimer(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    /// Wakes the thread: something is due earlier than it thinks, or it waits for nothing.
    changed: Condvar,
    linger: Duration,
    spawn: Spawn,
}

/// Starts a thread. A test can refuse.
type Spawn = fn(Arc<Shared>) -> io::Result<()>;

struct State {
    queue: TimerQueue,
    thread: Thread,
    /// Something was armed since the linger began.
    used: bool,
    /// The failure to start a thread has been said.
    warned: bool,
}

/// What the timer thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Thread {
    /// There is none.
    Absent,
    /// It runs, and looks at the queue before it waits.
    Awake,
    /// It waits for the earliest timer, at this time.
    Waits(Nanos),
    /// It waits with an empty queue, until this time.
    Lingers(Nanos),
}

// === impl OutsideTimer ===

impl OutsideTimer {
    /// The one of this process.
    pub(crate) fn of_process() -> &'static Self {
        static TIMER: OnceLock<OutsideTimer> = OnceLock::new();
        TIMER.get_or_init(|| Self::new(LINGER, spawn))
    }

    fn new(linger: Duration, spawn: Spawn) -> Self {
        let state = State { queue: TimerQueue::new(), thread: Thread::Absent, used: false, warned: false };
        Self(Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new(), linger, spawn }))
    }

    /// Starts the thread. The lock is held, so that nobody starts a second one. Returns a failure that has not been said.
    fn start(&self, state: &mut State) -> Option<io::Error> {
        match (self.0.spawn)(Arc::clone(&self.0)) {
            Ok(()) => {
                state.thread = Thread::Awake;
                None
            }
            Err(error) => (!std::mem::replace(&mut state.warned, true)).then_some(error),
        }
    }
}

impl Timer for OutsideTimer {
    fn arm(&self, at: Nanos, waker: Waker) -> TimerKey {
        let mut state = self.0.lock();
        let key = state.queue.arm(at, waker);
        state.used = true;
        match state.thread {
            Thread::Awake => {}
            Thread::Waits(until) | Thread::Lingers(until) => {
                if at < until {
                    state.thread = Thread::Awake;
                    self.0.changed.notify_one();
                }
            }
            Thread::Absent => {
                let refused = self.start(&mut state);
                drop(state);
                if let Some(error) = refused {
                    tracing::error!(
                        %error,
                        "the timer thread cannot be started, so asks from outside the shards do not time out until a \
                         later one starts it: raise the limit on threads (RLIMIT_NPROC, pids.max)"
                    );
                }
            }
        }
        key
    }

    fn cancel(&self, key: TimerKey) {
        let mut state = self.0.lock();
        let waker = state.queue.cancel(key);
        // The thread would sleep until a time that means nothing any more: send it into its linger instead.
        if matches!(state.thread, Thread::Waits(_)) && state.queue.earliest().is_none() {
            state.thread = Thread::Awake;
            self.0.changed.notify_one();
        }
        drop(state);
        // Dropping a waker runs code that is not ours: not under the lock.
        drop(waker);
    }
}

// === impl Shared ===

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // No code but ours runs under the lock; if that panics, later callers are better served by what there is.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The timer thread.
    fn run(&self) {
        let mut due = Vec::new();
        let mut state = self.lock();
        loop {
            let now = Nanos::now();
            state.queue.fire(now, &mut due);
            if !due.is_empty() {
                drop(state);
                due.drain(..).for_each(wake);
                state = self.lock();
                continue;
            }
            let until = match (state.queue.earliest(), state.thread) {
                (Some(at), _) => {
                    state.thread = Thread::Waits(at);
                    at
                }
                (None, Thread::Lingers(until)) if until > now => until,
                (None, Thread::Lingers(_)) if !state.used => {
                    state.thread = Thread::Absent;
                    return;
                }
                (None, _) => {
                    let until = now.after(self.linger);
                    state.used = false;
                    state.thread = Thread::Lingers(until);
                    until
                }
            };
            state = self.changed.wait_timeout(state, until.until(now)).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

fn spawn(shared: Arc<Shared>) -> io::Result<()> {
    thread::Builder::new().name("actor-timer".into()).spawn(move || shared.run()).map(drop)
}

/// Wakes, and survives a waker that panics: it must not take everybody else's timers with it.
fn wake(waker: Waker) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| waker.wake())) {
        // The payload's destructor, and a subscriber of `tracing`, are not ours either. A payload that panics in turn is
        // leaked, since its own payload could go on for ever.
        let dropped = catch_unwind(AssertUnwindSafe(|| {
            tracing::error!("a waker panicked on the timer thread");
            drop(payload);
        }));
        std::mem::forget(dropped);
    }
}

#[cfg(test)]
mod tests {
    use super::{Nanos, OutsideTimer, Thread, Timer, Waker};
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    use std::sync::{Arc, mpsc};
    use std::task::Wake;
    use std::thread;
    use std::time::{Duration, Instant};

    const PATIENCE: Duration = Duration::from_secs(20);

    /// Runs a function when woken.
    struct Call<F>(F);

    impl<F: Fn() + Send + Sync + 'static> Wake for Call<F> {
        fn wake(self: Arc<Self>) {
            (self.0)();
        }
    }

    fn waker(f: impl Fn() + Send + Sync + 'static) -> Waker {
        Waker::from(Arc::new(Call(f)))
    }

    fn soon() -> Nanos {
        Nanos::now().after(Duration::from_millis(2))
    }

    fn timer(linger: Duration) -> OutsideTimer {
        OutsideTimer::new(linger, super::spawn)
    }

    fn await_thread(timer: &OutsideTimer, wanted: Thread) {
        let end = Instant::now() + PATIENCE;
        loop {
            let is = timer.0.lock().thread;
            if is == wanted {
                return;
            }
            assert!(Instant::now() < end, "the timer thread is {is:?}, never {wanted:?}");
            thread::yield_now();
        }
    }

    fn await_absent(timer: &OutsideTimer) {
        await_thread(timer, Thread::Absent);
    }

    #[test]
    fn fires_in_order_and_never_early() {
        let timer = timer(Duration::from_millis(1));
        let (send, fired) = mpsc::channel();
        let start = Nanos::now();
        for millis in [30, 10, 0, 20] {
            let send = send.clone();
            let at = start.after(Duration::from_millis(millis));
            timer.arm(at, waker(move || send.send((millis, Nanos::now() >= at)).unwrap()));
        }
        for millis in [0, 10, 20, 30] {
            assert_eq!(fired.recv_timeout(PATIENCE), Ok((millis, true)));
        }
    }

    #[test]
    fn an_earlier_timer_overtakes_the_one_that_is_waited_for() {
        let timer = timer(PATIENCE);
        let far = timer.arm(Nanos(u64::MAX), Waker::noop().clone());
        await_thread(&timer, Thread::Waits(Nanos(u64::MAX)));
        let (send, fired) = mpsc::channel();
        timer.arm(soon(), waker(move || send.send(()).unwrap()));
        assert_eq!(fired.recv_timeout(PATIENCE), Ok(()));
        timer.cancel(far);
    }

    #[test]
    fn a_cancelled_timer_does_not_fire_and_cancelling_is_idempotent() {
        let timer = timer(Duration::from_millis(1));
        let woken = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&woken);
        let key = timer.arm(soon(), waker(move || _ = count.fetch_add(1, SeqCst)));
        timer.cancel(key);
        timer.cancel(key);
        // The thread ends only when nothing is left to fire.
        await_absent(&timer);
        assert_eq!(woken.load(SeqCst), 0);
        assert_eq!(Arc::strong_count(&woken), 1, "the waker was dropped");
    }

    #[test]
    fn ends_when_the_last_timer_is_cancelled_however_far_it_was() {
        let timer = timer(Duration::from_millis(1));
        let keys = [u64::MAX, u64::MAX - 1].map(|at| timer.arm(Nanos(at), Waker::noop().clone()));
        await_thread(&timer, Thread::Waits(Nanos(u64::MAX - 1)));
        for key in keys {
            timer.cancel(key);
        }
        await_absent(&timer);
    }

    #[test]
    fn lingers_while_it_is_used() {
        let timer = timer(PATIENCE);
        for _ in 0..100 {
            timer.cancel(timer.arm(Nanos(u64::MAX), Waker::noop().clone()));
        }
        assert_ne!(timer.0.lock().thread, Thread::Absent);
    }

    #[test]
    fn a_thread_that_could_not_start_is_tried_again() {
        static REFUSALS: AtomicUsize = AtomicUsize::new(2);
        let timer = OutsideTimer::new(Duration::from_millis(1), |shared| {
            match REFUSALS.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)) {
                Ok(_) => Err(std::io::ErrorKind::WouldBlock.into()),
                Err(_) => super::spawn(shared),
            }
        });
        let (send, fired) = mpsc::channel();
        for n in 0..3 {
            assert_eq!(timer.0.lock().thread, Thread::Absent);
            let send = send.clone();
            timer.arm(Nanos(n), waker(move || send.send(n).unwrap()));
        }
        for n in 0..3 {
            assert_eq!(fired.recv_timeout(PATIENCE), Ok(n), "the earlier ones are not lost");
        }
    }

    /// With no linger the thread is always about to end. A lone caller, whom nobody's next timer would save, arms at ever
    /// other moments of that.
    #[test]
    fn arming_while_the_thread_ends_strands_nothing() {
        let timer = timer(Duration::ZERO);
        let (send, fired) = mpsc::channel();
        for round in 0..4_000_u32 {
            let send = send.clone();
            timer.arm(Nanos::now(), waker(move || send.send(()).unwrap()));
            assert_eq!(fired.recv_timeout(PATIENCE), Ok(()), "round {round}");
            let moment = Instant::now() + Duration::from_nanos(50) * round;
            while Instant::now() < moment {}
        }
        await_absent(&timer);
    }

    #[test]
    fn many_callers_get_what_each_of_them_armed() {
        let timer = timer(Duration::ZERO);
        let callers: Vec<_> = (0..4)
            .map(|_| {
                let timer = timer.clone();
                thread::spawn(move || {
                    let (send, fired) = mpsc::channel();
                    for round in 0..500 {
                        let send = send.clone();
                        let spare = timer.arm(soon(), Waker::noop().clone());
                        timer.arm(Nanos::now(), waker(move || send.send(round).unwrap()));
                        assert_eq!(fired.recv_timeout(PATIENCE), Ok(round));
                        timer.cancel(spare);
                    }
                })
            })
            .collect();
        for caller in callers {
            caller.join().unwrap();
        }
        await_absent(&timer);
    }

    #[test]
    fn a_panicking_waker_harms_nobody_else() {
        /// A payload whose destructor panics as well.
        struct Bomb;
        impl Drop for Bomb {
            fn drop(&mut self) {
                panic!("the payload of a test");
            }
        }

        let timer = timer(Duration::from_millis(1));
        let (send, fired) = mpsc::channel();
        let at = soon();
        timer.arm(at, waker(|| panic!("the waker of a test")));
        timer.arm(at, waker(|| std::panic::panic_any(Bomb)));
        timer.arm(at, waker(move || send.send(()).unwrap()));
        assert_eq!(fired.recv_timeout(PATIENCE), Ok(()));
        await_absent(&timer);
    }

    #[test]
    fn a_waker_may_use_the_timer() {
        let timer = timer(Duration::from_millis(1));
        let (send, fired) = mpsc::channel();
        let inner = timer.clone();
        timer.arm(
            soon(),
            waker(move || {
                let send = send.clone();
                inner.cancel(inner.arm(soon(), Waker::noop().clone()));
                inner.arm(soon(), waker(move || send.send(()).unwrap()));
            }),
        );
        assert_eq!(fired.recv_timeout(PATIENCE), Ok(()));
    }
}
