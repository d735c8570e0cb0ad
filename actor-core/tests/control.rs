//! The control lane under a flood: a million messages wait, and stops, kills, ends and timers do not wait with them.
//!
//! The clock moves on by a slice at each reading, so that a turn is as short as one can be: 32 polls.

mod common;

use std::{
    cell::Cell,
    rc::Rc,
    task::{Poll, Waker},
    time::Duration,
};

use actor_core::{
    AskError, Domain, DomainConfig, ExitReason, ShardId, TellError, TryTellError, Turn,
    port::{ChoicePoint, Choose, Clock, Host, Nanos},
};
use common::{Cell0Handle, Flag, Gate, HandShard, assert_accounted, finish, poll, spawn};

const MILLION: usize = 1_000_000;

/// What the engine promises of a poll, and of the polls between two looks at the signals.
const MESSAGES_PER_POLL: u64 = 32;
const POLLS_PER_LOOK: u64 = 8;

thread_local! {
    /// Messages handled, or polls made, by the actors of this test.
    static DONE: Cell<u64> = const { Cell::new(0) };
}

/// Moves on by 100 µs, the slice, at each reading.
struct Ticking(Rc<Cell<u64>>);

impl Clock for Ticking {
    fn now(&self) -> Nanos {
        Nanos(self.0.replace(self.0.get() + 100_000))
    }
}

/// Takes messages before signals.
struct MessagesFirst;

impl Choose for MessagesFirst {
    fn choose(&self, point: ChoicePoint, _: usize) -> usize {
        usize::from(point == ChoicePoint::NextSource)
    }
}

fn shard(number: u16, choose: Option<Box<dyn Choose>>) -> HandShard {
    let mut hand = HandShard::new(number);
    let mut config = DomainConfig::new(ShardId::new(number));
    config.ask_timeout = None;
    hand.shard = Domain::new(config).expect("domain").bind(Host {
        notify: hand.bell.clone(),
        clock: Box::new(Ticking(hand.clock.0.clone())),
        driver: Box::new(hand.log.clone()),
        choose,
    });
    hand
}

/// Where a flood comes from, and what the shard prefers.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Road {
    /// The actor's own shard: all messages are in the inbox.
    Local,
    /// Another shard's actor: they are in the ring, and most beside it.
    Remote,
    /// As before, and looks take messages before signals.
    RemoteFirst,
}

const ROADS: [Road; 3] = [Road::Local, Road::Remote, Road::RemoteFirst];

/// A shard with an actor for whom `MILLION` messages wait. The second shard sent them.
fn flooded(road: Road) -> (HandShard, HandShard, Cell0Handle) {
    let choose: Option<Box<dyn Choose>> = if road == Road::RemoteFirst { Some(Box::new(MessagesFirst)) } else { None };
    let (home, other) = (shard(0, choose), shard(1, None));
    let victim = spawn(&home, Some(MILLION));
    fill(&home, &other, road, &victim, MILLION);
    (home, other, victim)
}

fn fill(home: &HandShard, other: &HandShard, road: Road, victim: &Cell0Handle, count: usize) {
    if road == Road::Local {
        let _here = home.shard.activate();
        send(victim, count);
    } else {
        let (sender, victim) = (spawn(other, None), victim.clone());
        let sent = sender.run(move |_, _| {
            send(&victim, count);
            0
        });
        assert_eq!(finish(&[other], sent), Ok(0));
    }
    assert_eq!(victim.queue_len(), count);
}

fn send(victim: &Cell0Handle, count: usize) {
    for _ in 0..count {
        victim.run(|_, _| done()).try_tell().expect("room");
    }
}

fn done() -> u64 {
    DONE.set(DONE.get() + 1);
    0
}

/// Kills or stops from a thread that is no shard's, while this one waits for it to have done so.
fn from_afar(act: impl FnOnce() + Send) {
    std::thread::scope(|scope| scope.spawn(act).join().expect("no panic"));
}

