//! How actors and shards end, and what may outlive them.

mod common;

use std::{
    sync::{Arc, Mutex},
    task::{Poll, Waker},
};

use actor_core::{AskError, ExitReason, SpawnError, Turn};
use common::{Cell0, Flag, Gate, HandShard, assert_accounted, finish, poll, spawn};

#[test]
fn stop_drains_and_kill_does_not() {
    let shard = HandShard::new(0);
    let cell = spawn(&shard, None);
    let mut asks: Vec<_> = (0..3).map(|_| cell.add(1)).collect();
    for ask in &mut asks {
        assert!(poll(ask, Waker::noop()).is_pending());
    }
    let exit = cell.stop();
    assert!(matches!(poll(&mut cell.add(1), Waker::noop()), Poll::Ready(Err(AskError::Closed))));
    assert_eq!(finish(&[&shard], exit), ExitReason::Stopped);
    let answers: Vec<_> = asks.into_iter().map(|ask| finish(&[], ask)).collect();
    assert_eq!(answers, [Ok(1), Ok(2), Ok(3)]);
    assert_eq!(finish(&[], cell.closed()), ExitReason::Stopped);

    let cell = spawn(&shard, None);
    let mut ask = cell.add(1);
    assert!(poll(&mut ask, Waker::noop()).is_pending());
    let exit = cell.kill();
    assert_eq!(finish(&[&shard], exit), ExitReason::Killed);
    assert_eq!(finish(&[], ask), Err(AskError::Died(ExitReason::Killed)));
    assert_accounted(&[&shard]);
}

#[test]
fn a_panic_ends_its_actor_alone_and_the_asker_hears_of_it() {
    let shard = HandShard::new(0);
    let (victim, witness) = (spawn(&shard, None), spawn(&shard, None));
    for ask in [victim.run(|_, _| panic!("boom")), spawn(&shard, None).run(|_, _| std::panic::panic_any(7))] {
        match finish(&[&shard], ask) {
            // The second actor's only handle went with the statement, so its message may come too late.
            Err(AskError::Died(ExitReason::Panicked { message, .. })) => {
                assert!(&*message == "boom" || message.contains("not text"));
            }
            other => assert_eq!(other, Err(AskError::Closed)),
        }
    }
    let gate = Gate::default();
    let gate_too = gate.clone();
    let asynchronous = spawn(&shard, None);
    let mut ask = asynchronous.run_async(move |_, _| {
        Box::pin(async move {
            gate_too.await;
            panic!("later")
        })
    });
    assert!(poll(&mut ask, Waker::noop()).is_pending());
    shard.settle();
    gate.open();
    let Err(AskError::Died(ExitReason::Panicked { message, .. })) = finish(&[&shard], ask) else {
        panic!("not a panic")
    };
    assert_eq!(&*message, "later");
    assert_eq!(finish(&[&shard], witness.add(1)), Ok(1));
    assert!(shard.log.0.borrow().iter().any(|line| line.contains("boom")));
    assert_accounted(&[&shard]);
}

#[test]
fn a_state_or_an_argument_whose_drop_panics_harms_nobody_else() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("dropped");
        }
    }
    let shard = HandShard::new(0);
    let (victim, witness) = (spawn(&shard, None), spawn(&shard, None));
    let bomb = Bomb;
    let queued = victim.run(move |_, _| {
        std::mem::forget(bomb);
        0
    });
    queued.try_tell().expect("room");
    let exit = victim.kill();
    assert_eq!(finish(&[&shard], exit), ExitReason::Killed);
    assert_eq!(finish(&[&shard], witness.add(1)), Ok(1));
    assert_accounted(&[&shard]);
}

#[test]
fn the_last_handle_stops_its_actor_and_the_slot_is_used_again() {
    let shard = HandShard::new(0);
    let cell = spawn(&shard, None);
    let (id, weak) = (cell.id(), cell.downgrade());
    let exit = cell.closed();
    drop(cell);
    assert_eq!(finish(&[&shard], exit), ExitReason::Normal);
    assert!(weak.upgrade().is_none());
    let other = spawn(&shard, None);
    assert_ne!(other.id(), id);
    drop(weak);
    shard.settle();
    for _ in 0..1000 {
        let cell = spawn(&shard, None);
        drop(cell);
        shard.settle();
    }
    assert_eq!(shard.shard.stats().actors, 1);
}

