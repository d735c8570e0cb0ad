//! Two shards on one thread, driven by hand: no runtime, no second thread, every step under the test's control.

mod common;

use std::{
    sync::{Arc, Mutex},
    task::{Poll, Waker},
};

use actor_core::{AskError, DomainConfig, ExitReason, ShardId, TryTellError, Turn};
use common::{Cell0, Cell0Handle, HandShard, assert_accounted, finish, poll, spawn};

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
        shard.shard.turn();
    }
    panic!("starved");
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
fn requests_without_end_leave_time_for_others() {
    /// Asks for a start that fails and asks for the next.
    fn again(remote: actor_core::Remote) {
        let next = remote.clone();
        drop(remote.spawn(None, move || {
            again(next);
            Err::<Cell0, _>("none")
        }));
    }
    let shard = HandShard::new(0);
    again(shard.shard.remote());
    assert_eq!(shard.shard.turn(), Turn::More);
    assert!(shard.shard.remote().begin_shutdown());
    assert_eq!(shard.settle(), Turn::Ended, "a shard that shuts down builds no state any more");
}
