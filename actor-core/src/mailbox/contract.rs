//! What every ring promises, checked against every ring; and rings with planted faults, each of which the suite reports.
//!
//! `ACTOR_RING_MESSAGES` is the number of messages of each producer where many are sent.

use std::{
    env,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
};

use super::{LanesRing, Mark, MutexRing, Producer, Ready, Ring, Spill, VyukovRing};
use crate::slot::{Admission, Admit};

/// What is sent: who sent it, which of its messages it is, and that it lives.
struct Token {
    producer: usize,
    number: usize,
    live: Arc<AtomicUsize>,
}

impl Token {
    fn new(producer: usize, number: usize, live: &Arc<AtomicUsize>) -> Self {
        live.fetch_add(1, Ordering::Relaxed);
        Self { producer, number, live: live.clone() }
    }
}

impl Drop for Token {
    fn drop(&mut self) {
        let before = self.live.fetch_sub(1, Ordering::Relaxed);
        assert!(before > 0, "dropped once");
    }
}

/// A ring with its word, as a port has them.
struct Road<R> {
    ring: R,
    ready: Ready,
}

impl<R: Ring<Token>> Road<R> {
    fn new(capacity: usize) -> Self {
        Self { ring: R::new(capacity), ready: Ready::new() }
    }

    /// Pushes; settles at once.
    ///
    /// # Safety
    ///
    /// As for [`Ring::push`].
    unsafe fn push(&self, from: Producer, token: Token) -> Result<(), Token> {
        // SAFETY: the caller's.
        let mark = unsafe { self.ring.push(&self.ready, from, token) }?;
        self.ready.settle(mark);
        Ok(())
    }

    /// Pops; each test does so on one thread.
    fn pop(&self) -> Option<Token> {
        // SAFETY: see above.
        unsafe { self.ring.pop(&self.ready) }
    }

    fn is_ready(&self) -> bool {
        // SAFETY: on the thread that pops.
        unsafe { self.ring.is_ready(&self.ready) }
    }

    fn is_drained(&self) -> bool {
        // SAFETY: on the thread that pops.
        unsafe { self.ring.is_drained() }
    }
}

/// The first of every three producers is a thread outside; the others are shards.
fn producer(index: usize) -> Producer {
    if index.is_multiple_of(3) { Producer::Outside } else { Producer::Shard(u16::try_from(index).expect("few")) }
}

fn messages(default: usize) -> usize {
    env::var("ACTOR_RING_MESSAGES").map_or(default, |number| number.parse().expect("a number of messages"))
}

/// The capacities that everything is checked at.
const CAPACITIES: [usize; 5] = [1, 2, 3, 64, 1024];

/// A full ring gives values back, whoever pushes, and has the same room again when it has been drained.
fn full_gives_back<R: Ring<Token>>(capacity: usize) {
    let live = Arc::default();
    for from in [Producer::Shard(7), Producer::Outside] {
        let road = Road::<R>::new(capacity);
        let mut room = None;
        for lap in 0..5 {
            let mut pushed = 0;
            // SAFETY: this thread is the only producer.
            while unsafe { road.push(from, Token::new(lap, pushed, &live)) }
                .map_err(|back| assert_eq!((back.producer, back.number), (lap, pushed), "given back whole"))
                .is_ok()
            {
                pushed += 1;
                assert!(pushed <= 2 * capacity.next_power_of_two(), "bounded");
            }
            assert!(pushed >= capacity.div_ceil(2), "a producer has half of the capacity {capacity}");
            assert_eq!(*room.get_or_insert(pushed), pushed, "all the room of the first lap");
            for number in 0..pushed {
                assert!(road.is_ready() && !road.is_drained());
                let token = road.pop().expect("it is there");
                assert_eq!((token.producer, token.number), (lap, number), "in order");
            }
            assert!(road.pop().is_none() && road.is_drained() && !road.is_ready(), "that was all");
        }
    }
    assert_eq!(live.load(Ordering::Relaxed), 0, "each dropped once");
}

