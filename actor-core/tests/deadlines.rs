//! How often a handler runs whose asker leaves, or whose time is over, at each stage of the ask: exactly as often as
//! the rules of `Call` say. On a clock that stands still until the test moves it.

mod common;

use std::{
    collections::HashSet,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    task::{Poll, Waker},
    time::Duration,
};

use actor_core::{AskError, Call, Domain, DomainConfig, ShardId, port::Host};
use common::{AsyncWork, Cell0Handle, Gate, HandShard, assert_accounted, poll, spawn};

const ASKS: usize = 10_000;

/// What becomes of one ask. Each comes with and without `.cancel_on_drop()`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Fate {
    /// Dropped without having been polled.
    NotPolled,
    /// Its time is over at the first poll.
    LateFromTheStart,
    /// Dropped while it waits for room.
    WaitingDropped,
    /// Its time is over while it waits for room.
    WaitingExpired,
    /// As before, but it looks only when it has got room.
    WaitingExpiredServed,
    /// Gets room later, and its answer.
    WaitingServed,
    /// Waits for its answer.
    QueuedKept,
    /// Dropped while queued.
    QueuedDropped,
    /// Its time is over while it is queued.
    QueuedExpired,
    /// As before, but it looks only when its message has been thrown away.
    QueuedExpiredLooksLate,
    /// Dropped while queued; then its time is over.
    QueuedDroppedExpired,
    /// Its time is over while it is queued; then it is dropped.
    QueuedExpiredDropped,
    /// Waits while its handler does.
    RunningKept,
    /// Dropped while its handler waits.
    RunningDropped,
    /// Its time is over while its handler waits.
    RunningExpired,
    /// Dropped when the answer is there, or on its way.
    AnsweredDropped,
    /// Dropped when the answer has come home.
    HomeDropped,
}

use Fate::*;

/// Those that find room.
const QUEUED: [Fate; 11] = [
    QueuedKept,
    QueuedDropped,
    RunningDropped,
    QueuedExpired,
    AnsweredDropped,
    QueuedExpiredLooksLate,
    RunningKept,
    QueuedDroppedExpired,
    HomeDropped,
    QueuedExpiredDropped,
    RunningExpired,
];
/// Those that find none, or do not look for any. They come when the mailbox is full.
const LATE: [Fate; 6] =
    [WaitingDropped, WaitingExpired, WaitingExpiredServed, WaitingServed, NotPolled, LateFromTheStart];

/// What the rules say of one ask.
#[derive(Debug, PartialEq)]
struct Expected {
    /// It got a permit.
    accepted: bool,
    /// Its handler was begun.
    begun: bool,
    /// Its handler came to its end.
    finished: bool,
    outcome: Option<Result<u64, AskError>>,
}

impl Fate {
    fn expected(self, cancels: bool) -> Expected {
        let (accepted, begun, finished) = match self {
            NotPolled | LateFromTheStart | WaitingDropped | WaitingExpired => (false, false, false),
            WaitingExpiredServed => (true, false, false),
            QueuedDropped => (true, !cancels, !cancels),
            QueuedExpired | QueuedExpiredLooksLate | QueuedDroppedExpired | QueuedExpiredDropped => {
                (true, false, false)
            }
            RunningDropped => (true, true, !cancels),
            WaitingServed | QueuedKept | RunningKept | RunningExpired | AnsweredDropped | HomeDropped => {
                (true, true, true)
            }
        };
        let outcome = match self {
            WaitingServed | QueuedKept | RunningKept => Some(Ok(7)),
            LateFromTheStart | WaitingExpired | WaitingExpiredServed | QueuedExpired | QueuedExpiredLooksLate => {
                Some(Err(AskError::Timeout { delivered: false }))
            }
            // Even if it was to be cancelled by a drop: nobody has dropped it.
            RunningExpired => Some(Err(AskError::Timeout { delivered: true })),
            _ => None,
        };
        Expected { accepted, begun, finished, outcome }
    }

