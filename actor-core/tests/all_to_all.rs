//! Mailboxes of one message, between four shards whose actors all tell each other: nobody waits for ever, and a sender
//! that waits keeps its own shard running.

mod common;

use std::{
    cell::RefCell,
    future::{Future, poll_fn},
    pin::Pin,
    rc::Rc,
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
    time::Duration,
};

use actor_core::{
    Cx, Domain, DomainConfig, ExitReason, Inbox, InboxActor, InboxHandle, Remote, ShardId, Tell, Turn,
    port::{ChoicePoint, Choose, Driver, Host},
};
use common::{
    Cell0, Cell0Handle, HandShard, assert_accounted, finish, poll, spawn,
    threads::{Crew, Dice, Sleep, block_on, within},
};

const SHARDS: usize = 4;

/// The next number that each actor expects of each other.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<[[u64; SHARDS]; SHARDS]>>);

impl Seen {
    fn note(&self, by: usize, from: usize, n: u64) {
        let expected = &mut self.0.lock().expect("seen")[by][from];
        assert_eq!(*expected, n, "a message was lost, or overtook another");
        *expected += 1;
    }

    fn assert_all(&self, each: u64) {
        let all = std::array::from_fn(|by| std::array::from_fn(|from| if by == from { 0 } else { each }));
        assert_eq!(*self.0.lock().expect("seen"), all);
    }
}

// === the first form: an actor whose handler sends by a courier, an actor that is a plain future ===

/// Starts an actor with room for one message on each shard.
fn start_cells(remotes: &[Remote]) -> Vec<impl Future<Output = Result<Cell0Handle, actor_core::SpawnError>>> {
    remotes.iter().map(|remote| remote.spawn(Some(1), Cell0::new)).collect()
}

/// Has each actor tell each other `each` times; the futures are of the couriers' ends.
fn tell_all(remotes: &[Remote], cells: &[Cell0Handle], seen: &Seen, each: u64) -> Vec<InboxHandle<()>> {
    let (ours, couriers) = (Arc::new(Mutex::new(Vec::new())), cells.len());
    for (me, cell) in cells.iter().enumerate() {
        let (remote, cells, seen, ours) = (remotes[me].clone(), cells.to_vec(), seen.clone(), ours.clone());
        // The handler itself waits for nobody: were it to wait for room, nobody would make room here.
        let begin = cell.run(move |_, _| {
            let courier = remote.spawn_inbox(Some(1), move |mut inbox: Inbox<()>, _| async move {
                for n in 0..each {
                    for (to, other) in cells.iter().enumerate().filter(|(to, _)| *to != me) {
                        let seen = seen.clone();
                        let note = other.run(move |_, _| {
                            seen.note(to, me, n);
                            0
                        });
                        note.tell().await.expect("open");
                    }
                }
                while inbox.recv().await.is_some() {}
            });
            ours.lock().expect("couriers").push(courier);
            0
        });
        // Those that have begun may have filled the mailbox by now.
        block_on(begin.tell()).expect("open");
    }
    // The shards make the couriers at their leisure.
    let mut handles = Vec::new();
    while handles.len() < couriers {
        let courier = ours.lock().expect("couriers").pop();
        match courier {
            Some(courier) => handles.push(block_on(courier).expect("spawned")),
            None => std::thread::yield_now(),
        }
    }
    handles
}

#[test]
fn couriers_between_four_threads_deliver_all_in_order() {
    const EACH: u64 = 2_000;
    for sleep in [Sleep::Park, Sleep::Never] {
        within(Duration::from_secs(120), move || {
            let crew = Crew::start(configs(), sleep);
            let seen = Seen::default();
            let cells: Vec<_> =
                start_cells(&crew.remotes).into_iter().map(|cell| block_on(cell).expect("spawned")).collect();
            let couriers = tell_all(&crew.remotes, &cells, &seen, EACH);
            // A courier that is stopped first finishes its round.
            for courier in couriers {
                assert_eq!(block_on(courier.stop()), ExitReason::Stopped);
            }
            for cell in cells {
                assert_eq!(block_on(cell.stop()), ExitReason::Stopped);
            }
            seen.assert_all(EACH);
            let stats = crew.shut_down();
            let handled: u64 = stats.iter().map(|stats| stats.handled).sum();
            let begun = SHARDS as u64;
            assert_eq!(handled, begun + (SHARDS * (SHARDS - 1)) as u64 * EACH);
            assert!(stats.iter().all(|stats| stats.received == stats.handled && stats.queued == 0));
        });
    }
}

