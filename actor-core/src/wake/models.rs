//! The doorbell and the stacks, in every execution of a few small programs.

use std::{ptr::NonNull, sync::Arc as StdArc};

use loom::{
    cell::UnsafeCell,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use super::{Doorbell, Linked, Stack, publish_fence};
use crate::{
    port::Notify,
    sync::{AtomicPtr, Fault, model, model_with},
};

/// A driver's sleep: loom finds a wait that nobody ends.
struct Driver(loom::sync::Notify);

impl Notify for Driver {
    fn notify(&self) {
        self.0.notify();
    }
}

/// What every shard does: look, announce, look again, sleep. Ends when `all` has been published.
fn consume(bell: &Doorbell, driver: &Driver, published: &AtomicUsize, all: usize) {
    // Relaxed throughout: nothing but the doorbell's fences orders the look after the announcement.
    while published.load(Ordering::Relaxed) < all {
        bell.announce_sleep();
        if published.load(Ordering::Relaxed) == all {
            bell.wake();
            break;
        }
        driver.0.wait();
        bell.wake();
    }
}

fn sleep_against_rings(producers: usize) {
    let (bell, published) = (Arc::new(Doorbell::new()), Arc::new(AtomicUsize::new(0)));
    let driver = StdArc::new(Driver(loom::sync::Notify::new()));
    // SAFETY: just made, so closed.
    unsafe { bell.open(driver.clone()) };
    let producers: Vec<_> = (0..producers)
        .map(|_| {
            let (bell, published) = (bell.clone(), published.clone());
            thread::spawn(move || {
                published.fetch_add(1, Ordering::Relaxed);
                bell.ring();
            })
        })
        .collect();
    consume(&bell, &driver, &published, producers.len());
    for producer in producers {
        producer.join().unwrap();
    }
}

#[test]
fn no_wakeup_is_lost_with_one_producer() {
    model(|| sleep_against_rings(1));
}

#[test]
fn no_wakeup_is_lost_with_two_producers() {
    model(|| sleep_against_rings(2));
}

#[test]
#[should_panic = "deadlock"]
fn a_ring_without_a_fence_loses_one() {
    model_with(Fault::BellRingFence, || sleep_against_rings(1));
}

#[test]
#[should_panic = "deadlock"]
fn a_sleep_without_a_fence_loses_one() {
    model_with(Fault::BellSleepFence, || sleep_against_rings(1));
}

#[test]
fn one_fence_does_for_two_doorbells() {
    model(|| {
        let bells = [(); 2].map(|()| {
            let (bell, published) = (Arc::new(Doorbell::new()), Arc::new(AtomicUsize::new(0)));
            let driver = StdArc::new(Driver(loom::sync::Notify::new()));
            // SAFETY: just made, so closed.
            unsafe { bell.open(driver.clone()) };
            (bell, published, driver)
        });
        let theirs = bells.clone();
        let producer = thread::spawn(move || {
            for (_, published, _) in &theirs {
                published.fetch_add(1, Ordering::Relaxed);
            }
            publish_fence();
            for (bell, ..) in &theirs {
                bell.ring_after_fence();
            }
        });
        for (bell, published, driver) in &bells {
            consume(bell, driver, published, 1);
        }
        producer.join().unwrap();
    });
}

#[test]
fn a_sleeper_is_notified_once_whoever_rings() {
    struct Count(AtomicUsize);
    impl Notify for Count {
        fn notify(&self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    model(|| {
        let (bell, count) = (Arc::new(Doorbell::new()), StdArc::new(Count(AtomicUsize::new(0))));
        // SAFETY: just made, so closed.
        unsafe { bell.open(count.clone()) };
        bell.announce_sleep();
        let ringers = [(); 2].map(|()| {
            let bell = bell.clone();
            thread::spawn(move || bell.ring())
        });
        let woke: Vec<bool> = ringers.into_iter().map(|ringer| ringer.join().unwrap()).collect();
        assert_eq!(woke.iter().filter(|woke| **woke).count(), 1);
        assert_eq!(count.0.load(Ordering::Relaxed), 1);
        assert!(bell.wake());
    });
}

/// A notifier whose use loom watches.
struct Watched(UnsafeCell<u32>);

impl Notify for Watched {
    fn notify(&self) {
        self.0.with(|_| thread::yield_now());
    }
}

// SAFETY: that the cell is not touched from two threads at a time is what the model checks.
unsafe impl Sync for Watched {}

fn open_against_ring() {
    let (bell, watched) = (Arc::new(Doorbell::new()), StdArc::new(Watched(UnsafeCell::new(0))));
    let ringer = {
        let bell = bell.clone();
        thread::spawn(move || bell.ring())
    };
    // SAFETY: just made, so closed.
    unsafe { bell.open(watched) };
    bell.announce_sleep();
    let rang = ringer.join().unwrap();
    assert_eq!(bell.wake(), rang);
}

#[test]
fn a_ringer_finds_the_doorbell_closed_or_whole() {
    model(open_against_ring);
}

#[test]
#[should_panic = "Causality violation"]
fn a_doorbell_opened_without_release_is_seen() {
    model_with(Fault::BellOpen, open_against_ring);
}

fn close_against_ring() {
    let (bell, watched) = (Arc::new(Doorbell::new()), StdArc::new(Watched(UnsafeCell::new(0))));
    // SAFETY: just made, so closed.
    unsafe { bell.open(watched.clone()) };
    bell.announce_sleep();
    let ringer = {
        let bell = bell.clone();
        thread::spawn(move || _ = bell.ring())
    };
    bell.close();
    // As an owner that destroys it would.
    watched.0.with_mut(|_| ());
    ringer.join().unwrap();
}

#[test]
fn a_closed_doorbell_s_notifier_is_used_by_nobody() {
    model(close_against_ring);
}

/// The second ringer may come in while the first is still inside, from the sleep before.
#[test]
fn a_close_waits_for_the_ringers_of_two_sleeps() {
    model(|| {
        let (bell, watched) = (Arc::new(Doorbell::new()), StdArc::new(Watched(UnsafeCell::new(0))));
        // SAFETY: just made, so closed.
        unsafe { bell.open(watched.clone()) };
        let ringers = [(); 2].map(|()| {
            let bell = bell.clone();
            thread::spawn(move || _ = bell.ring())
        });
        for _ in 0..2 {
            bell.announce_sleep();
            bell.wake();
        }
        bell.announce_sleep();
        bell.close();
        watched.0.with_mut(|_| ());
        for ringer in ringers {
            ringer.join().unwrap();
        }
        // The next owner's.
        // SAFETY: closed.
        unsafe { bell.open(watched.clone()) };
        assert!(!bell.ring());
    });
}

#[test]
#[should_panic = "currently reading from cell"]
fn a_close_that_does_not_wait_is_seen() {
    model_with(Fault::BellCloseWait, close_against_ring);
}

struct Node {
    link: AtomicPtr<Node>,
    value: UnsafeCell<u32>,
}

// SAFETY: the link is a field, written only by the stack.
unsafe impl Linked for Node {
    fn link(&self) -> &AtomicPtr<Self> {
        &self.link
    }
}

// SAFETY: that the value is not touched from two threads at a time is what the model checks.
unsafe impl Send for Node {}

fn node() -> NonNull<Node> {
    NonNull::from(Box::leak(Box::new(Node { link: AtomicPtr::default(), value: UnsafeCell::new(0) })))
}

/// Writes the node's value and pushes it; frees a node that is refused. Returns whether it is on the stack.
fn push(stack: &Stack<Node>, value: u32) -> bool {
    let node = node();
    // SAFETY: just made, ours until it is pushed, and on no stack.
    unsafe {
        node.as_ref().value.with_mut(|cell| *cell = value);
        let pushed = stack.push(node);
        if !pushed {
            drop(Box::from_raw(node.as_ptr()));
        }
        pushed
    }
}

fn read(node: NonNull<Node>) -> u32 {
    // SAFETY: taken from the stack, so ours.
    let node = unsafe { Box::from_raw(node.as_ptr()) };
    // SAFETY: as above.
    node.value.with(|cell| unsafe { *cell })
}

fn pushes_against_take() {
    let stack = Arc::new(Stack::new());
    let pushers = [vec![1, 2], vec![10]].map(|values| {
        let stack = stack.clone();
        thread::spawn(move || {
            for value in values {
                assert!(push(&stack, value));
            }
        })
    });
    let mut seen = Vec::new();
    while seen.len() < 3 {
        seen.extend(stack.take().map(read));
        thread::yield_now();
    }
    for pusher in pushers {
        pusher.join().unwrap();
    }
    assert!(stack.is_empty());
    let of =
        |range: std::ops::Range<u32>| seen.iter().copied().filter(|value| range.contains(value)).collect::<Vec<_>>();
    assert_eq!((of(0..10), of(10..100)), (vec![1, 2], vec![10]), "each thread's in its order");
}

#[test]
fn every_pushed_node_is_taken_once_and_in_order() {
    model(pushes_against_take);
}

#[test]
#[should_panic = "Causality violation"]
fn a_push_without_release_is_seen() {
    model_with(Fault::StackPush, pushes_against_take);
}

#[test]
fn a_node_is_taken_by_the_close_or_refused() {
    model(|| {
        let stack = Arc::new(Stack::new());
        let pusher = {
            let stack = stack.clone();
            thread::spawn(move || push(&stack, 7))
        };
        let taken: Vec<u32> = stack.close().map(read).collect();
        assert_eq!(taken.len(), usize::from(pusher.join().unwrap()));
        assert!(!push(&stack, 8) && stack.is_empty());
        stack.open();
        assert!(push(&stack, 9));
        assert_eq!(stack.take().map(read).collect::<Vec<_>>(), [9]);
    });
}