    /// The time limit, of an ask that is the `n`th of its round: handlers that wait expire in order, and after all
    /// that expire in the queue.
    fn limit(self, n: usize) -> Option<Duration> {
        match self {
            LateFromTheStart => Some(Duration::ZERO),
            WaitingExpired
            | WaitingExpiredServed
            | QueuedExpired
            | QueuedExpiredLooksLate
            | QueuedDroppedExpired
            | QueuedExpiredDropped => Some(SHORT),
            RunningExpired => Some(LONG + Duration::from_nanos(n as u64)),
            _ => None,
        }
    }

    fn has_waiting_handler(self) -> bool {
        matches!(self, RunningKept | RunningDropped | RunningExpired)
    }
}

const SHORT: Duration = Duration::from_micros(1);
const LONG: Duration = Duration::from_millis(1);

/// How often each handler was begun and finished.
#[derive(Clone)]
struct Counts(Arc<[(AtomicU32, AtomicU32)]>);

/// One ask on its way.
struct Asking {
    number: usize,
    fate: Fate,
    cancels: bool,
    limit: Option<Duration>,
    call: Option<Call<(AsyncWork,), u64>>,
    gate: Gate,
    outcome: Option<Result<u64, AskError>>,
}

impl Asking {
    /// The ask `number` of all, the `n`th of its round.
    fn new(number: usize, n: usize, fate: Fate, cancels: bool, cell: &Cell0Handle, counts: &Counts) -> Self {
        let gate = Gate::default();
        let (waits, counts) = (fate.has_waiting_handler().then(|| gate.clone()), counts.clone());
        let mut call = cell.run_async(move |_, _| {
            Box::pin(async move {
                counts.0[number].0.fetch_add(1, Ordering::Relaxed);
                if let Some(gate) = waits {
                    gate.await;
                }
                counts.0[number].1.fetch_add(1, Ordering::Relaxed);
                7
            })
        });
        let limit = fate.limit(n);
        if let Some(limit) = limit {
            call = call.timeout(limit);
        }
        if cancels {
            call = call.cancel_on_drop();
        }
        Self { number, fate, cancels, limit, call: Some(call), gate, outcome: None }
    }

    fn expected(&self) -> Expected {
        self.fate.expected(self.cancels)
    }

    /// Its handler waits.
    fn is_running(&self, counts: &Counts) -> bool {
        let (begun, finished) = &counts.0[self.number];
        self.call.is_some() && begun.load(Ordering::Relaxed) > finished.load(Ordering::Relaxed)
    }

    /// Polls, once.
    fn look(&mut self) {
        if let Some(call) = &mut self.call
            && let Poll::Ready(outcome) = poll(call, Waker::noop())
        {
            if let Err(error) = &outcome {
                let AskError::Timeout { delivered } = error else { panic!("{error} for {self:?}") };
                assert_eq!(error.was_delivered(), *delivered);
            }
            self.outcome = Some(outcome);
            self.call = None;
        }
    }

    fn drop_call(&mut self) {
        drop(self.call.take().unwrap_or_else(|| panic!("{self:?} is done")));
    }

    /// It has come to its end, as the rules say.
    fn assert_done(&self, counts: &Counts) {
        let (begun, finished) = &counts.0[self.number];
        let (begun, finished) = (begun.load(Ordering::Relaxed), finished.load(Ordering::Relaxed));
        let expected = self.expected();
        assert_eq!((begun, finished), (expected.begun.into(), expected.finished.into()), "{self:?}");
        assert_eq!(self.outcome, expected.outcome, "{self:?}");
        assert!(self.call.is_none(), "{self:?} is not done");
    }
}

impl std::fmt::Debug for Asking {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ask {}, {:?}{}", self.number, self.fate, if self.cancels { ", cancelled on drop" } else { "" })
    }
}

