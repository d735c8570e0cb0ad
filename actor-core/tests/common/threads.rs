//! A host of threads: one for each shard, with real wakes. What the tests of `two_shards` drive by hand runs here.

use std::{
    sync::{
        Arc, Barrier,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    task::{Wake, Waker},
    thread::{self, JoinHandle, Thread},
    time::Duration,
};

use actor_core::{
    Domain, DomainConfig, Remote, Shard, Stats, Turn,
    port::{Driver, Host, MonotonicClock, Nanos, Notify},
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

/// Says nothing and has no budget.
struct Quiet;

impl Driver for Quiet {}

/// Shards on threads of their own.
pub struct Crew {
    pub remotes: Vec<Remote>,
    threads: Vec<JoinHandle<Stats>>,
}

impl Crew {
    pub fn start(configs: Vec<DomainConfig>, sleep: Sleep) -> Self {
        let running = Arc::new(AtomicUsize::new(configs.len()));
        let begin = Arc::new(Barrier::new(configs.len()));
        let (mut remotes, mut threads) = (Vec::new(), Vec::new());
        for config in configs {
            let domain = Domain::new(config).expect("domain");
            remotes.push(domain.remote());
            let (running, begin) = (running.clone(), begin.clone());
            threads.push(thread::spawn(move || {
                let thread = Arc::new(Parked(thread::current()));
                let shard = domain.bind(Host {
                    notify: thread.clone(),
                    clock: Box::new(MonotonicClock),
                    driver: Box::new(Quiet),
                    choose: None,
                });
                begin.wait();
                drive(&shard, sleep, &thread.into(), &running);
                // Until here each shard answered `Closed` to what the others still sent.
                begin.wait();
                shard.turn();
                shard.stats()
            }));
        }
        Self { remotes, threads }
    }

    /// Shuts all shards down, and returns what each has counted. Actors drain; nobody is killed.
    pub fn shut_down(self) -> Vec<Stats> {
        for remote in &self.remotes {
            assert!(remote.begin_shutdown());
        }
        self.threads.into_iter().map(|thread| thread.join().expect("a shard's thread")).collect()
    }
}

fn drive(shard: &Shard, sleep: Sleep, waker: &Waker, running: &AtomicUsize) {
    let mut has_ended = false;
    loop {
        let next_timer = match shard.turn() {
            Turn::More => continue,
            Turn::Idle { next_timer, .. } => next_timer,
            Turn::Ended => {
                if !has_ended {
                    has_ended = true;
                    running.fetch_sub(1, Ordering::AcqRel);
                }
                if running.load(Ordering::Acquire) == 0 {
                    return;
                }
                thread::yield_now();
                continue;
            }
        };
        match sleep {
            Sleep::Never => thread::yield_now(),
            Sleep::Park if !shard.announce_sleep(waker) => {}
            Sleep::Park => match next_timer {
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
        match future.as_mut().poll(&mut std::task::Context::from_waker(&waker)) {
            std::task::Poll::Ready(output) => return output,
            std::task::Poll::Pending => thread::park(),
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