/// Eight producers that try until they succeed: each one's order, and nothing is lost.
fn keeps_orders<R: Ring<Token>>(capacity: usize, each: usize) {
    const PRODUCERS: usize = 8;
    let live = Arc::default();
    let road = Road::<R>::new(capacity);
    thread::scope(|scope| {
        for index in 0..PRODUCERS {
            let (road, live) = (&road, &live);
            scope.spawn(move || {
                for number in 0..each {
                    let mut token = Token::new(index, number, live);
                    // SAFETY: each shard is one thread.
                    while let Err(back) = unsafe { road.push(producer(index), token) } {
                        token = back;
                        thread::yield_now();
                    }
                }
            });
        }
        let mut next = [0; PRODUCERS];
        let mut received = 0;
        let mut missed = 0;
        while received < PRODUCERS * each {
            if let Some(token) = road.pop() {
                assert_eq!(token.number, next[token.producer], "in the order in which they were sent");
                next[token.producer] += 1;
                received += 1;
                missed = 0;
            } else {
                missed += 1;
                assert!(missed < 100_000_000, "nothing is lost");
                thread::yield_now();
            }
        }
    });
    assert!(road.pop().is_none() && road.is_drained(), "nothing is made up");
    assert_eq!(live.load(Ordering::Relaxed), 0, "each dropped once");
}

/// Producers that give up when there is no room, and a consumer that goes away: what was sent is received, given back, or
/// dropped with the ring.
fn conserves<R: Ring<Token>>(capacity: usize, each: usize) {
    const PRODUCERS: usize = 4;
    let live = Arc::default();
    let returned = AtomicUsize::new(0);
    let mut received = 0;
    let road = Road::<R>::new(capacity);
    thread::scope(|scope| {
        for index in 0..PRODUCERS {
            let (road, live, returned) = (&road, &live, &returned);
            scope.spawn(move || {
                for number in 0..each {
                    // SAFETY: each shard is one thread.
                    if unsafe { road.push(producer(index), Token::new(index, number, live)) }.is_err() {
                        returned.fetch_add(1, Ordering::Relaxed);
                        thread::yield_now();
                    }
                }
            });
        }
        for _ in 0..each {
            received += usize::from(road.pop().is_some());
        }
    });
    let left = PRODUCERS * each - received - returned.load(Ordering::Relaxed);
    assert_eq!(live.load(Ordering::Relaxed), left, "sent = received + returned + left");
    drop(road);
    assert_eq!(live.load(Ordering::Relaxed), 0, "each that is left in a dropped ring is dropped once");
}

/// An owner that closes its mailbox gets all that was admitted before, by ring or spill, and may then free the ring.
fn close_against_push<R: Ring<Token>>(capacity: usize, each: usize) {
    const PRODUCERS: usize = 4;
    for _ in 0..8 {
        let live = Arc::default();
        let (word, spill) = (Admission::new(), Spill::new());
        let road = Road::<R>::new(capacity);
        let (accepted, is_flowing) = (AtomicUsize::new(0), AtomicBool::new(false));
        word.open(0);
        thread::scope(|scope| {
            for index in 0..PRODUCERS {
                let (road, live, word, spill, accepted, is_flowing) =
                    (&road, &live, &word, &spill, &accepted, &is_flowing);
                scope.spawn(move || {
                    for number in 0..each {
                        while match word.acquire(0, 1 << 20) {
                            Admit::Granted => false,
                            Admit::Full => true,
                            Admit::Closed => return,
                        } {
                            thread::yield_now();
                        }
                        accepted.fetch_add(1, Ordering::Relaxed);
                        let token = Token::new(index, number, live);
                        // SAFETY: each shard is one thread.
                        let mark = unsafe { spill.push(&road.ring, &road.ready, producer(index), token) };
                        road.ready.settle(mark);
                        is_flowing.store(true, Ordering::Relaxed);
                    }
                });
            }
            let mut next = [0; PRODUCERS];
            let mut receive = || {
                let mut count = 0;
                loop {
                    let token = road.pop();
                    // SAFETY: this thread is the only consumer.
                    let spilled = if token.is_none() { unsafe { spill.take(&road.ring) } } else { Default::default() };
                    if token.is_none() && spilled.is_empty() {
                        return count;
                    }
                    for token in token.into_iter().chain(spilled) {
                        assert_eq!(token.number, next[token.producer], "in order, across ring and spill");
                        next[token.producer] += 1;
                        assert!(!word.release(1), "nobody waits");
                        count += 1;
                    }
                }
            };
            while !is_flowing.load(Ordering::Relaxed) {
                thread::yield_now();
            }
            let mut received = receive();
            assert!(word.close(0));
            let mut missed = 0;
            while word.count() > 0 {
                received += receive();
                missed += 1;
                assert!(missed < 100_000_000, "nothing that was admitted is lost");
                thread::yield_now();
            }
            assert_eq!(received, accepted.load(Ordering::Relaxed), "all that was admitted arrives");
        });
        drop(road);
        assert_eq!(live.load(Ordering::Relaxed), 0, "each dropped once");
    }
}