/// Where the asker is: on the actor's shard, or on another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum From {
    Here,
    Afar,
}

/// The asker's shard and the actor's, with one clock.
struct World {
    asker: HandShard,
    /// The actor's, unless it is the asker's.
    other: Option<HandShard>,
    cell: Cell0Handle,
}

impl World {
    fn new(from: From, capacity: usize) -> Self {
        let asker = HandShard::new(0);
        let other = (from == From::Afar).then(|| {
            let mut other = HandShard::new(1);
            other.clock = asker.clock.clone();
            other.shard = Domain::new(DomainConfig::new(ShardId::new(1))).expect("domain").bind(Host {
                notify: other.bell.clone(),
                clock: Box::new(other.clock.clone()),
                driver: Box::new(other.log.clone()),
                choose: None,
            });
            other
        });
        let cell = spawn(other.as_ref().unwrap_or(&asker), Some(capacity));
        Self { asker, other, cell }
    }

    fn home(&self) -> &HandShard {
        self.other.as_ref().unwrap_or(&self.asker)
    }

    /// Something that a task of the asker's shard does.
    fn as_asker<R>(&self, what: impl FnOnce() -> R) -> R {
        let _here = self.asker.shard.activate();
        what()
    }
}

/// Runs one round: asks that fill the mailbox, together with what is no ask; then others, which find no room.
fn round(world: &World, capacity: usize, mut queued: Vec<Asking>, late: Vec<Asking>, counts: &Counts) -> Vec<Asking> {
    let begun_at = world.asker.clock.0.get();
    world.as_asker(|| queued.iter_mut().for_each(Asking::look));
    assert_eq!(world.cell.queue_len(), queued.len());
    world.as_asker(|| {
        for _ in queued.len()..capacity {
            world.cell.add(1).try_tell().expect("room");
        }
    });
    let first_late = queued.len();
    let mut asks = queued;
    asks.extend(late);
    let is = |fate: Fate| move |ask: &&mut Asking| ask.fate == fate;
    asks.iter_mut().filter(is(NotPolled)).for_each(Asking::drop_call);
    world.as_asker(|| asks[first_late..].iter_mut().for_each(Asking::look));
    assert_eq!(world.cell.queue_len(), capacity);
    // Some leave while they wait or are queued; then time goes by.
    world.as_asker(|| {
        for fate in [WaitingDropped, QueuedDropped, QueuedDroppedExpired] {
            asks.iter_mut().filter(is(fate)).for_each(Asking::drop_call);
        }
        world.asker.advance(2 * nanos(SHORT));
        for fate in [WaitingExpired, QueuedExpired] {
            asks.iter_mut().filter(is(fate)).for_each(Asking::look);
        }
        asks.iter_mut().filter(is(QueuedExpiredDropped)).for_each(Asking::drop_call);
    });
    // The actor gets to work. It stops at each handler that waits.
    let mut next = 0;
    loop {
        world.home().settle();
        let Some(n) = asks[next..].iter().position(|ask| ask.is_running(counts)) else { break };
        next += n + 1;
        let ask = &mut asks[next - 1];
        match ask.fate {
            RunningDropped => world.as_asker(|| ask.drop_call()),
            RunningExpired => {
                world.asker.clock.0.set(begun_at + nanos(ask.limit.expect("it has one")));
                world.as_asker(|| ask.look());
            }
            _ => world.as_asker(|| ask.look()),
        }
        ask.gate.open();
    }
    // Answers are there; those from afar are on their way home.
    world.as_asker(|| asks.iter_mut().filter(is(AnsweredDropped)).for_each(Asking::drop_call));
    world.asker.settle();
    world.as_asker(|| asks.iter_mut().filter(is(HomeDropped)).for_each(Asking::drop_call));
    // Room has been handed to those that waited for it; their messages go out.
    for _ in 0..2 {
        world.as_asker(|| asks.iter_mut().for_each(Asking::look));
        world.home().settle();
        world.asker.settle();
    }
    world.as_asker(|| asks.iter_mut().for_each(Asking::look));
    // A shard that sleeps has given all permits back.
    assert!(world.home().shard.announce_sleep(Waker::noop()));
    assert_eq!(world.cell.queue_len(), 0);
    asks
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).expect("short")
}

