//! Mailboxes that reject or drop: which message goes, in which state of the actor, and that each one is counted.

mod common;

use std::{
    cell::Cell,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    task::{Poll, Waker},
};

use actor_core::{ActorId, AskError, ExitReason, Mailbox, Overflow, TellError, TryTellError, Turn};
use common::{Cell0Handle, Flag, HandShard, Order, assert_accounted, finish, occupy, poll, spawn, spawn_with};

/// Messages beyond the capacity that a mailbox that drops admits.
const TRANSIT: usize = 1024;

#[test]
fn the_oldest_or_the_newest_goes_while_a_handler_runs() {
    for (overflow, kept) in [(Overflow::DropOldest, [4, 5]), (Overflow::DropNewest, [1, 2])] {
        let shard = HandShard::new(0);
        let cell = spawn_with(&shard, 2, overflow);
        let (gate, order) = (occupy(&shard, &cell), Order::default());
        for n in 1..=5 {
            order.call(&cell, n).try_tell().expect("a mailbox that drops has room");
            assert!(cell.queue_len() <= 2);
        }
        assert_eq!(cell.evicted(), 0, "nothing has arrived");
        shard.settle();
        assert_eq!((cell.queue_len(), cell.evicted(), shard.shard.stats().evicted), (2, 3, 3));
        assert_eq!(*shard.log.0.borrow(), [format!("Cell0 {overflow}: 3")]);
        gate.open();
        shard.settle();
        assert_eq!(order.seen(), kept);
        assert_eq!((cell.queue_len(), shard.shard.stats().queued), (0, 0));
        assert_accounted(&[&shard]);
    }
}

#[test]
fn an_asker_hears_that_its_message_was_evicted() {
    let shard = HandShard::new(0);
    let cell = spawn_with(&shard, 1, Overflow::DropOldest);
    let gate = occupy(&shard, &cell);
    let (flag, mut asks) = (Arc::new(Flag::default()), [cell.add(1), cell.add(10), cell.add(100)]);
    let waker = Waker::from(flag.clone());
    for ask in &mut asks {
        assert!(poll(ask, &waker).is_pending());
    }
    shard.settle();
    assert_eq!(flag.0.load(Ordering::SeqCst), 2);
    let [first, second, third] = asks;
    for ask in [first, second] {
        let error = finish(&[], ask).expect_err("evicted");
        assert_eq!(error, AskError::Evicted);
        assert!(!error.was_delivered() && error.to_string().contains("was not handled"));
    }
    // One whose asker has gone leaves nothing.
    let mut gone = cell.add(1000);
    assert!(poll(&mut gone, Waker::noop()).is_pending());
    drop(gone);
    shard.settle();
    assert_eq!(finish(&[&shard], third), Err(AskError::Evicted));
    gate.open();
    shard.settle();
    assert_eq!(finish(&[&shard], cell.add(0)), Ok(1000));
    assert_accounted(&[&shard]);
}

#[test]
fn a_mailbox_that_rejects_lets_nobody_wait_who_has_not_reserved() {
    let shard = HandShard::new(0);
    let cell = spawn_with(&shard, 1, Overflow::Reject);
    let gate = occupy(&shard, &cell);
    cell.add(1).try_tell().expect("room");
    assert_eq!(finish(&[], cell.add(1)), Err(AskError::Full));
    let Poll::Ready(Err(error)) = poll(&mut cell.check(7).tell(), Waker::noop()) else { panic!("it waits") };
    assert!(matches!(error, TellError::Full(_)) && error.to_string().contains("full"));
    assert_eq!(error.into_args().0, 7);
    assert!(matches!(cell.add(1).try_tell(), Err(TryTellError::Full(_))));
    let mut reserve = cell.reserve();
    assert!(poll(&mut reserve, Waker::noop()).is_pending());
    gate.open();
    shard.settle();
    // The place is the waiter's.
    assert_eq!(finish(&[], cell.add(1)), Err(AskError::Full));
    let permit = finish(&[&shard], reserve).expect("room");
    assert_eq!(finish(&[&shard], permit.ask(cell.add(10))), Ok(11));
    assert_eq!(finish(&[&shard], cell.add(0)), Ok(11));
    assert_eq!((cell.evicted(), cell.overflow()), (0, Overflow::Reject));
    assert_accounted(&[&shard]);
}

