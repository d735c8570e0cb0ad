//! Asks and tells: room, time limits, deadlocks, and what becomes of those that are dropped.

mod common;

use std::{
    future::Future,
    task::{Poll, Waker},
    time::Duration,
};

use actor_core::{AskError, ExitReason, TellError, TryTellError, Turn, port::Nanos};
use common::{Gate, HandShard, Order, assert_accounted, finish, poll, spawn};

#[test]
fn a_full_mailbox_gives_back_waits_and_serves_in_order() {
    let shard = HandShard::new(0);
    let cell = spawn(&shard, Some(2));
    let order = Order::default();
    let note = |n: u64| order.call(&cell, n);
    note(0).try_tell().expect("room");
    note(1).try_tell().expect("room");
    let refused = note(9).try_tell().expect_err("full");
    assert!(refused.is_full() && !refused.was_delivered());
    drop(refused.into_args());
    let (mut third, mut fourth, mut fifth) = (note(2).tell(), note(3).tell(), note(4).tell());
    for tell in [&mut third, &mut fourth, &mut fifth] {
        assert!(poll(tell, Waker::noop()).is_pending());
    }
    assert_eq!(cell.queue_len(), 2);
    drop(fourth);
    shard.settle();
    assert!(matches!(note(8).try_tell(), Err(TryTellError::Full(_))), "the places are theirs that wait");
    assert!(matches!(poll(&mut third, Waker::noop()), Poll::Ready(Ok(()))));
    shard.settle();
    assert!(matches!(poll(&mut fifth, Waker::noop()), Poll::Ready(Ok(()))));
    shard.settle();
    assert_eq!(order.seen(), [0, 1, 2, 4]);
    assert_accounted(&[&shard]);
}

#[test]
fn a_permit_that_nobody_picks_up_goes_to_the_next_in_the_queue() {
    let shard = HandShard::new(0);
    let cell = spawn(&shard, Some(1));
    cell.add(1).try_tell().expect("room");
    let (mut first, mut second) = (cell.add(10).tell(), cell.add(100).tell());
    assert!(poll(&mut first, Waker::noop()).is_pending());
    assert!(poll(&mut second, Waker::noop()).is_pending());
    shard.settle();
    // The freed permit has been handed to `first`; it goes without it.
    drop(first);
    assert!(matches!(poll(&mut second, Waker::noop()), Poll::Ready(Ok(()))));
    assert_eq!(finish(&[&shard], cell.add(0)), Ok(101));
}

#[test]
fn a_self_ask_and_a_self_tell_into_a_full_mailbox_are_deadlocks_at_once() {
    let shard = HandShard::new(0);
    let cell = spawn(&shard, Some(1));
    let me = cell.clone();
    let outcome = finish(
        &[&shard],
        cell.run_async(move |_, _| {
            Box::pin(async move {
                let Err(AskError::Deadlock { path }) = me.add(1).await else { panic!("not a deadlock") };
                assert_eq!(path.actors().len(), 1);
                assert_eq!(path.actors()[0].actor, me.id());
                me.add(7).tell().await.expect("there is room for one");
                let Err(error) = me.add(1).tell().await else { panic!("not a deadlock") };
                assert!(matches!(error, TellError::Deadlock { .. }));
                drop(error.into_args());
                3
            })
        }),
    );
    assert_eq!(outcome, Ok(3));
    assert_eq!(finish(&[&shard], cell.add(0)), Ok(7));
}

#[test]
fn deadlines_are_kept_and_an_expired_message_is_not_handled() {
    let shard = HandShard::new(0);
    let cell = spawn(&shard, None);
    let gate = Gate::default();
    let (slow, waiter) = (gate.clone(), cell.clone());
    // An asker on the shard, so that the hand clock counts.
    let asker = spawn(&shard, None);
    let outcome = finish_advancing(
        &shard,
        asker.run_async(move |_, _| {
            Box::pin(async move {
                let limit = Duration::from_nanos(50);
                let mut running = Some(
                    waiter
                        .run_async(move |_, _| {
                            Box::pin(async move {
                                slow.await;
                                1
                            })
                        })
                        .timeout(limit),
                );
                let mut queued = Some(waiter.add(100).timeout(limit));
                let mut both = Vec::new();
                std::future::poll_fn(|cx| {
                    // In this order: the first one keeps the actor busy.
                    if let Some(ask) = &mut running
                        && let Poll::Ready(outcome) = std::pin::Pin::new(ask).poll(cx)
                    {
                        both.push(outcome);
                        running = None;
                    }
                    if let Some(ask) = &mut queued
                        && let Poll::Ready(outcome) = std::pin::Pin::new(ask).poll(cx)
                    {
                        both.push(outcome);
                        queued = None;
                    }
                    if both.len() == 2 { Poll::Ready(()) } else { Poll::Pending }
                })
                .await;
                both.iter()
                    .map(|outcome| match outcome {
                        Err(AskError::Timeout { delivered: true }) => 10,
                        Err(AskError::Timeout { delivered: false }) => 1,
                        _ => 1000,
                    })
                    .sum()
            })
        }),
    );
    assert_eq!(outcome, Ok(11));
    gate.open();
    assert_eq!(finish(&[&shard], cell.add(0)), Ok(0), "the queued message was not handled");
    assert_accounted(&[&shard]);
}