#[test]
fn a_kill_ends_a_flooded_actor_within_one_turn_and_nothing_is_handled_after_it() {
    for road in ROADS {
        DONE.set(0);
        let (home, _other, victim) = flooded(road);
        assert_eq!(home.shard.turn(), Turn::More, "there is more than a turn of it");
        let before = DONE.get();
        assert!(before > 0 && before < MILLION as u64 / 2);
        let exit = victim.kill();
        assert!(matches!(victim.run(|_, _| done()).try_tell(), Err(TryTellError::Closed(_))), "closed at once");
        home.shard.turn();
        assert_eq!(exit.try_reason(), Some(ExitReason::Killed), "{road:?}");
        home.settle();
        assert_eq!(DONE.get(), before, "a message was handled after the kill, {road:?}");
        let stats = home.shard.stats();
        assert_eq!((stats.handled, stats.returned), (before, MILLION as u64 - before));
        assert_eq!((stats.queued, stats.actors, victim.queue_len()), (0, 0, 0));
    }
}

#[test]
fn a_kill_in_the_middle_of_a_turn_waits_for_the_next_look_at_the_most() {
    for road in ROADS {
        DONE.set(0);
        let (home, _other, victim) = flooded(road);
        let witness = spawn(&home, None);
        home.shard.turn();
        // In the middle of a turn, by another thread: the turn finds it at its next look.
        let (handle, exit) = (victim.clone(), victim.closed());
        let mut killing = witness.run(move |_, _| {
            from_afar(|| _ = handle.kill());
            DONE.get()
        });
        assert!(poll(&mut killing, Waker::noop()).is_pending());
        home.shard.turn();
        assert_eq!(exit.try_reason(), Some(ExitReason::Killed), "{road:?}");
        let at_kill = finish(&[], killing).expect("answered");
        let late = DONE.get() - at_kill;
        assert!(late <= POLLS_PER_LOOK * MESSAGES_PER_POLL, "{late} messages after the kill, {road:?}");
        home.settle();
        assert_eq!(DONE.get() - at_kill, late);
        assert_accounted(&[&home]);
    }
}

#[test]
fn a_kill_by_a_neighbour_in_the_same_turn_is_acted_on_before_the_next_message() {
    let (home, _other, victim) = flooded(Road::Local);
    let witness = spawn(&home, None);
    home.shard.turn();
    let (handle, exit) = (victim.clone(), victim.closed());
    let mut killing = witness.run(move |_, _| {
        drop(handle.kill());
        DONE.get()
    });
    assert!(poll(&mut killing, Waker::noop()).is_pending());
    home.shard.turn();
    assert_eq!(exit.try_reason(), Some(ExitReason::Killed));
    assert_eq!(finish(&[], killing), Ok(DONE.get()));
    assert_accounted(&[&home]);
}

#[test]
fn a_stop_closes_a_flooded_mailbox_at_once_and_all_that_was_accepted_is_handled() {
    for road in ROADS {
        DONE.set(0);
        let (home, _other, victim) = flooded(road);
        let woken = std::sync::Arc::new(Flag::default());
        let mut waiting = victim.run(|_, _| done()).tell();
        assert!(poll(&mut waiting, &Waker::from(woken.clone())).is_pending(), "the mailbox is full");
        let exit = victim.stop();
        assert!(victim.is_closed());
        assert!(matches!(victim.run(|_, _| done()).try_tell(), Err(TryTellError::Closed(_))));
        assert_eq!(woken.0.load(std::sync::atomic::Ordering::SeqCst), 1, "who waits for room is sent away at once");
        assert!(matches!(poll(&mut waiting, Waker::noop()), Poll::Ready(Err(TellError::Closed(_)))));
        home.shard.turn();
        assert_eq!(exit.try_reason(), None, "it drains");
        home.settle();
        assert_eq!(exit.try_reason(), Some(ExitReason::Stopped));
        assert_eq!(DONE.get(), MILLION as u64);
        assert_accounted(&[&home]);
    }
}

#[test]
fn a_kill_cuts_a_drain_short_within_one_turn() {
    for road in ROADS {
        DONE.set(0);
        let (home, _other, victim) = flooded(road);
        let exit = victim.stop();
        home.shard.turn();
        let before = DONE.get();
        drop(victim.kill());
        home.shard.turn();
        assert_eq!(exit.try_reason(), Some(ExitReason::Killed), "{road:?}");
        home.settle();
        assert_eq!(DONE.get(), before);
        assert_accounted(&[&home]);
    }
}