#[test]
fn senders_are_ahead_of_the_shard_by_so_much_and_then_wait_for_it_alone() {
    const CAPACITY: usize = 3;
    let shard = HandShard::new(0);
    let cell = spawn_with(&shard, CAPACITY, Overflow::DropNewest);
    let (gate, order) = (occupy(&shard, &cell), Order::default());
    for n in 0..(CAPACITY + TRANSIT) as u64 {
        order.call(&cell, n).try_tell().expect("room");
    }
    assert_eq!(cell.queue_len(), CAPACITY);
    assert!(order.call(&cell, 9999).try_tell().expect_err("far ahead").is_full());
    let (mut tell, mut ask) = (order.call(&cell, 9999).tell(), order.call(&cell, 9999));
    assert!(poll(&mut tell, Waker::noop()).is_pending() && poll(&mut ask, Waker::noop()).is_pending());
    // The actor does nothing, and they go on.
    shard.settle();
    assert!(poll(&mut tell, Waker::noop()).is_ready());
    assert_eq!(finish(&[&shard], ask), Err(AskError::Evicted));
    assert_eq!(cell.evicted(), TRANSIT as u64 + 2);
    gate.open();
    shard.settle();
    assert_eq!(order.seen(), [0, 1, 2]);
    assert_accounted(&[&shard]);
}

#[test]
fn an_actor_that_floods_itself_goes_on() {
    for overflow in [Overflow::DropOldest, Overflow::DropNewest] {
        let shard = HandShard::new(0);
        let cell = spawn_with(&shard, 1, overflow);
        let me = cell.clone();
        // In one poll, up to the limit.
        let sent = cell.run(move |_, _| (0..).take_while(|_| me.add(1).try_tell().is_ok()).count() as u64);
        assert_eq!(finish(&[&shard], sent), Ok(1 + TRANSIT as u64));
        // Waiting, any number: no deadlock.
        let me = cell.clone();
        let sent = cell.run_async(move |_, _| {
            Box::pin(async move {
                for _ in 0..5 * TRANSIT {
                    me.add(1).tell().await.expect("accepted");
                }
                5
            })
        });
        assert_eq!(finish(&[&shard], sent), Ok(5));
        shard.settle();
        assert_eq!(finish(&[&shard], cell.add(0)), Ok(2));
        assert_accounted(&[&shard]);
    }
}

#[test]
fn a_stopping_actor_drops_and_still_drains() {
    for overflow in [Overflow::DropOldest, Overflow::DropNewest] {
        let shard = HandShard::new(0);
        let cell = spawn_with(&shard, 2, overflow);
        let (gate, order) = (occupy(&shard, &cell), Order::default());
        for n in 1..=5 {
            order.call(&cell, n).try_tell().expect("room");
        }
        let mut exit = cell.stop();
        // Three are dropped on their way into a mailbox that has been closed.
        shard.settle();
        assert!(poll(&mut exit, Waker::noop()).is_pending());
        assert_eq!((cell.evicted(), cell.queue_len()), (3, 2));
        gate.open();
        assert_eq!(finish(&[&shard], exit), ExitReason::Stopped);
        assert_eq!(order.seen().len(), 2);
        assert_accounted(&[&shard]);
    }
}

#[test]
fn an_eviction_in_the_last_poll_of_an_actor_does_not_keep_it() {
    let shard = HandShard::new(0);
    let cell = spawn_with(&shard, 1, Overflow::DropOldest);
    let (me, order) = (cell.clone(), Order::default());
    let (first, second) = (order.call(&cell, 1), order.call(&cell, 2));
    // Drained but for what it has just dropped itself.
    let last = cell.run(move |_, cx| {
        first.try_tell().expect("room");
        second.try_tell().expect("room");
        cx.stop();
        drop(me);
        0
    });
    assert_eq!(finish(&[&shard], last), Ok(0));
    assert_eq!(finish(&[&shard], cell.closed()), ExitReason::Normal);
    assert_eq!((order.seen(), cell.evicted()), (vec![2], 1));
    assert_accounted(&[&shard]);
}

