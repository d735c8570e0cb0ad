//! One suite for every doorbell.

use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use actor_core::port::Notify;

/// A doorbell without its type.
struct Pair {
    ringer: Arc<dyn Notify>,
    poll: Box<Listen>,
}

type Listen = dyn FnMut(&mut Context<'_>) -> Poll<io::Result<()>>;

impl Pair {
    fn poll_once(&mut self) -> Poll<io::Result<()>> {
        (self.poll)(&mut Context::from_waker(Waker::noop()))
    }

    /// Waits for a ring; a lost one fails the test.
    async fn rung(&mut self) {
        const PATIENCE: Duration = Duration::from_secs(20);

        let begun = Instant::now();
        let rung = tokio::time::timeout(PATIENCE, poll_fn(&mut self.poll)).await;
        // The timeout polls the bell once more, so it finds a ring for which nobody was woken: look at the time.
        assert!(begun.elapsed() < PATIENCE, "a ring was lost");
        rung.expect("a ring").expect("the bell failed");
    }
}

/// Runs each test once for each doorbell, on a runtime like a shard's.
macro_rules! contract {
    ($($test:ident)*) => {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        mod eventfd {
            $(#[test] fn $test() { super::on_a_shard(async || super::$test(super::eventfd_pair()).await) })*
        }
        mod waker {
            $(#[test] fn $test() { super::on_a_shard(async || super::$test(super::waker_pair()).await) })*
        }
    };
}

contract! {
    a_ring_before_the_first_poll_is_found
    a_ring_after_the_poll_wakes
    only_the_last_task_is_owed_a_wake
    rings_merge
    a_ring_after_the_end_is_harmless
    no_ring_is_lost_under_fire
}

async fn a_ring_before_the_first_poll_is_found(mut pair: Pair) {
    pair.ringer.notify();
    pair.rung().await;
}

async fn a_ring_after_the_poll_wakes(mut pair: Pair) {
    for _ in 0..100 {
        assert!(pair.poll_once().is_pending());
        let ringer = Arc::clone(&pair.ringer);
        let thread = thread::spawn(move || ringer.notify());
        pair.rung().await;
        thread.join().unwrap();
    }
}

async fn only_the_last_task_is_owed_a_wake(mut pair: Pair) {
    assert!(pair.poll_once().is_pending());
    let ringer = Arc::clone(&pair.ringer);
    // Runs when `rung` has polled and waits: by then the waker of `poll_once` has been replaced.
    tokio::task::spawn_local(async move { ringer.notify() });
    pair.rung().await;
}

async fn rings_merge(mut pair: Pair) {
    for _ in 0..1_000 {
        pair.ringer.notify();
    }
    pair.rung().await;
    for _ in 0..10 {
        assert!(pair.poll_once().is_pending(), "a ring was taken twice");
        tokio::task::yield_now().await;
    }
}

async fn a_ring_after_the_end_is_harmless(pair: Pair) {
    let Pair { ringer, poll } = pair;
    drop(poll);
    ringer.notify();
    thread::spawn(move || ringer.notify()).join().unwrap();
}

/// Each thread publishes, then rings. A lost ring leaves something published that nobody is woken for.
async fn no_ring_is_lost_under_fire(mut pair: Pair) {
    const THREADS: u64 = 3;
    const RINGS: u64 = 20_000;

    let published = Arc::new(AtomicU64::new(0));
    let taken = Arc::new(AtomicU64::new(0));
    let threads: Vec<_> = (0..THREADS)
        .map(|_| {
            let (ringer, published, taken) = (Arc::clone(&pair.ringer), Arc::clone(&published), Arc::clone(&taken));
            thread::spawn(move || {
                for n in 0..RINGS {
                    // Relaxed: that the ring alone makes it visible is part of the contract.
                    published.fetch_add(1, Ordering::Relaxed);
                    ringer.notify();
                    // Wait now and then for the driver to have caught up, so that it often sleeps at the next ring.
                    while n % 4 == 0 && taken.load(Ordering::Relaxed) < published.load(Ordering::Relaxed) {
                        thread::yield_now();
                    }
                }
            })
        })
        .collect();
    let mut rung = 0;
    while taken.load(Ordering::Relaxed) < THREADS * RINGS {
        pair.rung().await;
        rung += 1;
        taken.store(published.load(Ordering::Relaxed), Ordering::Relaxed);
    }
    assert!(rung <= THREADS * RINGS);
    for thread in threads {
        thread.join().unwrap();
    }
}

fn on_a_shard<F: Future<Output = ()>>(test: impl FnOnce() -> F) {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build_local(tokio::runtime::LocalOptions::default())
        .unwrap()
        .block_on(async { test().await });
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn eventfd_pair() -> Pair {
    let ringer = super::eventfd::EventFd::new().unwrap();
    let mut bell = ringer.listen().unwrap();
    Pair { ringer: Arc::new(ringer), poll: Box::new(move |cx| bell.poll_rung(cx)) }
}

fn waker_pair() -> Pair {
    let ringer = super::waker::WakerBell::new().unwrap();
    let mut bell = ringer.listen().unwrap();
    Pair { ringer: Arc::new(ringer), poll: Box::new(move |cx| bell.poll_rung(cx)) }
}
