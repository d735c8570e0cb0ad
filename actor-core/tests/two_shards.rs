//! Two shards on one thread, driven by hand: no runtime, no second thread, every step under the test's control.

mod common;

use std::{
    sync::{Arc, Mutex},
    task::{Poll, Waker},
    time::Duration,
};

use actor_core::{AskError, DomainConfig, ExitReason, ShardId, SpawnError, TellError, TryTellError, Turn, port::Nanos};
use common::{Cell0, Cell0Handle, Gate, HandShard, finish, poll};

fn spawn(shard: &HandShard, mailbox: Option<usize>) -> Cell0Handle {
    finish(&[shard], shard.shard.remote().spawn(mailbox, Cell0::new)).expect("spawned")
}

#[track_caller]
fn assert_accounted(shards: &[&HandShard]) {
    for shard in shards {
        shard.settle();
        let stats = shard.shard.stats();
        assert_eq!(stats.received, stats.handled + stats.returned + stats.queued, "{stats:?}");
    }
}

#[test]
fn an_ask_from_outside_is_answered_and_leaves_nothing() {
    let shard = HandShard::new(0);
    let cell = spawn(&shard, None);
    assert_eq!(finish(&[&shard], cell.add(5)), Ok(5));
    assert_eq!(finish(&[&shard], cell.add(2)), Ok(7));
    assert_eq!(finish(&[&shard], cell.check(3)), Ok(15));
    assert_eq!(finish(&[&shard], cell.check(11)), Err(AskError::Handler("11 is too much".into())));
    drop(cell);
    shard.settle();
    let stats = shard.shard.stats();
    assert_eq!((stats.actors, stats.received, stats.handled), (0, 4, 4));
}

#[test]
fn an_actor_asks_over_to_another_shard_and_back() {
    let (a, b) = (HandShard::new(0), HandShard::new(1));
    let (near, far) = (spawn(&a, None), spawn(&b, None));
    let far_too = far.clone();
    let there = near.run_async(move |cell, cx| {
        assert_eq!(cx.shard(), ShardId::new(0));
        Box::pin(async move {
            let there = far_too.run(|_, cx| cx.shard().index() as u64).await.expect("answer");
            cell.value += there;
            assert_eq!(ShardId::current(), Some(ShardId::new(0)));
            cell.value
        })
    });
    assert_eq!(finish(&[&a, &b], there), Ok(1));
    assert_accounted(&[&a, &b]);
    // B had announced no sleep, so nobody rang.
    assert_eq!(b.bell.count(), 0);
    drop(far);
}

#[test]
fn only_the_first_ring_of_a_sleep_notifies() {
    let shard = HandShard::new(0);
    let cell = spawn(&shard, None);
    shard.settle();
    assert!(shard.shard.announce_sleep(Waker::noop()));
    for _ in 0..10 {
        cell.add(1).try_tell().expect("room");
    }
    assert_eq!(shard.bell.count(), 1);
    shard.settle();
    assert_eq!(shard.shard.stats().rung, 1);
    cell.add(1).try_tell().expect("room");
    assert_eq!(shard.bell.count(), 1, "an awake shard is not rung");
    assert!(!shard.shard.announce_sleep(Waker::noop()), "the second look finds the message");
}

#[test]
fn a_full_mailbox_gives_back_waits_and_serves_in_order() {
    let shard = HandShard::new(0);
    let cell = spawn(&shard, Some(2));
    let order = Arc::new(Mutex::new(Vec::new()));
    let note = |n: u64| {
        let order = order.clone();
        cell.run(move |_, _| {
            order.lock().expect("order").push(n);
            n
        })
    };
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
    assert!(matches!(note(8).try_tell(), Err(TryTellError::Full(_)) | Ok(())));
    assert!(matches!(poll(&mut third, Waker::noop()), Poll::Ready(Ok(()))));
    shard.settle();
    assert!(matches!(poll(&mut fifth, Waker::noop()), Poll::Ready(Ok(()))));
    shard.settle();
    let order = order.lock().expect("order").clone();
    assert_eq!(order.iter().filter(|n| **n != 8).copied().collect::<Vec<_>>(), [0, 1, 2, 4]);
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

use std::future::Future;

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
        assert_eq!(finish(&[], kept[round].1.clone_exit(&kept[round].0)), ExitReason::ShardDown);
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

trait CloneExit {
    fn clone_exit(&self, of: &Cell0Handle) -> actor_core::Exit;
}

impl CloneExit for actor_core::Exit {
    fn clone_exit(&self, of: &Cell0Handle) -> actor_core::Exit {
        of.closed()
    }
}

#[test]
fn a_ring_of_two_carries_any_number_of_admitted_messages_in_order() {
    let mut config = DomainConfig::new(ShardId::new(0));
    config.ring_capacity = 1;
    let shard = HandShard::with(config);
    let cell = spawn(&shard, Some(100_000));
    let seen = Arc::new(Mutex::new(Vec::new()));
    for n in 0..10_000u64 {
        let seen = seen.clone();
        cell.run(move |_, _| {
            seen.lock().expect("seen").push(n);
            0
        })
        .try_tell()
        .expect("room");
        if n % 1000 == 500 {
            shard.shard.turn();
        }
    }
    shard.settle();
    assert!(seen.lock().expect("seen").iter().copied().eq(0..10_000));
    assert_accounted(&[&shard]);
}

#[test]
fn an_actor_that_tells_itself_for_ever_leaves_time_for_others() {
    let shard = HandShard::new(0);
    let cell = spawn(&shard, None);
    fn again(cell: &Cell0Handle) {
        let me = cell.clone();
        cell.run(move |cell, _| {
            cell.value += 1;
            again(&me);
            0
        })
        .try_tell()
        .expect("room");
    }
    again(&cell);
    let other = spawn_in_turns(&shard);
    let mut ask = other.add(1);
    for _ in 0..10 {
        if poll(&mut ask, Waker::noop()).is_ready() {
            let exit = cell.kill();
            assert_eq!(finish(&[&shard], exit), ExitReason::Killed);
            return;
        }
        shard.advance(1_000_000);
        assert_eq!(shard.shard.turn(), Turn::More);
    }
    panic!("starved");
}

fn spawn_in_turns(shard: &HandShard) -> Cell0Handle {
    let mut spawning = std::pin::pin!(shard.shard.remote().spawn(None, Cell0::new));
    for _ in 0..10 {
        if let Poll::Ready(cell) = spawning.as_mut().poll(&mut std::task::Context::from_waker(Waker::noop())) {
            return cell.expect("spawned");
        }
        // A clock that moves on: else the turn would have no reason to end.
        shard.advance(1_000_000);
        let _ = TurnOnce(shard).run();
    }
    panic!("starved");
}

struct TurnOnce<'a>(&'a HandShard);

