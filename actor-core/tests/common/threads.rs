//! A host of threads: one for each shard, with real wakes. What the tests of `two_shards` drive by hand runs here.

use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc, Barrier, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc,
    },
    task::{Context, Poll, Wake, Waker},
    thread::{self, JoinHandle, Thread},
    time::Duration,
};

use actor_core::{
    Domain, DomainConfig, Remote, Shard, Stats, Turn,
    port::{Driver, Host, MonotonicClock, Nanos, Notify, Report},
};

/// What a driver does when nothing is ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sleep {
    /// Turns again at once: no doorbell is ever rung, so that nothing but the queues themselves orders memory.
    Never,
    /// Announces its sleep and parks: each message may need a wake.
    Park,
}

/// A shard's thread, to be woken.
struct Parked(Thread);

impl Notify for Parked {
    fn notify(&self) {
        self.0.unpark();
    }
}

impl Wake for Parked {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// A task that shares its thread with a shard, as Tokio's do: a future that is no actor, made on the shard.
pub type LocalTask = Box<dyn FnOnce() -> Pin<Box<dyn Future<Output = ()>>> + Send>;

/// The waker of a shard's local task.
struct TaskWaker {
    is_ready: AtomicBool,
    thread: Arc<Parked>,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.is_ready.store(true, Ordering::Release);
        self.thread.notify();
    }
}

/// Takes down which actors failed: an assertion in a handler ends its actor, and would go unnoticed.
#[derive(Clone, Default)]
struct Failures(Arc<Mutex<Vec<String>>>);

impl Driver for Failures {
    fn report(&self, report: Report<'_>) {
        if let Report::ActorFailed { kind, reason, .. } = report {
            self.0.lock().expect("failures").push(format!("{kind}: {reason}"));
        }
    }
}

/// Shards on threads of their own.
pub struct Crew {
    pub remotes: Vec<Remote>,
    threads: Vec<JoinHandle<Stats>>,
    failures: Failures,
}

impl Crew {
    pub fn start(configs: Vec<DomainConfig>, sleep: Sleep) -> Self {
        let domains: Vec<_> = configs.into_iter().map(|config| Domain::new(config).expect("domain")).collect();
        Self::of(domains, sleep, |_| Box::new(|| Box::pin(async {})))
    }

    /// Starts with a task beside each shard, which ends by itself.
    pub fn of(domains: Vec<Domain>, sleep: Sleep, mut beside: impl FnMut(usize) -> LocalTask) -> Self {
        let failures = Failures::default();
        let running = Arc::new(AtomicUsize::new(domains.len()));
        let gate = Arc::new(Barrier::new(domains.len()));
        let remotes = domains.iter().map(Domain::remote).collect();
        let threads = domains.into_iter().enumerate().map(|(number, domain)| {
            let (running, gate, failures, task) = (running.clone(), gate.clone(), failures.clone(), beside(number));
            thread::spawn(move || {
                let thread = Arc::new(Parked(thread::current()));
                let shard = domain.bind(Host {
                    notify: thread.clone(),
                    clock: Box::new(MonotonicClock),
                    driver: Box::new(failures),
                    choose: None,
                });
                gate.wait();
                Seat { shard: &shard, sleep, running: &running }.drive(&thread, task());
                // Until here each shard answered `Closed` to what the others still sent.
                gate.wait();
                shard.turn();
                shard.stats()
            })
        });
        let threads = threads.collect();
        Self { remotes, threads, failures }
    }

    /// Shuts all shards down, and returns what each has counted. Actors drain; nobody is killed.
    pub fn shut_down(self) -> Vec<Stats> {
        for remote in &self.remotes {
            assert!(remote.begin_shutdown());
        }
        let stats = self.threads.into_iter().map(|thread| thread.join().expect("a shard's thread")).collect();
        assert_eq!(*self.failures.0.lock().expect("failures"), [""; 0]);
        stats
    }
}

/// Where a shard is driven.
struct Seat<'a> {
    shard: &'a Shard,
    sleep: Sleep,
    /// Shards that have not ended.
    running: &'a AtomicUsize,
}

impl Seat<'_> {
    fn drive(&self, thread: &Arc<Parked>, task: Pin<Box<dyn Future<Output = ()>>>) {
        let waker = Waker::from(thread.clone());
        let task_waker = Arc::new(TaskWaker { is_ready: AtomicBool::new(true), thread: thread.clone() });
        let mut task = Some(task);
        let mut has_ended = false;
        let mut dice = Dice::new(self.shard.remote().shard().index() as u64);
        loop {
            let turn = self.shard.turn();
            // Acquire: pairs with the Release in `wake`.
            if task_waker.is_ready.swap(false, Ordering::Acquire)
                && let Some(future) = &mut task
            {
                let _here = self.shard.activate();
                if future.as_mut().poll(&mut Context::from_waker(&task_waker.clone().into())).is_ready() {
                    task = None;
                }
            }
            match turn {
                Turn::More => {}
                Turn::Ended if task.is_none() => {
                    if !has_ended {
                        has_ended = true;
                        self.running.fetch_sub(1, Ordering::AcqRel);
                    }
                    if self.running.load(Ordering::Acquire) == 0 {
                        return;
                    }
                    thread::yield_now();
                }
                Turn::Ended | Turn::Idle { .. } => {
                    // Now and then something is to come between the turn's last look and the sleep's announcement.
                    for _ in 0..dice.below(256) {
                        std::hint::spin_loop();
                    }
                    self.rest(&waker);
                }
            }
        }
    }

    fn rest(&self, waker: &Waker) {
        match self.sleep {
            Sleep::Never => thread::yield_now(),
            Sleep::Park if !self.shard.announce_sleep(waker) => {}
            // Asked for here: the task may have armed one since the turn.
            Sleep::Park => match self.shard.next_timer() {
                None => thread::park(),
                Some(at) => thread::park_timeout(at.until(Nanos::now())),
            },
        }
    }
}

/// Runs `what` on a thread of its own and fails if it hangs.
#[track_caller]
pub fn within<T: Send + 'static>(limit: Duration, what: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, outcome) = mpsc::channel();
    let thread = thread::spawn(move || {
        let value = what();
        _ = done.send(());
        value
    });
    match outcome.recv_timeout(limit) {
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("not done after {limit:?}: a wake was lost"),
        // Done, or panicked.
        Ok(()) | Err(mpsc::RecvTimeoutError::Disconnected) => match thread.join() {
            Ok(value) => value,
            Err(panic) => std::panic::resume_unwind(panic),
        },
    }
}

/// Awaits `future` on this thread, which is no shard's.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = std::pin::pin!(future);
    let waker = Waker::from(Arc::new(Parked(thread::current())));
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

/// Pseudo-random numbers, by xorshift: the same ones for the same seed.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        // Zero is the one state that xorshift never leaves.
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// One of `0..bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        ((self.next() >> 16) % bound as u64) as usize
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}
