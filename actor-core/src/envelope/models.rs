//! The reply cell, in every execution of a few small programs. The block is really freed, by whoever the cell says: loom
//! reports one that nobody frees, and a second free is a crash.

use std::{
    sync::Arc as StdArc,
    task::{Wake, Waker},
};

use loom::{
    cell::UnsafeCell,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use super::{Abandoned, Answer, Completed, Leaving, ReplyCell, Start};
use crate::sync::{Fault, model, model_with};

struct Block {
    cell: ReplyCell,
    outcome: UnsafeCell<u32>,
    /// loom counts those that are never dropped.
    _leak: Arc<()>,
}

/// One end of the block.
#[derive(Clone, Copy)]
struct End(*mut Block);

// SAFETY: that the ends do not get into each other's way is what the model checks.
unsafe impl Send for End {}

impl End {
    fn pair(waker: Waker) -> (Self, Self) {
        let block = Block { cell: ReplyCell::new(waker), outcome: UnsafeCell::new(0), _leak: Arc::new(()) };
        let end = Self(Box::into_raw(Box::new(block)));
        (end, end)
    }

    fn block(&self) -> &Block {
        // SAFETY: an end is used until the cell says that the block is the other's, or until `free`.
        unsafe { &*self.0 }
    }

    fn free(self) {
        // SAFETY: the cell says that the block is this end's.
        drop(unsafe { Box::from_raw(self.0) });
    }

    /// The callee: answers, as `Ask` does it.
    fn answer(self) {
        // SAFETY: the callee's until it completes.
        self.block().outcome.with_mut(|outcome| unsafe { *outcome = 42 });
        match self.block().cell.complete() {
            Completed::Delivered(waker) => {
                if let Some(waker) = waker {
                    waker.wake();
                }
            }
            Completed::Abandoned => self.free(),
        }
    }

    /// The caller: takes the answer.
    fn take(self) {
        // SAFETY: ready, so the caller's.
        assert_eq!(self.block().outcome.with(|outcome| unsafe { *outcome }), 42);
        self.free();
    }
}

/// A task's sleep: loom finds a wait that nobody ends.
struct Sleep(loom::sync::Notify);

impl Wake for Sleep {
    fn wake(self: StdArc<Self>) {
        self.0.notify();
    }
}

fn sleep() -> (StdArc<Sleep>, Waker) {
    let sleep = StdArc::new(Sleep(loom::sync::Notify::new()));
    (sleep.clone(), sleep.into())
}

fn wait_for_the_answer() {
    let (sleep, waker) = sleep();
    let (caller, callee) = End::pair(waker);
    let thread = thread::spawn(move || callee.answer());
    while caller.block().cell.poll(None) != Answer::Ready {
        sleep.0.wait();
    }
    caller.take();
    thread.join().unwrap();
}

#[test]
fn the_answer_wakes_its_asker() {
    model(wait_for_the_answer);
}

#[test]
#[should_panic = "Causality violation"]
fn an_answer_without_release_is_seen() {
    model_with(Fault::ReplyDone, wait_for_the_answer);
}

fn change_the_waker() {
    let (_, first) = sleep();
    let (sleep, second) = sleep();
    let (caller, callee) = End::pair(first);
    let thread = thread::spawn(move || callee.answer());
    let mut changed = Some(&second);
    loop {
        match caller.block().cell.poll(changed) {
            Answer::Ready => break,
            Answer::Pending => changed = None,
            // The change did not take; the new waker has been woken for another try.
            Answer::Busy => thread::yield_now(),
        }
        sleep.0.wait();
    }
    caller.take();
    thread.join().unwrap();
}

#[test]
fn an_answer_finds_the_waker_that_is_just_being_changed() {
    model(change_the_waker);
}

#[test]
#[should_panic = "Causality violation"]
fn a_waker_taken_without_the_lock_is_seen() {
    model_with(Fault::ReplyLock, change_the_waker);
}

#[test]
#[should_panic = "deadlock"]
fn a_change_that_is_taken_for_made_is_seen() {
    model_with(Fault::ReplyBusy, change_the_waker);
}

/// The caller goes while the callee begins and answers; if `changes`, just after it has come with another waker.
fn leave(how: Leaving, changes: bool) {
    let (old, waker) = sleep();
    let (new, changed) = sleep();
    let (caller, callee) = End::pair(waker);
    let thread = thread::spawn(move || match callee.block().cell.start() {
        Start::Run => callee.answer(),
        Start::Withdrawn => callee.free(),
    });
    let is_ready = changes && caller.block().cell.poll(Some(&changed)) == Answer::Ready;
    if is_ready || caller.block().cell.abandon(how) == Abandoned::Ready {
        caller.take();
    }
    thread.join().unwrap();
    drop(changed);
    assert_eq!((StdArc::strong_count(&old), StdArc::strong_count(&new)), (1, 1), "each waker is dropped once");
}

#[test]
fn whoever_comes_second_frees_the_block() {
    for how in [Leaving::Quietly, Leaving::Withdrawing, Leaving::Cancelling] {
        model(move || leave(how, false));
        model(move || leave(how, true));
    }
}

#[test]
#[should_panic = "Causality violation"]
fn a_caller_that_leaves_without_release_is_seen() {
    model_with(Fault::ReplyLeave, || leave(Leaving::Quietly, true));
}

/// The actor ends without having begun, and says so, while the caller goes.
#[test]
fn an_answer_without_a_start_frees_the_block_once() {
    for how in [Leaving::Quietly, Leaving::Withdrawing, Leaving::Cancelling] {
        model(move || {
            let (caller, callee) = End::pair(Waker::noop().clone());
            let thread = thread::spawn(move || callee.answer());
            match caller.block().cell.abandon(how) {
                Abandoned::Ready => caller.take(),
                Abandoned::Queued => {}
                Abandoned::Running => panic!("nothing has begun"),
            }
            thread.join().unwrap();
        });
    }
}

fn withdraw_against_start(how: Leaving) {
    let (caller, callee) = End::pair(Waker::noop().clone());
    let has_run = Arc::new(AtomicBool::new(false));
    let runs = has_run.clone();
    let thread = thread::spawn(move || match callee.block().cell.start() {
        Start::Run => {
            runs.store(true, Ordering::Relaxed);
            callee.answer();
        }
        Start::Withdrawn => callee.free(),
    });
    let left = caller.block().cell.abandon(how);
    if left == Abandoned::Ready {
        caller.take();
    }
    thread.join().unwrap();
    assert_eq!(has_run.load(Ordering::Relaxed), left != Abandoned::Queued, "told the truth");
}

#[test]
fn a_caller_that_is_told_not_delivered_is_told_the_truth() {
    for how in [Leaving::Withdrawing, Leaving::Cancelling] {
        model(move || withdraw_against_start(how));
    }
}

#[test]
#[should_panic = "told the truth"]
fn a_start_that_looks_first_is_seen() {
    model_with(Fault::ReplyStart, || withdraw_against_start(Leaving::Withdrawing));
}