#[test]
fn a_drained_actor_hears_of_its_last_place() {
    /// Dropped because the mailbox is full: sends again, in vain, and stops the actor.
    struct Last(Cell0Handle, common::Gate);
    impl Drop for Last {
        fn drop(&mut self) {
            self.0.add(1).try_tell().expect("room");
            self.1.open();
            drop(self.0.stop());
        }
    }
    let shard = HandShard::new(0);
    let cell = spawn_with(&shard, 1, Overflow::DropNewest);
    let gate = occupy(&shard, &cell);
    cell.add(1).try_tell().expect("room");
    shard.settle();
    let last = Last(cell.clone(), gate);
    let call = cell.run(move |_, _| {
        drop(last);
        0
    });
    call.try_tell().expect("room");
    // When it has handled all, what its mailbox dropped last has a permit still.
    assert_eq!(finish(&[&shard], cell.closed()), ExitReason::Stopped);
    assert_eq!(cell.evicted(), 2);
    assert_accounted(&[&shard]);
}

#[test]
fn stop_and_kill_go_past_any_number_of_messages() {
    for overflow in [Overflow::Wait, Overflow::Reject, Overflow::DropOldest, Overflow::DropNewest] {
        for is_kill in [false, true] {
            let shard = HandShard::new(0);
            let cell = spawn_with(&shard, 4, overflow);
            let gate = occupy(&shard, &cell);
            let mut exit = None;
            for n in 0..2000 {
                _ = cell.add(1).try_tell();
                if n == 1000 {
                    exit = Some(if is_kill { cell.kill() } else { cell.stop() });
                }
            }
            gate.open();
            let reason = finish(&[&shard], exit.expect("begun"));
            assert_eq!(reason, if is_kill { ExitReason::Killed } else { ExitReason::Stopped });
            assert_accounted(&[&shard]);
            assert_eq!(shard.shard.stats().queued, 0);
        }
    }
}

#[test]
fn the_next_actor_in_the_slot_has_lost_nothing_and_the_report_names_the_one_before() {
    let shard = HandShard::new(0);
    let witness = spawn(&shard, None);
    let cell = spawn_with(&shard, 1, Overflow::DropOldest);
    let slot = slot_of(cell.id());
    for _ in 0..4 {
        cell.add(1).try_tell().expect("room");
    }
    drop(cell.kill());
    drop(cell);
    // All in one turn: the loss, the end, and the start of another actor.
    let mut start = witness.run(move |_, cx| {
        let next = cx.spawn(common::Cell0::new).expect("spawned");
        assert_eq!(next.evicted(), 0);
        slot_of(next.id())
    });
    assert!(poll(&mut start, Waker::noop()).is_pending());
    assert!(matches!(shard.shard.turn(), Turn::Idle { .. }));
    assert_ne!(finish(&[], start), Ok(slot), "not before the report");
    assert_eq!(*shard.log.0.borrow(), ["Cell0 DropOldest: 3"]);
    let next = spawn(&shard, Some(1));
    assert_eq!(slot_of(next.id()), slot, "and then it is used again");
    assert_eq!((next.evicted(), next.overflow()), (0, Overflow::Wait));
    assert_eq!(finish(&[&shard], next.add(1)), Ok(1));
    assert_accounted(&[&shard]);
}

/// The middle one of port, slot and generation.
fn slot_of(id: ActorId) -> u64 {
    id.to_string().split('.').nth(1).and_then(|slot| slot.parse().ok()).expect("a slot's number")
}