/// Asks for `neighbour`'s end by `how`, and counts the turns until it has come.
fn turns_until_ended(home: &HandShard, neighbour: &Cell0Handle, how: impl Fn(&Cell0Handle)) -> u32 {
    let exit = neighbour.closed();
    how(neighbour);
    for turns in 1..100 {
        home.shard.turn();
        if exit.try_reason().is_some() {
            return turns;
        }
    }
    panic!("not ended after 100 turns");
}

#[test]
fn neighbours_of_a_flooded_actor_stop_die_and_are_woken_within_one_turn() {
    for road in [Road::Local, Road::Remote] {
        let (home, other, victim) = flooded(road);
        let (stopped, killed, left) = (spawn(&home, None), spawn(&home, None), spawn(&home, None));
        assert_eq!(turns_until_ended(&home, &stopped, |cell| _ = cell.stop()), 1);
        assert_eq!(turns_until_ended(&home, &killed, |cell| _ = cell.kill()), 1);
        // The last handle goes.
        let exit = left.closed();
        drop(left);
        home.shard.turn();
        assert_eq!(exit.try_reason(), Some(ExitReason::Normal));
        // An end on another shard reaches who awaits it here.
        let (watched, watcher) = (spawn(&other, None), spawn(&home, None));
        let end = watched.closed();
        let mut heard = watcher.run_async(move |_, _| {
            Box::pin(async move {
                assert_eq!(end.await, ExitReason::Killed);
                1
            })
        });
        assert!(poll(&mut heard, Waker::noop()).is_pending());
        // Its message goes the way of all messages, behind those that were sent before.
        while road != Road::Local && home.shard.stats().received < MILLION as u64 + 1 {
            home.shard.turn();
        }
        home.shard.turn();
        fill_up(&home, &victim);
        drop(watched.kill());
        other.settle();
        home.shard.turn();
        assert_eq!(poll(&mut heard, Waker::noop()), Poll::Ready(Ok(1)), "{road:?}");
        assert!(victim.queue_len() > MILLION / 2, "the flood was there all the time");
        drop(victim.kill());
        assert_accounted(&[&home, &other]);
    }
}

/// Makes up for what was handled meanwhile.
fn fill_up(home: &HandShard, victim: &Cell0Handle) {
    let _here = home.shard.activate();
    send(victim, MILLION - victim.queue_len());
}

#[test]
fn timers_of_a_flooded_shard_fire_within_one_turn() {
    for road in [Road::Local, Road::Remote] {
        let (home, other) = (shard(0, None), shard(1, None));
        let (victim, asker, silent) = (spawn(&home, Some(MILLION)), spawn(&home, None), spawn(&home, None));
        let gate = Gate::default();
        let mut asked = asker.run_async(move |_, _| {
            Box::pin(async move {
                let never = silent.run_async(move |_, _| {
                    Box::pin(async move {
                        gate.await;
                        0
                    })
                });
                let outcome = never.timeout(Duration::from_secs(60)).await;
                assert_eq!(outcome, Err(AskError::Timeout { delivered: true }));
                1
            })
        });
        assert!(poll(&mut asked, Waker::noop()).is_pending());
        home.settle();
        fill(&home, &other, road, &victim, MILLION);
        home.shard.turn();
        assert!(poll(&mut asked, Waker::noop()).is_pending());
        home.advance(60_000_000_000);
        home.shard.turn();
        assert_eq!(poll(&mut asked, Waker::noop()), Poll::Ready(Ok(1)), "{road:?}");
        assert!(victim.queue_len() > MILLION / 2);
        drop(victim.kill());
        assert_accounted(&[&home]);
    }
}