/// Asks `ASKS` times, each fate in turn, and holds what happened against the rules.
fn ask_all(from: From, capacity: usize) {
    let world = World::new(from, capacity);
    let counts = Counts((0..ASKS).map(|_| Default::default()).collect());
    let (mut queued_so_far, mut late_so_far, mut told) = (0, 0, 0);
    let mut done: Vec<Asking> = Vec::new();
    while done.len() < ASKS {
        let left = ASKS - done.len();
        let queued = left.saturating_sub(LATE.len()).clamp(1, capacity.min(ASKS / 2));
        let late = (left - queued).min(LATE.len());
        // Two of a kind, with and without `.cancel_on_drop()`.
        let ask = |n: usize, fate: Fate, cancels| Asking::new(done.len() + n, n, fate, cancels, &world.cell, &counts);
        let in_mailbox: Vec<_> = (0..queued)
            .map(|n| (n, queued_so_far + n))
            .map(|(n, nth)| ask(n, QUEUED[nth / 2 % QUEUED.len()], nth % 2 == 1))
            .collect();
        let others: Vec<_> = LATE[..late]
            .iter()
            .enumerate()
            .map(|(n, fate)| ask(queued + n, *fate, (late_so_far + n) / LATE.len() % 2 == 1))
            .collect();
        (queued_so_far, late_so_far, told) = (queued_so_far + queued, late_so_far + late, told + capacity - queued);
        done.extend(round(&world, capacity, in_mailbox, others, &counts));
    }
    done.iter().for_each(|ask| ask.assert_done(&counts));
    let met: HashSet<_> = done.iter().map(|ask| (ask.fate, ask.cancels)).collect();
    assert_eq!(met.len(), 2 * (QUEUED.len() + LATE.len()), "each with and without");
    // The sums, from the engine's own books; what is no ask was handled too.
    let count = |what: fn(&Expected) -> bool| done.iter().filter(|ask| what(&ask.expected())).count();
    let (accepted, begun) = (count(|expected| expected.accepted), count(|expected| expected.begun));
    let stats = world.home().shard.stats();
    assert_eq!(stats.handled, (begun + told) as u64);
    assert_eq!(stats.returned, (accepted - begun) as u64);
    assert_accounted(&[world.home()]);
    assert_eq!(Arc::strong_count(&counts.0), 1, "an argument was not dropped");
    assert_eq!(world.asker.shard.next_timer(), None, "a timer was left armed");
}

#[test]
fn with_room_for_one_each_handler_runs_as_often_as_the_rules_say() {
    ask_all(From::Here, 1);
    ask_all(From::Afar, 1);
}

#[test]
fn with_room_for_some_each_handler_runs_as_often_as_the_rules_say() {
    ask_all(From::Here, 16);
    ask_all(From::Afar, 16);
}

#[test]
fn with_room_for_all_each_handler_runs_as_often_as_the_rules_say() {
    ask_all(From::Here, 16_384);
    ask_all(From::Afar, 16_384);
}

#[test]
#[should_panic(expected = "QueuedDropped, cancelled on drop")]
fn a_handler_that_should_not_have_run_is_noticed() {
    let world = World::new(From::Here, 1);
    let counts = Counts([Default::default()].into());
    let mut ask = Asking::new(0, 0, QueuedDropped, true, &world.cell, &counts);
    // Not dropped before its handler has run.
    world.as_asker(|| ask.look());
    world.home().settle();
    world.as_asker(|| ask.drop_call());
    ask.assert_done(&counts);
}