#[test]
fn an_inbox_actor_drops_as_any_other() {
    let shard = HandShard::new(0);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (gate, log) = (common::Gate::default(), seen.clone());
    let held = gate.clone();
    let mailbox = Mailbox { capacity: Some(2), overflow: Some(Overflow::DropOldest) };
    let spawning = shard.shard.remote().spawn_inbox(mailbox, move |mut inbox, _| async move {
        held.await;
        while let Some(n) = inbox.recv().await {
            log.lock().expect("log").push((n, inbox.len()));
        }
    });
    let handle = finish(&[&shard], spawning).expect("spawned");
    for n in 0..5u64 {
        handle.send(n).try_tell().expect("room");
    }
    shard.settle();
    gate.open();
    shard.settle();
    assert_eq!(*seen.lock().expect("log"), [(3, 1), (4, 0)]);
    let permit = handle.try_reserve().expect("room");
    permit.send(handle.send(5)).expect("a place");
    assert_eq!(finish(&[&shard], handle.stop()), ExitReason::Stopped);
    assert_eq!(seen.lock().expect("log").last(), Some(&(5, 0)));
    assert_eq!(handle.evicted(), 3);
    assert_accounted(&[&shard]);
}

thread_local! {
    static IN_A_CALL: Cell<bool> = const { Cell::new(false) };
}

/// Notes whether it was dropped inside a sender's call, and panics if asked to.
struct Cargo {
    inside: Arc<AtomicU64>,
    panics: bool,
}

impl Drop for Cargo {
    fn drop(&mut self) {
        self.inside.fetch_add(u64::from(IN_A_CALL.get()), Ordering::SeqCst);
        assert!(!self.panics, "a cargo");
    }
}

fn carry(cell: &Cell0Handle, cargo: Cargo) {
    let call = cell.run(move |_, _| {
        // Handled, it is none of the mailbox's any more.
        let mut cargo = cargo;
        cargo.panics = false;
        0
    });
    IN_A_CALL.set(true);
    call.try_tell().expect("room");
    IN_A_CALL.set(false);
}

#[test]
fn what_is_dropped_is_dropped_between_polls_and_may_panic() {
    let shard = HandShard::new(0);
    let (inside, witness) = (Arc::new(AtomicU64::new(0)), spawn(&shard, None));
    let cargo = |panics| Cargo { inside: inside.clone(), panics };
    // The oracle notices.
    IN_A_CALL.set(true);
    drop(cargo(false));
    IN_A_CALL.set(false);
    assert_eq!(inside.swap(0, Ordering::SeqCst), 1);
    for overflow in [Overflow::DropOldest, Overflow::DropNewest] {
        let cell = spawn_with(&shard, 1, overflow);
        let gate = occupy(&shard, &cell);
        // From another thread's side, from a handler of the same shard, and from the shard's thread between two turns.
        for panics in [false, true] {
            (0..3).for_each(|_| carry(&cell, cargo(panics)));
            shard.settle();
            let (to, cargos) = (cell.clone(), [cargo(panics), cargo(panics)]);
            let sender = witness.run(move |_, _| {
                cargos.into_iter().for_each(|cargo| carry(&to, cargo));
                1
            });
            assert_eq!(finish(&[&shard], sender), Ok(1));
            let _here = shard.shard.activate();
            (0..3).for_each(|_| carry(&cell, cargo(panics)));
        }
        shard.settle();
        assert_eq!(cell.evicted(), 15);
        assert_eq!(cell.queue_len(), 1);
        // What is left is handled.
        gate.open();
        shard.settle();
        assert_eq!(finish(&[&shard], cell.add(1)), Ok(1));
    }
    assert_eq!(inside.load(Ordering::SeqCst), 0);
    assert_eq!(Arc::strong_count(&inside), 1, "all were dropped");
    assert_accounted(&[&shard]);
}

