//! Places in a mailbox that are held without a message: their order, and that no one ever waits for who holds one.

mod common;

use std::{
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
    task::{Poll, RawWaker, RawWakerVTable, Waker},
    time::Duration,
};

use actor_core::{AskError, ExitReason, Permit, ReserveError, TryReserveError, TryTellError};
use common::{Cell0, Cell0Handle, HandShard, Order, assert_accounted, finish, occupy, poll, spawn};

fn reserved(cell: &Cell0Handle) -> Permit<Cell0> {
    match poll(&mut cell.reserve(), Waker::noop()) {
        Poll::Ready(Ok(permit)) => permit,
        other => panic!("{other:?} where there is room"),
    }
}

#[test]
fn a_permit_is_a_place_and_sends_into_it() {
    let shard = HandShard::new(0);
    let cell = spawn(&shard, Some(2));
    let (first, second) = (reserved(&cell), cell.try_reserve().expect("room"));
    assert_eq!((first.id(), cell.queue_len()), (cell.id(), 2));
    assert_eq!(cell.try_reserve().expect_err("full"), TryReserveError::Full);
    assert!(cell.add(1).try_tell().expect_err("full").is_full());
    first.send(cell.add(1)).expect("a place");
    assert_eq!(cell.queue_len(), 2, "the message has taken the place over");
    let mut ask = second.ask(cell.add(10));
    assert!(poll(&mut ask, Waker::noop()).is_pending());
    assert_eq!(finish(&[&shard], ask), Ok(11));
    assert_eq!(cell.queue_len(), 0);
    assert_accounted(&[&shard]);
}

#[test]
fn reservations_tells_and_asks_are_served_in_the_order_in_which_they_came() {
    let shard = HandShard::new(0);
    let cell = spawn(&shard, Some(1));
    let order = Order::default();
    let note = |n: u64| order.call(&cell, n);
    note(0).try_tell().expect("room");
    let (mut tell, mut reserve) = (note(1).tell(), cell.reserve());
    let (mut ask, mut later) = (note(3), cell.reserve());
    assert!(poll(&mut tell, Waker::noop()).is_pending());
    assert!(poll(&mut reserve, Waker::noop()).is_pending());
    assert!(poll(&mut ask, Waker::noop()).is_pending());
    assert!(poll(&mut later, Waker::noop()).is_pending());
    shard.settle();
    // The place is the tell's alone, whoever asks first.
    assert!(poll(&mut later, Waker::noop()).is_pending() && poll(&mut ask, Waker::noop()).is_pending());
    assert!(poll(&mut reserve, Waker::noop()).is_pending());
    assert!(poll(&mut tell, Waker::noop()).is_ready());
    shard.settle();
    assert!(poll(&mut ask, Waker::noop()).is_pending());
    let Poll::Ready(Ok(permit)) = poll(&mut reserve, Waker::noop()) else { panic!("no permit") };
    shard.settle();
    assert!(poll(&mut ask, Waker::noop()).is_pending(), "a permit that is held is not passed on");
    permit.send(note(2)).expect("a place");
    shard.settle();
    assert!(poll(&mut ask, Waker::noop()).is_pending(), "sent");
    shard.settle();
    assert_eq!(poll(&mut ask, Waker::noop()), Poll::Ready(Ok(3)));
    let Poll::Ready(Ok(permit)) = poll(&mut later, Waker::noop()) else { panic!("no permit") };
    permit.send(note(4)).expect("a place");
    shard.settle();
    assert_eq!(order.seen(), [0, 1, 2, 3, 4]);
    assert_accounted(&[&shard]);
}