#[test]
fn a_call_that_outlives_its_actor_is_closed_even_when_the_slot_has_another() {
    let shard = HandShard::new(0);
    let cell = spawn(&shard, None);
    let call = cell.add(1);
    drop(cell);
    shard.settle();
    let next = spawn(&shard, None);
    assert_eq!(finish(&[&shard], call), Err(AskError::Closed));
    assert_eq!(finish(&[&shard], next.add(0)), Ok(0));
}

#[test]
fn shutdown_stops_the_youngest_first_and_drains() {
    let shard = HandShard::new(0);
    let log = Arc::new(Mutex::new(Vec::new()));
    let cells: Vec<_> = (1..=3)
        .map(|n| {
            let log = log.clone();
            let build = move || Cell0 { value: n, stop_log: Some(log) };
            finish(&[&shard], shard.shard.remote().spawn(None, build)).expect("spawned")
        })
        .collect();
    for cell in &cells {
        cell.add(10).try_tell().expect("room");
    }
    assert!(shard.shard.remote().begin_shutdown());
    assert_eq!(shard.settle(), Turn::Ended);
    let expected: Vec<_> = [13, 12, 11].iter().map(|n| format!("{n}: {}", ExitReason::ShardDown)).collect();
    assert_eq!(*log.lock().expect("log"), expected);
    let refused = finish(&[&shard], shard.shard.remote().spawn(None, Cell0::new));
    assert!(matches!(refused, Err(SpawnError::Closed)));
    let remote = shard.shard.remote();
    drop(shard);
    assert!(!remote.begin_shutdown());
    assert!(matches!(finish(&[], remote.spawn(None, Cell0::new)), Err(SpawnError::Closed)));
    assert_eq!(finish(&[], cells[0].add(1)), Err(AskError::Closed));
}

#[test]
fn handles_wakers_and_exits_may_outlive_their_shard_and_its_successors() {
    let mut kept = Vec::new();
    for round in 0..50 {
        let shard = HandShard::new(0);
        let cell = spawn(&shard, None);
        let gate = Gate::default();
        let waiting = gate.clone();
        let mut ask = cell.run_async(move |_, _| {
            Box::pin(async move {
                waiting.await;
                0
            })
        });
        assert!(poll(&mut ask, Waker::noop()).is_pending());
        shard.settle();
        kept.push((cell.clone(), cell.closed(), gate, ask));
        drop(shard);
        assert_eq!(finish(&[], kept[round].0.closed()), ExitReason::ShardDown);
    }
    for (cell, exit, gate, ask) in kept {
        gate.open();
        assert_eq!(finish(&[], ask), Err(AskError::Died(ExitReason::ShardDown)));
        assert!(cell.is_closed());
        drop((exit, cell));
    }
    let shard = HandShard::new(0);
    let cell = spawn(&shard, None);
    assert_eq!(finish(&[&shard], cell.add(1)), Ok(1));
}

#[test]
fn an_exit_that_is_dropped_keeps_nobody_s_task() {
    let shard = HandShard::new(0);
    let cell = spawn(&shard, None);
    let task = Arc::new(Flag::default());
    let waker = Waker::from(task.clone());
    for _ in 0..3 {
        let mut exit = cell.closed();
        assert!(poll(&mut exit, &waker).is_pending() && poll(&mut exit, &waker).is_pending());
        assert_eq!(Arc::strong_count(&task), 3, "the task, the waker, and one for the exit");
    }
    assert_eq!(Arc::strong_count(&task), 2);
    let mut exit = cell.closed();
    assert!(poll(&mut exit, &waker).is_pending());
    drop(cell.kill());
    shard.settle();
    assert_eq!(task.0.load(std::sync::atomic::Ordering::SeqCst), 1);
    assert_eq!(poll(&mut exit, &waker), Poll::Ready(ExitReason::Killed));
}

#[test]
fn a_listener_that_panics_at_a_report_ends_no_shard() {
    use actor_core::port::{Driver, Host, MonotonicClock, Report};

    struct Panicking;
    impl Driver for Panicking {
        fn report(&self, _: Report<'_>) {
            panic!("a subscriber");
        }
    }
    let host = Host {
        notify: Arc::new(common::Bell::default()),
        clock: Box::new(MonotonicClock),
        driver: Box::new(Panicking),
        choose: None,
    };
    let mut shard = HandShard::new(0);
    shard.shard =
        actor_core::Domain::new(actor_core::DomainConfig::new(actor_core::ShardId::new(0))).expect("domain").bind(host);
    let (victim, witness) = (spawn(&shard, None), spawn(&shard, None));
    assert!(matches!(finish(&[&shard], victim.run(|_, _| panic!("boom"))), Err(AskError::Died(_))));
    assert_eq!(finish(&[&shard], witness.add(1)), Ok(1));
}