fn suite<R: Ring<Token>>() {
    for capacity in CAPACITIES {
        full_gives_back::<R>(capacity);
        // A ring of few needs a change of threads for each value.
        let each = messages(if capacity < 64 { 2_000 } else { 20_000 });
        keeps_orders::<R>(capacity, each);
        conserves::<R>(capacity, each);
        close_against_push::<R>(capacity, each.min(20_000));
    }
}

#[test]
fn a_queue_under_a_lock_keeps_the_contract() {
    suite::<MutexRing<Token>>();
}

#[test]
fn a_vyukov_ring_keeps_the_contract() {
    suite::<VyukovRing<Token>>();
}

#[test]
fn a_ring_of_lanes_keeps_the_contract() {
    suite::<LanesRing<Token>>();
}

// === the lanes' own ===

#[test]
fn a_lane_is_made_when_a_shard_first_pushes_and_the_64th_shard_shares_one() {
    let live = Arc::default();
    let road = Road::<LanesRing<Token>>::new(8);
    for round in 0..2 {
        for port in 0..100 {
            assert_eq!(road.ring.lanes(), if round == 0 { port.min(63) } else { 63 });
            let token = Token::new(port, round, &live);
            // SAFETY: this thread is all shards. There is room for 8 in the lane that the last 37 shards share.
            let pushed = unsafe { road.push(Producer::Shard(u16::try_from(port).expect("few")), token) };
            assert_eq!(pushed.is_ok(), port < 63 + 8, "port {port}, round {round}");
        }
        let mut ports: Vec<_> = (0..63 + 8).collect();
        while let Some(token) = road.pop() {
            assert_eq!(token.number, round);
            ports.retain(|port| *port != token.producer);
        }
        assert_eq!(ports, [0; 0], "all have come");
    }
    let outside = Token::new(0, 0, &live);
    // SAFETY: any thread may.
    assert!(unsafe { road.push(Producer::Outside, outside) }.is_ok());
    assert_eq!(road.ring.lanes(), 63, "threads outside need none of their own");
}

#[test]
fn rings_of_64_shards_that_all_sent_to_all_stay_below_150_mib() {
    let ring = LanesRing::<crate::envelope::Envelope>::size(1024, 63);
    assert!(64 * ring <= 150 << 20, "{ring} bytes each");
}

#[test]
fn a_lane_that_nobody_looks_at_any_more_is_looked_at_again() {
    let live = Arc::default();
    let road = Road::<LanesRing<Token>>::new(8);
    // The consumer stops looking at a lane after some number of empty looks below a hundred; each number is tried.
    for looks in 0..100 {
        // SAFETY: this thread is the only producer.
        assert!(unsafe { road.push(Producer::Shard(3), Token::new(3, looks, &live)) }.is_ok());
        assert!(road.is_ready());
        assert_eq!(road.pop().expect("it is there").number, looks);
        for _ in 0..looks {
            assert!(road.pop().is_none());
        }
    }
}