#[test]
fn a_reservation_that_is_dropped_at_any_step_leaves_its_place_to_the_next() {
    let shard = HandShard::new(0);
    let cell = spawn(&shard, Some(1));
    for step in 0..6 {
        cell.add(1).try_tell().expect("room");
        let (mut first, mut second) = (cell.reserve(), cell.reserve());
        if step > 0 {
            assert!(poll(&mut first, Waker::noop()).is_pending());
        }
        assert!(poll(&mut second, Waker::noop()).is_pending());
        match step {
            // Not begun; in the queue.
            0 | 1 => drop(first),
            // With a permit that it has not seen.
            2 => {
                shard.settle();
                assert!(poll(&mut second, Waker::noop()).is_pending());
                drop(first);
            }
            // The permit itself; one in an ask that is not begun; one taken back from an ask.
            _ => {
                shard.settle();
                let Poll::Ready(Ok(permit)) = poll(&mut first, Waker::noop()) else { panic!("no permit") };
                assert!(poll(&mut second, Waker::noop()).is_pending());
                match step {
                    3 => drop(permit),
                    4 => drop(permit.ask(cell.add(1))),
                    _ => drop(permit.ask(cell.add(1)).into_args()),
                }
            }
        }
        shard.settle();
        let Poll::Ready(Ok(permit)) = poll(&mut second, Waker::noop()) else { panic!("step {step}") };
        assert_eq!(cell.queue_len(), 1);
        drop(permit);
        assert_eq!(cell.queue_len(), 0, "step {step}");
    }
    assert_accounted(&[&shard]);
}

#[test]
fn every_end_takes_back_what_is_held_even_by_a_permit_that_was_leaked() {
    let shard = HandShard::new(0);
    for end in 0..4 {
        let cell = spawn(&shard, Some(3));
        let (kept, asking) = (reserved(&cell), reserved(&cell));
        mem::forget(reserved(&cell));
        let mut waiting = cell.reserve();
        assert!(poll(&mut waiting, Waker::noop()).is_pending());
        let exit = cell.closed();
        let (call, other) = (cell.add(7), cell.add(8));
        let reason = match end {
            0 => {
                drop(cell.stop());
                ExitReason::Stopped
            }
            1 => {
                drop(cell.kill());
                ExitReason::Killed
            }
            2 => {
                let me = cell.clone();
                let stops = cell.run(move |_, cx| {
                    drop(me);
                    cx.stop();
                    0
                });
                // By the place of one that goes: the mailbox is full.
                asking.send(stops).expect("a place");
                ExitReason::Normal
            }
            _ => ExitReason::Normal,
        };
        drop(cell);
        assert_eq!(finish(&[&shard], exit), reason);
        assert!(matches!(poll(&mut waiting, Waker::noop()), Poll::Ready(Err(ReserveError::Closed))));
        assert_eq!(finish(&[&shard], kept.ask(other)), Err(AskError::Closed));
        drop(call.into_args());
    }
    let stats = shard.shard.stats();
    assert_eq!((stats.actors, stats.queued), (0, 0));
    // The shard's own end, and a permit that outlives it.
    let cell = spawn(&shard, Some(2));
    let late = reserved(&cell);
    mem::forget(reserved(&cell));
    drop(shard);
    assert!(matches!(late.send(cell.add(1)), Err(TryTellError::Closed(_))));
    assert_eq!(cell.try_reserve().expect_err("gone"), TryReserveError::Closed);
}

#[test]
fn a_permit_that_is_used_after_the_stop_gives_the_arguments_back() {
    let shard = HandShard::new(0);
    let cell = spawn(&shard, None);
    let permit = reserved(&cell);
    let gate = occupy(&shard, &cell);
    // Before it sleeps, the shard gives back the permit of the message that it handles.
    assert!(shard.shard.announce_sleep(Waker::noop()));
    let exit = cell.stop();
    assert_eq!(cell.queue_len(), 0, "taken back at once");
    let refused = permit.send(cell.check(5)).expect_err("stopped");
    assert!(matches!(refused, TryTellError::Closed(_)) && !refused.is_full() && !refused.was_delivered());
    assert_eq!(refused.into_args(), (5, [1; 8]));
    gate.open();
    assert_eq!(finish(&[&shard], exit), ExitReason::Stopped);
    assert_accounted(&[&shard]);
}