#[test]
fn what_a_poll_evicts_is_dropped_before_the_next_poll() {
    let shard = HandShard::new(0);
    let (sender, observer) = (spawn(&shard, None), spawn(&shard, None));
    let cell = spawn_with(&shard, 1, Overflow::DropNewest);
    let (_gate, count) = (occupy(&shard, &cell), Arc::new(AtomicU64::new(0)));
    cell.add(1).try_tell().expect("room");
    shard.settle();
    let (cargo, counted) = (Cargo { inside: count.clone(), panics: false }, count.clone());
    let mut send = sender.run(move |_, _| {
        carry(&cell, cargo);
        0
    });
    let mut observe = observer.run(move |_, _| Arc::strong_count(&counted) as u64);
    assert!(poll(&mut send, Waker::noop()).is_pending() && poll(&mut observe, Waker::noop()).is_pending());
    // Both are ready in one turn, in this order.
    shard.settle();
    assert_eq!(finish(&[], observe), Ok(2), "the test's and the observer's");
    drop((send, count));
}

#[test]
fn what_is_dropped_between_turns_wakes_the_driver() {
    let shard = HandShard::new(0);
    let cell = spawn_with(&shard, 1, Overflow::DropNewest);
    let _gate = occupy(&shard, &cell);
    cell.add(1).try_tell().expect("room");
    assert!(matches!(shard.settle(), Turn::Idle { .. }));
    let flag = Arc::new(Flag::default());
    assert!(shard.shard.announce_sleep(&flag.clone().into()));
    let _here = shard.shard.activate();
    cell.add(1).try_tell().expect("room");
    assert_eq!(flag.0.load(Ordering::SeqCst), 1);
    assert!(!shard.shard.announce_sleep(Waker::noop()), "there is something to drop");
    shard.settle();
    assert!(shard.shard.announce_sleep(Waker::noop()));
}

#[test]
fn a_drop_that_sends_to_the_mailbox_that_dropped_it_does_not_hold_the_shard() {
    struct Again(Cell0Handle, Arc<AtomicU64>);
    impl Drop for Again {
        fn drop(&mut self) {
            if self.1.fetch_add(1, Ordering::SeqCst) < 10_000 {
                let next = Self(self.0.clone(), self.1.clone());
                let call = self.0.run(move |_, _| {
                    drop(next);
                    0
                });
                _ = call.try_tell();
            }
        }
    }
    let shard = HandShard::new(0);
    let cell = spawn_with(&shard, 1, Overflow::DropNewest);
    let (gate, drops) = (occupy(&shard, &cell), Arc::new(AtomicU64::new(0)));
    cell.add(1).try_tell().expect("room");
    shard.settle();
    drop(Again(cell.clone(), drops.clone()));
    let witness = spawn(&shard, None);
    assert_eq!(finish(&[&shard], witness.add(1)), Ok(1));
    while drops.load(Ordering::SeqCst) <= 10_000 {
        shard.shard.turn();
    }
    gate.open();
    assert_eq!(finish(&[&shard], cell.stop()), ExitReason::Stopped);
    assert_accounted(&[&shard]);
}

#[test]
fn a_permit_s_message_is_dropped_as_any_other() {
    let shard = HandShard::new(0);
    let cell = spawn_with(&shard, 1, Overflow::DropNewest);
    let (gate, order) = (occupy(&shard, &cell), Order::default());
    let permit = cell.try_reserve().expect("room");
    order.call(&cell, 1).try_tell().expect("room");
    shard.settle();
    permit.send(order.call(&cell, 2)).expect("accepted");
    shard.settle();
    gate.open();
    shard.settle();
    assert_eq!((order.seen(), cell.evicted()), (vec![1], 1));
    assert_accounted(&[&shard]);
}

#[test]
fn a_shard_that_ends_answers_what_it_had_dropped() {
    let shard = HandShard::new(0);
    let cell = spawn_with(&shard, 1, Overflow::DropOldest);
    let _gate = occupy(&shard, &cell);
    let mut asks = [cell.add(1), cell.add(2)];
    {
        let _here = shard.shard.activate();
        for ask in &mut asks {
            assert!(poll(ask, Waker::noop()).is_pending());
        }
    }
    let log = shard.log.clone();
    drop(shard);
    let [first, second] = asks.map(|ask| finish(&[], ask));
    assert_eq!(first, Err(AskError::Evicted));
    assert_eq!(second, Err(AskError::Died(ExitReason::ShardDown)));
    assert_eq!(*log.0.borrow(), ["Cell0 DropOldest: 1"]);
}