fn finish_advancing<F: Future>(shard: &HandShard, future: F) -> F::Output {
    let mut future = std::pin::pin!(future);
    for _ in 0..100 {
        if let Poll::Ready(output) = future.as_mut().poll(&mut std::task::Context::from_waker(Waker::noop())) {
            return output;
        }
        if let Turn::Idle { next_timer: Some(Nanos(at)), .. } = shard.settle() {
            shard.clock.0.set(at.max(shard.clock.0.get()));
        }
    }
    panic!("not done");
}

#[test]
fn dropped_asks_are_handled_unless_they_say_otherwise() {
    let shard = HandShard::new(0);
    let cell = spawn(&shard, None);
    let mut dropped = cell.add(1);
    assert!(poll(&mut dropped, Waker::noop()).is_pending());
    drop(dropped);
    let mut withdrawn = cell.add(10).cancel_on_drop();
    assert!(poll(&mut withdrawn, Waker::noop()).is_pending());
    drop(withdrawn);
    drop(cell.add(100));
    assert_eq!(finish(&[&shard], cell.add(0)), Ok(1));
    // One that runs ends at its next await.
    let gate = Gate::default();
    let mut running = cell
        .run_async(move |cell, _| {
            Box::pin(async move {
                gate.await;
                cell.value = 1000;
                0
            })
        })
        .cancel_on_drop();
    assert!(poll(&mut running, Waker::noop()).is_pending());
    shard.settle();
    drop(running);
    assert_eq!(finish(&[&shard], cell.add(0)), Ok(1));
    assert_accounted(&[&shard]);
}

#[test]
fn a_told_error_is_reported_and_kills_nobody() {
    let shard = HandShard::new(0);
    let cell = spawn(&shard, None);
    cell.check(11).try_tell().expect("room");
    shard.settle();
    assert_eq!(*shard.log.0.borrow(), ["Cell0.check: \"11 is too much\""]);
    finish(&[&shard], cell.add(99)).expect("alive");
    cell.check(11).try_tell().expect("room");
    shard.settle();
    assert_eq!(shard.log.0.borrow().len(), 1, "the hook took note of it");
}

#[test]
fn a_waker_that_panics_costs_no_permit_no_place_and_no_block() {
    use std::{
        panic::{AssertUnwindSafe, catch_unwind},
        task::{RawWaker, RawWakerVTable},
    };

    /// A waker that panics when it is cloned, or when it is dropped.
    static CLONE: RawWakerVTable = RawWakerVTable::new(|_| panic!("clone"), |_| {}, |_| {}, |_| {});
    static DROP: RawWakerVTable =
        RawWakerVTable::new(|data| RawWaker::new(data, &DROP), |_| {}, |_| {}, |_| panic!("drop"));
    fn bad(vtable: &'static RawWakerVTable) -> std::mem::ManuallyDrop<Waker> {
        // SAFETY: the functions take any data, hold nothing, and are thread-safe; panicking is allowed.
        std::mem::ManuallyDrop::new(unsafe { Waker::new(std::ptr::null(), vtable) })
    }
    for vtable in [&CLONE, &DROP] {
        let waker = bad(vtable);
        let shard = HandShard::new(0);
        let cell = spawn(&shard, Some(1));
        // There is room: the permit is used or given back.
        let mut ask = cell.add(1);
        let polled = catch_unwind(AssertUnwindSafe(|| poll(&mut ask, &waker)));
        shard.settle();
        drop((catch_unwind(AssertUnwindSafe(|| drop(ask))), polled));
        shard.settle();
        assert_eq!(cell.queue_len(), 0);
        // There is none: the place is kept or given up, and a permit that has come is not lost.
        cell.add(0).try_tell().expect("room");
        let (mut ask, mut tell) = (cell.add(0), cell.add(0).tell());
        assert!(poll(&mut ask, Waker::noop()).is_pending() && poll(&mut tell, Waker::noop()).is_pending());
        shard.settle();
        for _ in 0..3 {
            let polled = catch_unwind(AssertUnwindSafe(|| poll(&mut ask, &waker).is_ready()));
            shard.settle();
            if polled.is_ok_and(|is_ready| is_ready) {
                break;
            }
        }
        _ = catch_unwind(AssertUnwindSafe(|| drop(ask)));
        _ = catch_unwind(AssertUnwindSafe(|| poll(&mut tell, &waker).is_ready()));
        _ = catch_unwind(AssertUnwindSafe(|| drop(tell)));
        shard.settle();
        assert_eq!(cell.queue_len(), 0);
        assert!(finish(&[&shard], cell.add(0)).is_ok());
        // An answer that is waited for with another waker.
        let gate = Gate::default();
        let held = gate.clone();
        let mut ask = cell.run_async(move |_, _| {
            Box::pin(async move {
                held.await;
                7
            })
        });
        assert!(poll(&mut ask, Waker::noop()).is_pending());
        _ = catch_unwind(AssertUnwindSafe(|| poll(&mut ask, &waker).is_ready()));
        gate.open();
        shard.settle();
        _ = catch_unwind(AssertUnwindSafe(|| drop(ask)));
        let exit = cell.stop();
        assert_eq!(finish(&[&shard], exit), ExitReason::Stopped);
        assert_accounted(&[&shard]);
    }
}