// === the second form: actors that send and receive at once ===

type Letter = (usize, u64);

/// Sends `each` letters to every other and receives as many from each, whichever can go on.
async fn correspond(
    mut inbox: Inbox<Letter>,
    _: Cx<InboxActor<Letter>>,
    me: usize,
    each: u64,
    others: impl Future<Output = Vec<InboxHandle<Letter>>>,
    seen: Seen,
) {
    let others = others.await;
    let mut left: Vec<_> =
        (0..each).rev().flat_map(|n| (0..SHARDS).filter(move |to| *to != me).map(move |to| (to, n))).collect();
    let mut missing = each * (SHARDS as u64 - 1);
    let mut sending: Option<Tell<(Letter,)>> = None;
    poll_fn(|cx| {
        let mut moved = true;
        while moved {
            moved = false;
            if let Some(tell) = &mut sending
                && let Poll::Ready(outcome) = Pin::new(tell).poll(cx)
            {
                outcome.expect("open");
                sending = None;
            }
            if sending.is_none()
                && let Some((to, n)) = left.pop()
            {
                sending = Some(others[to].send((me, n)).tell());
                moved = true;
            }
            if missing > 0
                && let Poll::Ready(letter) = Pin::new(&mut inbox.recv()).poll(cx)
            {
                let (from, n) = letter.expect("nobody stops us");
                seen.note(me, from, n);
                missing -= 1;
                moved = true;
            }
        }
        if missing == 0 && sending.is_none() && left.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

/// The addresses of all, to be had once all are there.
#[derive(Clone, Default)]
struct Addresses(Arc<Mutex<Published>>);

#[derive(Default)]
struct Published {
    handles: Vec<InboxHandle<Letter>>,
    wakers: Vec<Waker>,
}

impl Addresses {
    fn publish(&self, handles: &[InboxHandle<Letter>]) {
        let mut state = self.0.lock().expect("addresses");
        state.handles = handles.to_vec();
        let wakers = std::mem::take(&mut state.wakers);
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }
}

impl Future for Addresses {
    type Output = Vec<InboxHandle<Letter>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut state = self.0.lock().expect("addresses");
        if state.handles.is_empty() {
            state.wakers.push(cx.waker().clone());
            return Poll::Pending;
        }
        Poll::Ready(state.handles.clone())
    }
}

fn start_correspondents(
    remotes: &[Remote],
    seen: &Seen,
    each: u64,
) -> (Addresses, Vec<actor_core::Spawning<InboxHandle<Letter>>>) {
    let addresses = Addresses::default();
    let spawning = remotes
        .iter()
        .enumerate()
        .map(|(me, remote)| {
            let (others, seen) = (addresses.clone(), seen.clone());
            remote.spawn_inbox(Some(1), move |inbox, cx| correspond(inbox, cx, me, each, others, seen))
        })
        .collect();
    (addresses, spawning)
}

#[test]
fn correspondents_on_four_threads_deliver_all_in_order() {
    const EACH: u64 = 2_000;
    for sleep in [Sleep::Park, Sleep::Never] {
        within(Duration::from_secs(120), move || {
            let crew = Crew::start(configs(), sleep);
            let seen = Seen::default();
            let (addresses, spawning) = start_correspondents(&crew.remotes, &seen, EACH);
            let handles: Vec<_> = spawning.into_iter().map(|handle| block_on(handle).expect("spawned")).collect();
            addresses.publish(&handles);
            for handle in &handles {
                assert_eq!(block_on(handle.closed()), ExitReason::Normal);
            }
            seen.assert_all(EACH);
            let stats = crew.shut_down();
            assert!(stats.iter().all(|stats| stats.handled == EACH * 3 && stats.received == stats.handled));
        });
    }
}

fn configs() -> Vec<DomainConfig> {
    (0..SHARDS)
        .map(|number| {
            let mut config = DomainConfig::new(ShardId::new(u16::try_from(number).expect("few")));
            // Less room in the ring than messages on their way: some go beside it.
            config.ring_capacity = 2;
            config
        })
        .collect()
}

// === in many orders, on one thread ===

/// Decides by a seed: which actor, which source, and whether the turn goes on after a poll.
#[derive(Clone)]
struct Seeded(Rc<RefCell<Dice>>);

impl Choose for Seeded {
    fn choose(&self, _: ChoicePoint, alternatives: usize) -> usize {
        self.0.borrow_mut().below(alternatives)
    }
}

impl Driver for Seeded {
    fn has_budget(&self) -> bool {
        !self.0.borrow_mut().one_in(3)
    }
}

/// Shards of one thread that run in the order of a seed.
struct Hands {
    shards: Vec<HandShard>,
    dice: Seeded,
}

impl Hands {
    fn new(seed: u64) -> Self {
        let dice = Seeded(Rc::new(RefCell::new(Dice::new(seed))));
        let shards = configs()
            .into_iter()
            .map(|config| {
                let mut hand = HandShard::new(0);
                hand.shard = Domain::new(config).expect("domain").bind(Host {
                    notify: hand.bell.clone(),
                    clock: Box::new(hand.clock.clone()),
                    driver: Box::new(dice.clone()),
                    choose: Some(Box::new(dice.clone())),
                });
                hand
            })
            .collect();
        Self { shards, dice }
    }

    fn remotes(&self) -> Vec<Remote> {
        self.shards.iter().map(|hand| hand.shard.remote()).collect()
    }

    fn all(&self) -> Vec<&HandShard> {
        self.shards.iter().collect()
    }

    /// One turn of one shard.
    fn step(&self) -> Turn {
        let next = self.dice.0.borrow_mut().below(SHARDS);
        self.shards[next].shard.turn()
    }

    /// Turns until `is_done`, or until it is clear that it never will be.
    fn run_until(&self, seed: u64, mut is_done: impl FnMut() -> bool) {
        for _ in 0..1_000_000 {
            if is_done() {
                return;
            }
            self.step();
        }
        panic!("not done after a million turns, seed {seed}");
    }
}

#[test]
fn couriers_deliver_all_in_order_in_every_order_of_events() {
    const EACH: u64 = 20;
    for seed in 0..200 {
        let hands = Hands::new(seed);
        let seen = Seen::default();
        let remotes = hands.remotes();
        let cells: Vec<_> =
            start_cells(&remotes).into_iter().map(|cell| finish(&hands.all(), cell).expect("spawned")).collect();
        let couriers: Vec<_> = (0..SHARDS)
            .map(|me| {
                let (cells, seen) = (cells.clone(), seen.clone());
                let courier = remotes[me].spawn_inbox(Some(1), move |_: Inbox<()>, _| async move {
                    for n in 0..EACH {
                        for (to, other) in cells.iter().enumerate().filter(|(to, _)| *to != me) {
                            let seen = seen.clone();
                            let note = other.run(move |_, _| {
                                seen.note(to, me, n);
                                0
                            });
                            note.tell().await.expect("open");
                        }
                    }
                });
                finish(&hands.all(), courier).expect("spawned")
            })
            .collect();
        hands.run_until(seed, || {
            couriers.iter().all(|courier| courier.closed().try_reason() == Some(ExitReason::Normal))
        });
        hands.all().iter().for_each(|hand| _ = hand.settle());
        seen.assert_all(EACH);
        assert_accounted(&hands.all());
    }
}

#[test]
fn correspondents_deliver_all_in_order_in_every_order_of_events() {
    const EACH: u64 = 20;
    for seed in 0..200 {
        let hands = Hands::new(seed);
        let seen = Seen::default();
        let (addresses, spawning) = start_correspondents(&hands.remotes(), &seen, EACH);
        let handles: Vec<_> =
            spawning.into_iter().map(|handle| finish(&hands.all(), handle).expect("spawned")).collect();
        addresses.publish(&handles);
        hands.run_until(seed, || handles.iter().all(|handle| handle.closed().try_reason().is_some()));
        seen.assert_all(EACH);
        assert_accounted(&hands.all());
    }
}

#[test]
fn the_same_seed_takes_the_same_turns() {
    let run = |seed| {
        let hands = Hands::new(seed);
        let seen = Seen::default();
        let (addresses, spawning) = start_correspondents(&hands.remotes(), &seen, 10);
        let handles: Vec<_> =
            spawning.into_iter().map(|handle| finish(&hands.all(), handle).expect("spawned")).collect();
        addresses.publish(&handles);
        let mut turns = 0;
        hands.run_until(seed, || {
            turns += 1;
            handles.iter().all(|handle| handle.closed().try_reason().is_some())
        });
        (turns, hands.shards.iter().map(|hand| hand.shard.stats().polls).collect::<Vec<_>>())
    };
    assert_eq!(run(7), run(7));
    assert!((0..10).any(|seed| run(seed) != run(7)), "the seed decides nothing");
}

// === what these tests would notice ===

#[test]
#[should_panic(expected = "a message was lost, or overtook another")]
fn a_message_that_overtakes_another_is_noticed() {
    let seen = Seen::default();
    seen.note(0, 1, 0);
    seen.note(0, 1, 2);
}

#[test]
#[should_panic(expected = "assertion `left == right` failed")]
fn a_message_that_never_comes_is_noticed() {
    let seen = Seen::default();
    seen.note(0, 1, 0);
    seen.assert_all(1);
}

#[test]
#[should_panic(expected = "a wake was lost")]
fn a_driver_that_nobody_wakes_is_noticed() {
    within(Duration::from_millis(1), || {
        // Parked for good: the process ends without it.
        loop {
            std::thread::park();
        }
    });
}

// === a sender that waits ===

#[test]
fn a_sender_that_waits_for_room_leaves_its_shard_to_the_others() {
    let (home, other) = (HandShard::new(0), HandShard::new(1));
    let full = spawn(&other, Some(1));
    full.add(1).try_tell().expect("room");
    let (handler, neighbour) = (spawn(&home, None), spawn(&home, None));
    // One that waits in a handler, and one that waits in a plain future.
    let target = full.clone();
    let mut in_handler = handler.run_async(move |_, _| {
        Box::pin(async move {
            target.add(10).tell().await.expect("open");
            1
        })
    });
    let target = full.clone();
    let in_future = finish(
        &[&home],
        home.shard.remote().spawn_inbox(None, move |_: Inbox<()>, _| async move {
            target.add(100).tell().await.expect("open");
        }),
    )
    .expect("spawned");
    assert!(poll(&mut in_handler, Waker::noop()).is_pending());
    home.settle();
    let before = home.shard.stats().polls;
    // The other shard does not run, so both wait; meanwhile the neighbour answers.
    for n in 1..=1_000 {
        assert_eq!(finish(&[&home], neighbour.add(1)), Ok(n));
    }
    assert!(poll(&mut in_handler, Waker::noop()).is_pending() && in_future.closed().try_reason().is_none());
    assert_eq!(home.shard.stats().polls - before, 1_000, "a sender that waits is not polled");
    assert_eq!(finish(&[&home, &other], in_handler), Ok(1));
    assert_eq!(finish(&[&home, &other], in_future.closed()), ExitReason::Normal);
    assert_eq!(finish(&[&other], full.add(0)), Ok(111));
    assert_accounted(&[&home, &other]);
}