#[test]
fn a_permit_of_the_actor_before_is_none_of_the_next_one_in_its_slot() {
    let shard = HandShard::new(0);
    let cell = spawn(&shard, Some(1));
    let (old, call, id) = (reserved(&cell), cell.add(1), cell.id());
    drop(cell);
    shard.settle();
    let next = spawn(&shard, Some(1));
    assert_ne!(next.id(), id);
    // The same ticket, in the same slot.
    let new = reserved(&next);
    assert!(matches!(old.send(call), Err(TryTellError::Closed(_))));
    assert_eq!(next.queue_len(), 1, "the new one's place is untouched");
    new.send(next.add(3)).expect("a place");
    assert_eq!(finish(&[&shard], next.add(0)), Ok(3));
    assert_accounted(&[&shard]);
}

#[test]
fn a_call_of_another_actor_gives_its_arguments_back_and_frees_the_place() {
    let shard = HandShard::new(0);
    let (one, other) = (spawn(&shard, Some(1)), spawn(&shard, Some(1)));
    let refused = reserved(&one).send(other.check(3)).expect_err("another's");
    assert!(matches!(refused, TryTellError::OtherActor(_)) && !refused.is_full());
    assert!(refused.to_string().contains("another actor"));
    assert_eq!(refused.into_args().0, 3);
    assert_eq!(finish(&[&shard], reserved(&one).ask(other.add(1))), Err(AskError::OtherActor));
    assert_eq!(reserved(&one).ask(other.check(4)).into_args().0, 4);
    assert_eq!((one.queue_len(), other.queue_len()), (0, 0));
    assert_eq!(finish(&[&shard], other.add(0)), Ok(0), "nothing was sent");
    let mut polled = one.add(1);
    assert!(poll(&mut polled, Waker::noop()).is_pending());
    let permit = one.reserve();
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let permit = finish(&[&shard], permit).expect("permit");
        permit.send(polled)
    }));
    assert!(outcome.is_err(), "a call that may be on its way");
    shard.settle();
    assert_eq!(one.queue_len(), 0);
    assert_accounted(&[&shard]);
}

#[test]
fn an_ask_by_a_permit_keeps_its_settings() {
    let shard = HandShard::new(0);
    let cell = spawn(&shard, Some(1));
    let gate = occupy(&shard, &cell);
    let outcome = finish(&[&shard], reserved(&cell).ask(cell.add(1).timeout(Duration::ZERO)));
    assert_eq!(outcome, Err(AskError::Timeout { delivered: false }));
    assert_eq!(cell.queue_len(), 0);
    let mut ask = reserved(&cell).ask(cell.add(10).cancel_on_drop());
    assert!(poll(&mut ask, Waker::noop()).is_pending());
    assert_eq!(cell.queue_len(), 1);
    drop(ask);
    gate.open();
    assert_eq!(finish(&[&shard], cell.add(100)), Ok(100));
    assert_accounted(&[&shard]);
}

#[test]
fn an_actor_that_reserves_in_its_own_full_mailbox_is_a_deadlock() {
    let shard = HandShard::new(0);
    let cell = spawn(&shard, Some(1));
    let me = cell.clone();
    let outcome = finish(
        &[&shard],
        cell.run_async(move |_, _| {
            Box::pin(async move {
                let permit = me.reserve().await.expect("room for one");
                assert_eq!(me.try_reserve().expect_err("full"), TryReserveError::Full);
                let Err(ReserveError::Deadlock { path }) = me.reserve().await else { panic!("not a deadlock") };
                assert_eq!(path.actors()[0].actor, me.id());
                assert_eq!(me.queue_len(), 1, "it is not in the queue");
                let asked = permit.ask(me.add(1)).await;
                assert!(matches!(asked, Err(AskError::Deadlock { .. })));
                assert_eq!(me.queue_len(), 0);
                me.reserve().await.expect("room for one").send(me.add(7)).expect("a place");
                1
            })
        }),
    );
    assert_eq!(outcome, Ok(1));
    assert_eq!(finish(&[&shard], cell.add(0)), Ok(7));
}