impl TurnOnce<'_> {
    fn run(&self) -> Turn {
        self.0.shard.turn()
    }
}

#[test]
fn an_inbox_actor_receives_in_order_and_ends_when_it_is_stopped() {
    let shard = HandShard::new(0);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = seen.clone();
    let handle = finish(
        &[&shard],
        shard.shard.remote().spawn_inbox(Some(4), move |mut inbox, cx| async move {
            while let Some(n) = inbox.recv().await {
                log.lock().expect("log").push((n, cx.shard().index()));
            }
        }),
    )
    .expect("spawned");
    assert_eq!(finish(&[&shard], handle.send(1u32)), Ok(()));
    handle.send(2).try_tell().expect("room");
    handle.send(3).try_tell().expect("room");
    let exit = handle.stop();
    assert_eq!(finish(&[&shard], exit), ExitReason::Stopped);
    assert_eq!(*seen.lock().expect("seen"), [(1, 0), (2, 0), (3, 0)]);
    assert!(matches!(handle.send(4).try_tell(), Err(TryTellError::Closed(_))));
    assert_accounted(&[&shard]);
}

#[test]
fn activations_nest_and_the_one_before_comes_back_even_by_unwinding_or_out_of_order() {
    let (a, b) = (HandShard::new(0), HandShard::new(1));
    assert_eq!(ShardId::current(), None);
    let outer = a.shard.activate();
    assert_eq!(ShardId::current(), Some(ShardId::new(0)));
    let unwound = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _inner = b.shard.activate();
        assert_eq!(ShardId::current(), Some(ShardId::new(1)));
        panic!("through the activation");
    }));
    assert!(unwound.is_err());
    assert_eq!(ShardId::current(), Some(ShardId::new(0)));
    // Out of order, and with a guard that is never dropped: nothing dangles, whoever is current.
    let inner = b.shard.activate();
    drop(outer);
    drop(inner);
    std::mem::forget(a.shard.activate());
    drop((a, b));
    let c = HandShard::new(2);
    let cell = spawn(&c, None);
    assert_eq!(finish(&[&c], cell.add(1)), Ok(1));
}

#[test]
fn every_choice_goes_through_the_seam() {
    use actor_core::port::{ChoicePoint, Choose, Host, MonotonicClock};
    use std::{cell::RefCell, rc::Rc};

    /// Takes the last alternative, and notes that it was asked.
    #[derive(Clone, Default)]
    struct Last(Rc<RefCell<Vec<ChoicePoint>>>);
    impl Choose for Last {
        fn choose(&self, point: ChoicePoint, alternatives: usize) -> usize {
            assert!(alternatives > 1);
            self.0.borrow_mut().push(point);
            alternatives - 1
        }
    }
    let order = |choose: Option<Box<dyn Choose>>| {
        let shard = actor_core::Domain::new(DomainConfig::new(ShardId::new(0))).expect("domain").bind(Host {
            notify: Arc::new(common::Bell::default()),
            clock: Box::new(MonotonicClock),
            driver: Box::new(common::Log::default()),
            choose,
        });
        let seen = Arc::new(Mutex::new(Vec::new()));
        let remote = shard.remote();
        let spawning: Vec<_> = (0..3).map(|_| remote.spawn(None, Cell0::new)).collect();
        shard.turn();
        let cells: Vec<_> = spawning.into_iter().map(|cell| finish(&[], cell).expect("spawned")).collect();
        for (n, cell) in cells.iter().enumerate() {
            let seen = seen.clone();
            cell.run(move |_, _| {
                seen.lock().expect("seen").push(n);
                0
            })
            .try_tell()
            .expect("room");
        }
        shard.turn();
        Arc::into_inner(seen).expect("the closures have run").into_inner().expect("seen")
    };
    assert_eq!(order(None), [0, 1, 2]);
    let last = Last::default();
    assert_eq!(order(Some(Box::new(last.clone()))), [2, 1, 0]);
    let points = last.0.borrow();
    assert!(points.contains(&ChoicePoint::NextActor) && points.contains(&ChoicePoint::NextSource));
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