#[test]
fn a_busy_lane_lets_the_others_have_their_turns() {
    let live = Arc::default();
    let road = Road::<LanesRing<Token>>::new(256);
    let push = |port| {
        // SAFETY: this thread is all shards.
        assert!(unsafe { road.push(Producer::Shard(port), Token::new(usize::from(port), 0, &live)) }.is_ok());
    };
    (0..100).for_each(|_| push(1));
    push(2);
    let from: Vec<_> = (0..40).map(|_| road.pop().expect("it is there").producer).collect();
    assert!(from.contains(&2), "{from:?}");
}

// === the suite's own ===

/// A ring that does something wrong, with its values and how many pushes there were.
struct Faulty<const FAULT: u8> {
    queue: Mutex<(Vec<Token>, usize)>,
    capacity: usize,
}

/// Loses the tenth value.
const LOSES: u8 = 0;
/// Gives a value before an older one.
const OVERTAKES: u8 = 1;
/// Says that it took a value that it has no room for, and throws it away.
const SWALLOWS: u8 = 2;
/// Does not drop what it holds.
const FORGETS: u8 = 3;
/// Has one place less after each lap.
const SHRINKS: u8 = 4;
/// Takes any number.
const GROWS: u8 = 5;

impl<const FAULT: u8> Ring<Token> for Faulty<FAULT> {
    fn new(capacity: usize) -> Self {
        Self { queue: Mutex::default(), capacity }
    }

    unsafe fn push(&self, _: &Ready, _: Producer, value: Token) -> Result<Mark, Token> {
        let mut queue = self.queue.lock().expect("not poisoned");
        queue.1 += 1;
        let lost = FAULT == SHRINKS && queue.1 > 3 * self.capacity;
        if queue.0.len() + usize::from(lost) >= self.capacity && FAULT != GROWS {
            return if FAULT == SWALLOWS { Ok(Mark::NONE) } else { Err(value) };
        }
        if !(FAULT == LOSES && queue.1 == 10) {
            queue.0.push(value);
        }
        Ok(Mark::NONE)
    }

    unsafe fn pop(&self, _: &Ready) -> Option<Token> {
        let mut queue = self.queue.lock().expect("not poisoned");
        let overtakes = FAULT == OVERTAKES && queue.0.len() > 8;
        (!queue.0.is_empty()).then(|| queue.0.remove(usize::from(overtakes)))
    }

    unsafe fn is_ready(&self, _: &Ready) -> bool {
        !self.queue.lock().expect("not poisoned").0.is_empty()
    }

    unsafe fn is_drained(&self) -> bool {
        self.queue.lock().expect("not poisoned").0.is_empty()
    }
}

impl<const FAULT: u8> Drop for Faulty<FAULT> {
    fn drop(&mut self) {
        if FAULT == FORGETS {
            // Within reach for ever, since a leak is LeakSanitizer's business.
            static FORGOTTEN: Mutex<Vec<Token>> = Mutex::new(Vec::new());
            FORGOTTEN.lock().expect("not poisoned").append(&mut self.queue.get_mut().expect("not poisoned").0);
        }
    }
}

#[test]
#[should_panic = "sent = received + returned + left"]
fn a_ring_that_loses_is_reported() {
    conserves::<Faulty<LOSES>>(64, 20_000);
}

#[test]
#[should_panic = "in order"]
fn a_ring_that_lets_overtake_is_reported() {
    full_gives_back::<Faulty<OVERTAKES>>(64);
}

#[test]
#[should_panic = "bounded"]
fn a_ring_that_takes_what_it_has_no_room_for_is_reported() {
    full_gives_back::<Faulty<SWALLOWS>>(64);
}

#[test]
#[should_panic = "dropped once"]
fn a_ring_that_forgets_is_reported() {
    conserves::<Faulty<FORGETS>>(1024, 2_000);
}

#[test]
#[should_panic = "all the room of the first lap"]
fn a_ring_that_shrinks_is_reported() {
    full_gives_back::<Faulty<SHRINKS>>(64);
}

#[test]
#[should_panic = "bounded"]
fn a_ring_that_grows_is_reported() {
    full_gives_back::<Faulty<GROWS>>(64);
}