#[test]
fn a_thousand_flooded_actors_keep_no_stop_and_no_kill_waiting() {
    const EACH: usize = 1_000;
    let home = shard(0, None);
    let victims: Vec<_> = (0..EACH).map(|_| spawn(&home, Some(EACH))).collect();
    let witness = spawn(&home, None);
    let flood = || {
        let _here = home.shard.activate();
        for victim in &victims {
            send(victim, EACH - victim.queue_len());
        }
    };
    flood();
    // Each is ready and has its place in the line: a turn of 32 polls reaches 32 of them.
    home.shard.turn();
    // From afar, and by the shard's own thread; one that waits in the line, and one that has nothing to do.
    assert_eq!(turns_until_ended(&home, &victims[EACH - 1], |cell| _ = cell.kill()), 1);
    assert_eq!(turns_until_ended(&home, &witness, |cell| _ = cell.stop()), 1);
    let own = |cell: &Cell0Handle| {
        let _here = home.shard.activate();
        drop(cell.kill());
    };
    assert_eq!(turns_until_ended(&home, &victims[EACH - 2], own), 1);
    // Two at once.
    let (first, second) = (victims[EACH - 3].kill(), victims[EACH - 4].kill());
    home.shard.turn();
    assert_eq!((first.try_reason(), second.try_reason()), (Some(ExitReason::Killed), Some(ExitReason::Killed)));
    // A stop jumps the line once: from then on its actor drains in turns with the others.
    let stopped = &victims[EACH - 5];
    for _ in 0..10 {
        drop(stopped.stop());
        home.shard.turn();
    }
    assert!(stopped.queue_len() as u64 >= EACH as u64 - 3 * MESSAGES_PER_POLL, "it drained out of turn");
    let before = home.shard.stats();
    assert!(before.queued > 900_000, "the flood was there all the time");
    home.settle();
    let stats = home.shard.stats();
    assert_eq!((stats.queued, stats.actors), (0, EACH as u64 - 5));
    assert_accounted(&[&home]);
}

/// A future that is never done and always ready to be polled again.
async fn restless() -> u64 {
    std::future::poll_fn::<(), _>(|cx| {
        done();
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
    0
}

#[test]
fn an_actor_that_is_always_ready_is_stopped_and_killed_between_two_polls() {
    DONE.set(0);
    let home = shard(0, None);
    // From afar, between two turns: it is not polled again.
    let cell = spawn(&home, None);
    cell.run_async(|_, _| Box::pin(restless())).try_tell().expect("room");
    assert_eq!(home.shard.turn(), Turn::More);
    let before = DONE.get();
    assert!(before > 0);
    assert_eq!(turns_until_ended(&home, &cell, |cell| _ = cell.kill()), 1);
    assert_eq!(DONE.get(), before);
    // In the middle of a turn: within the polls until the next look.
    let (cell, witness) = (spawn(&home, None), spawn(&home, None));
    cell.run_async(|_, _| Box::pin(restless())).try_tell().expect("room");
    home.shard.turn();
    let (exit, handle) = (cell.closed(), cell.clone());
    let mut killing = witness.run(move |_, _| {
        from_afar(|| _ = handle.kill());
        DONE.get()
    });
    assert!(poll(&mut killing, Waker::noop()).is_pending());
    home.shard.turn();
    assert_eq!(exit.try_reason(), Some(ExitReason::Killed));
    let late = DONE.get() - finish(&[], killing).expect("answered");
    assert!(late <= POLLS_PER_LOOK, "{late} polls after the kill");
    // A stop is seen too, though the handler has to be killed for it to end: it takes no messages any more.
    let cell = spawn(&home, None);
    cell.run_async(|_, _| Box::pin(restless())).try_tell().expect("room");
    home.shard.turn();
    let exit = cell.stop();
    home.shard.turn();
    assert!(cell.is_closed() && exit.try_reason().is_none());
    assert_eq!(turns_until_ended(&home, &cell, |cell| _ = cell.kill()), 1);
    assert_accounted(&[&home]);
}

#[test]
fn an_inbox_that_is_never_empty_lets_signals_through() {
    DONE.set(0);
    let home = shard(0, None);
    let handle = finish(
        &[&home],
        home.shard.remote().spawn_inbox(Some(MILLION), |mut inbox, _| async move {
            while inbox.recv().await.is_some() {
                done();
            }
        }),
    )
    .expect("spawned");
    {
        let _here = home.shard.activate();
        for _ in 0..MILLION {
            handle.send(7u8).try_tell().expect("room");
        }
    }
    home.shard.turn();
    let before = DONE.get();
    assert!(before > 0 && before < 2000);
    let exit = handle.kill();
    home.shard.turn();
    assert_eq!((exit.try_reason(), DONE.get()), (Some(ExitReason::Killed), before));
    assert_accounted(&[&home]);
}