#[test]
fn a_reservation_waits_no_longer_than_it_says() {
    let shard = HandShard::new(0);
    let cell = spawn(&shard, Some(1));
    // Room counts first.
    drop(finish(&[], cell.reserve().timeout(Duration::ZERO)).expect("room"));
    cell.add(1).try_tell().expect("room");
    let late = finish(&[], cell.reserve().timeout(Duration::ZERO));
    assert_eq!(late.expect_err("late"), ReserveError::Timeout);
    let late = finish(&[], cell.reserve().deadline(std::time::Instant::now()));
    assert_eq!(late.expect_err("late"), ReserveError::Timeout);
    let late = cell.reserve().timeout(Duration::ZERO).blocking();
    assert_eq!(late.expect_err("late"), ReserveError::Timeout);
    {
        let _here = shard.shard.activate();
        assert_eq!(cell.reserve().blocking().expect_err("here"), ReserveError::OnShard);
    }
    shard.settle();
    cell.reserve().blocking().expect("room").send(cell.add(1)).expect("a place");
    assert_eq!(finish(&[&shard], cell.add(0)), Ok(2));
}

#[test]
fn a_leaked_permit_costs_one_place_and_no_more() {
    let shard = HandShard::new(0);
    let cell = spawn(&shard, Some(2));
    mem::forget(reserved(&cell));
    for n in 1..=10 {
        assert_eq!(finish(&[&shard], cell.add(1)), Ok(n));
        cell.add(0).try_tell().expect("the other place");
        assert!(cell.add(0).try_tell().is_err());
        shard.settle();
    }
    assert_accounted(&[&shard]);
}

#[test]
fn a_waker_that_panics_costs_no_place() {
    static CLONE: RawWakerVTable = RawWakerVTable::new(|_| panic!("clone"), |_| {}, |_| {}, |_| {});
    static DROP: RawWakerVTable =
        RawWakerVTable::new(|data| RawWaker::new(data, &DROP), |_| {}, |_| {}, |_| panic!("drop"));
    for vtable in [&CLONE, &DROP] {
        // SAFETY: the functions take any data, hold nothing, and are thread-safe; panicking is allowed.
        let waker = mem::ManuallyDrop::new(unsafe { Waker::new(std::ptr::null(), vtable) });
        let shard = HandShard::new(0);
        let cell = spawn(&shard, Some(1));
        let mut free = cell.reserve();
        _ = catch_unwind(AssertUnwindSafe(|| poll(&mut free, &waker)));
        _ = catch_unwind(AssertUnwindSafe(|| drop(free)));
        assert_eq!(cell.queue_len(), 0);
        cell.add(1).try_tell().expect("room");
        let mut waiting = cell.reserve().timeout(Duration::from_secs(3600));
        _ = catch_unwind(AssertUnwindSafe(|| poll(&mut waiting, &waker)));
        shard.settle();
        _ = catch_unwind(AssertUnwindSafe(|| poll(&mut waiting, &waker)));
        _ = catch_unwind(AssertUnwindSafe(|| drop(waiting)));
        shard.settle();
        assert_eq!(cell.queue_len(), 0);
        assert_eq!(finish(&[&shard], cell.add(1)), Ok(2));
    }
}

#[test]
fn a_shard_that_never_sleeps_gives_room_back_in_time() {
    let shard = HandShard::new(0);
    let cell = spawn(&shard, Some(8));
    let permits: Vec<_> = (0..7).map(|_| reserved(&cell)).collect();
    cell.add(1).try_tell().expect("room");
    let mut next = cell.add(10).tell();
    assert!(poll(&mut next, Waker::noop()).is_pending());
    // The message is handled; its place is kept for a while, to be given back with the next one's.
    shard.settle();
    assert!(poll(&mut next, Waker::noop()).is_pending());
    shard.advance(100_000);
    shard.settle();
    assert!(matches!(poll(&mut next, Waker::noop()), Poll::Ready(Ok(()))));
    drop(permits);
    assert_eq!(finish(&[&shard], cell.add(0)), Ok(11));
}
