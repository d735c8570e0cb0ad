//! The rings, in every execution of a few small programs. The word of marks with a consumer that sleeps, and the spill:
//! `slot/models/port.rs`.

use loom::{sync::Arc, thread};

use super::{LanesRing, MutexRing, Producer, Ready, Ring, VyukovRing, lanes::OWN_LANES};
use crate::sync::{Fault, model, model_with};

/// A ring with its word.
struct Road<R> {
    ring: R,
    ready: Ready,
}

impl<R: Ring<Box<u32>>> Road<R> {
    fn new(capacity: usize) -> Arc<Self> {
        Arc::new(Self { ring: R::new(capacity), ready: Ready::new() })
    }

    /// Pushes as one of the model's shards, or from outside; each on one thread.
    fn push(&self, from: Producer, value: u32) -> Result<(), u32> {
        // SAFETY: each model pushes as one shard on one thread, or hands on by spawning and joining.
        let mark = unsafe { self.ring.push(&self.ready, from, Box::new(value)) }.map_err(|back| *back)?;
        self.ready.settle(mark);
        Ok(())
    }

    fn pop(&self) -> Option<u32> {
        // SAFETY: each model pops on one thread.
        unsafe { self.ring.pop(&self.ready) }.map(|value| *value)
    }

    /// Pops until there is something.
    fn wait(&self) -> u32 {
        loop {
            if let Some(value) = self.pop() {
                return value;
            }
            thread::yield_now();
        }
    }

    fn is_drained(&self) -> bool {
        // SAFETY: on the thread that pops.
        unsafe { self.ring.is_drained() }
    }
}

/// A shard with a lane of its own, the shard that is the first without, and a thread outside.
const OWN: Producer = Producer::Shard(0);
const LATE: Producer = Producer::Shard(OWN_LANES as u16);

/// Two producers, one consumer.
fn two_producers<R: Ring<Box<u32>> + 'static>(first: Producer, second: Producer) {
    let road = Road::<R>::new(2);
    let producers = [(first, 1), (second, 2)].map(|(from, value)| {
        let road = road.clone();
        thread::spawn(move || assert_eq!(road.push(from, value), Ok(()), "there is room for both"))
    });
    assert_eq!(road.wait() + road.wait(), 3);
    assert!(road.is_drained());
    for producer in producers {
        producer.join().unwrap();
    }
}

/// Three values through two cells at the most: cells are used again.
fn around<R: Ring<Box<u32>> + 'static>(from: Producer) {
    let road = Road::<R>::new(2);
    let producer = {
        let road = road.clone();
        thread::spawn(move || {
            for value in 0..3 {
                while road.push(from, value).is_err() {
                    thread::yield_now();
                }
            }
        })
    };
    for expected in 0..3 {
        assert_eq!(road.wait(), expected);
    }
    producer.join().unwrap();
}

/// A producer that finds a ring full, or just not any more.
fn full<R: Ring<Box<u32>> + 'static>(from: Producer) {
    let road = Road::<R>::new(2);
    let room = (0..2).filter(|value| road.push(from, *value).is_ok()).count() as u32;
    let late = {
        let road = road.clone();
        thread::spawn(move || road.push(from, room).is_ok())
    };
    assert_eq!(road.pop(), Some(0));
    let accepted = late.join().unwrap();
    let rest: Vec<_> = std::iter::from_fn(|| road.pop()).collect();
    assert_eq!(rest, (1..room + u32::from(accepted)).collect::<Vec<_>>());
}

/// A consumer that finds nothing, again and again, while a producer pushes twice.
fn on_and_off<R: Ring<Box<u32>> + 'static>(from: Producer) {
    let road = Road::<R>::new(4);
    let producer = {
        let road = road.clone();
        thread::spawn(move || {
            assert_eq!((road.push(from, 0), road.push(from, 1)), (Ok(()), Ok(())));
        })
    };
    let mut received = road.pop().into_iter().collect::<Vec<_>>();
    received.extend(road.pop());
    producer.join().unwrap();
    // What the producer has settled is found at the first look.
    received.extend(std::iter::from_fn(|| road.pop()));
    assert_eq!(received, [0, 1], "what is settled is found");
}

#[test]
fn what_two_threads_push_into_a_queue_under_a_lock_is_popped_whole() {
    model(|| two_producers::<MutexRing<_>>(Producer::Outside, Producer::Outside));
}

#[test]
fn what_two_threads_push_into_a_vyukov_ring_is_popped_whole() {
    model(|| two_producers::<VyukovRing<_>>(Producer::Outside, Producer::Outside));
}

#[test]
fn what_a_shard_and_a_thread_push_into_lanes_is_popped_whole() {
    model(|| two_producers::<LanesRing<_>>(OWN, Producer::Outside));
}

#[test]
fn what_a_shard_without_a_lane_of_its_own_pushes_is_popped_whole() {
    model(|| {
        let road = Road::<LanesRing<_>>::new(2);
        assert_eq!(road.push(OWN, 0), Ok(()));
        assert_eq!(road.pop(), Some(0));
        let late = {
            let road = road.clone();
            thread::spawn(move || assert_eq!(road.push(LATE, 2), Ok(())))
        };
        assert_eq!(road.wait(), 2);
        late.join().unwrap();
    });
}

#[test]
#[should_panic = "Causality violation"]
fn a_publication_in_a_vyukov_ring_without_release_is_seen() {
    model_with(Fault::RingPublish, || two_producers::<VyukovRing<_>>(Producer::Outside, Producer::Outside));
}

#[test]
#[should_panic = "Causality violation"]
fn a_publication_in_a_lane_without_release_is_seen() {
    model_with(Fault::LanePublish, || two_producers::<LanesRing<_>>(OWN, Producer::Outside));
}

#[test]
fn a_cell_of_a_vyukov_ring_is_used_again_only_when_it_has_been_read() {
    model(|| around::<VyukovRing<_>>(Producer::Outside));
}

#[test]
fn a_cell_of_a_lane_is_used_again_only_when_it_has_been_read() {
    model(|| around::<LanesRing<_>>(OWN));
}

#[test]
#[should_panic = "Causality violation"]
fn a_cell_of_a_vyukov_ring_freed_without_release_is_seen() {
    model_with(Fault::RingFree, || around::<VyukovRing<_>>(Producer::Outside));
}

#[test]
#[should_panic = "Causality violation"]
fn a_cell_of_a_lane_freed_without_release_is_seen() {
    model_with(Fault::LaneFree, || around::<LanesRing<_>>(OWN));
}

#[test]
fn a_full_queue_under_a_lock_gives_the_value_back_and_loses_none() {
    model(|| full::<MutexRing<_>>(Producer::Outside));
}

#[test]
fn a_full_vyukov_ring_gives_the_value_back_and_loses_none() {
    model(|| full::<VyukovRing<_>>(Producer::Outside));
}

#[test]
fn a_full_lane_gives_the_value_back_and_loses_none() {
    model(|| full::<LanesRing<_>>(OWN));
}

#[test]
fn a_lane_that_is_found_empty_is_looked_at_again() {
    model(|| on_and_off::<LanesRing<_>>(OWN));
}

#[test]
fn the_shared_lane_that_is_found_empty_is_looked_at_again() {
    model(|| on_and_off::<LanesRing<_>>(Producer::Outside));
}
