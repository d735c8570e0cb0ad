//! The road into a shard as a whole: permit, ring, spill, doorbell, and its end.
//!
//! `port.rs` itself is not built for a model: its table is process-wide. [`Road`] puts its parts together as the port, the
//! router and a turn do.

use std::sync::Arc as StdArc;

use loom::{cell::UnsafeCell, thread};

use super::Shared;
use crate::{
    mailbox::{LanesRing, Mark, Producer, Ready, Ring, Spill, VyukovRing},
    port::Notify,
    slot::{Admission, Admit},
    sync::{Fault, model, model_with},
    wake::Doorbell,
};

/// Left out of a road, to show that its model would notice.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Missing {
    Nothing,
    /// A sender rings only if it finds nothing before its own message.
    OwnRing,
    /// A sender does not ring for a message that is spilled.
    SpillRing,
    /// The owner does not wait until no permit is out.
    Permits,
}

struct Road<R: Ring<u32>> {
    missing: Missing,
    word: Admission,
    ring: UnsafeCell<R>,
    ready: Ready,
    spill: Spill<u32>,
    bell: Doorbell,
    driver: StdArc<Driver>,
}

/// The owner's sleep: loom finds a wait that nobody ends, and a use of it after the doorbell was closed.
struct Driver {
    sleep: loom::sync::Notify,
    used: UnsafeCell<()>,
}

impl Notify for Driver {
    fn notify(&self) {
        self.used.with(|_| self.sleep.notify());
    }
}

// SAFETY: that the cell is not used from two threads at a time is what the models check.
unsafe impl Sync for Driver {}
// SAFETY: likewise for the ring in its cell, of which `&mut` is made in `end` alone.
unsafe impl<R: Ring<u32>> Sync for Road<R> {}

impl<R: Ring<u32>> Road<R> {
    /// A road with a ring of two, whose owner is awake.
    fn new(missing: Missing) -> Shared<Self> {
        let driver = StdArc::new(Driver { sleep: loom::sync::Notify::new(), used: UnsafeCell::new(()) });
        let (word, bell) = (Admission::new(), Doorbell::new());
        word.open(0);
        // SAFETY: just made, so closed.
        unsafe { bell.open(driver.clone()) };
        let ring = UnsafeCell::new(R::new(2));
        Shared::new(Self { missing, word, ring, ready: Ready::new(), spill: Spill::new(), bell, driver })
    }

    fn ring(&self) -> &R {
        // SAFETY: the ring lives as long as the road; `assert_unshared` finds a use that comes too late.
        self.ring.with(|ring| unsafe { &*ring })
    }

    /// Pushes as a shard, which each model does on one thread, or from outside.
    fn push(&self, from: Producer, value: u32) -> Mark {
        // SAFETY: see above.
        unsafe { self.spill.push(self.ring(), &self.ready, from, value) }
    }

    fn push_and_ring(&self, from: Producer, value: u32) {
        // SAFETY: it reads only what all threads may, in a Vyukov ring.
        let finds_others = self.missing == Missing::OwnRing && unsafe { !self.ring().is_drained() };
        let mark = self.push(from, value);
        self.ready.settle(mark);
        if !(finds_others || self.missing == Missing::SpillRing && self.spill.is_used()) {
            self.bell.ring_after_fence();
        }
    }

    fn has_work(&self) -> bool {
        // SAFETY: a model receives on one thread.
        unsafe { self.ring().is_ready(&self.ready) || self.spill.is_ready(self.ring()) }
    }

    /// The owner: all that has arrived. What was taken beside the ring comes before what the ring holds since.
    fn take_arrived(&self, received: &mut Vec<u32>) {
        loop {
            // SAFETY: a model receives on one thread.
            if let Some(value) = unsafe { self.ring().pop(&self.ready) } {
                received.push(value);
                continue;
            }
            // SAFETY: as above.
            let spill = unsafe { self.spill.take(self.ring()) };
            if spill.is_empty() {
                return;
            }
            received.extend(spill);
        }
    }

    /// The owner: waits awake for `count` messages.
    fn receive(&self, count: usize) -> Vec<u32> {
        let mut received = Vec::new();
        loop {
            self.take_arrived(&mut received);
            if received.len() >= count {
                return received;
            }
            thread::yield_now();
        }
    }

    /// The owner: sleeps whenever there is nothing, until it has `count` messages.
    fn receive_sleeping(&self, count: usize) -> Vec<u32> {
        let mut received = Vec::new();
        loop {
            self.take_arrived(&mut received);
            if received.len() >= count {
                return received;
            }
            self.bell.announce_sleep();
            if !self.has_work() {
                self.driver.sleep.wait();
            }
            self.bell.wake();
        }
    }

    /// The owner: ends the road as a shard's drop does. Returns how many messages were still on their way.
    fn end(&self) -> usize {
        let mut received = Vec::new();
        let mut released = 0;
        assert!(self.word.close(0));
        while {
            self.take_arrived(&mut received);
            for _ in released..received.len() {
                assert!(!self.word.release(1), "nobody waits");
            }
            released = received.len();
            self.word.count() > 0 && self.missing != Missing::Permits
        } {
            thread::yield_now();
        }
        self.bell.close();
        // What would be freed now: the notifier, the ring.
        self.driver.used.with_mut(|_| ());
        // SAFETY: nobody else uses the ring any more, which is what this checks.
        self.ring.with_mut(|ring| unsafe { (*ring).assert_unshared() });
        received.len()
    }
}

type Vyukov = VyukovRing<u32>;
type Lanes = LanesRing<u32>;

const SHARD: Producer = Producer::Shard(0);

/// One sender that sends several messages in one poll: each goes by the ring, or beside it when that is full.
fn one_sender_around_a_full_ring<R: Ring<u32> + 'static>(from: Producer, messages: u32) {
    let road = Road::<R>::new(Missing::Nothing);
    let sender = {
        let road = road.clone();
        thread::spawn(move || {
            let mark = (0..messages).fold(Mark::NONE, |mark, value| mark.and(road.push(from, value)));
            road.ready.settle(mark);
        })
    };
    let sent: Vec<_> = (0..messages).collect();
    assert_eq!(road.receive(sent.len()), sent, "in the order in which they were sent");
    sender.join().unwrap();
}

#[test]
fn one_sender_s_messages_keep_their_order_across_vyukov_ring_and_spill() {
    model(|| one_sender_around_a_full_ring::<Vyukov>(SHARD, 4));
}

#[test]
fn one_sender_s_messages_keep_their_order_across_lane_and_spill() {
    model(|| one_sender_around_a_full_ring::<Lanes>(SHARD, 3));
}

#[test]
#[should_panic = "in the order in which they were sent"]
fn a_sender_that_ignores_the_flag_overtakes_itself() {
    model_with(Fault::SpillFlag, || one_sender_around_a_full_ring::<Vyukov>(SHARD, 4));
}

#[test]
#[should_panic = "in the order in which they were sent"]
fn a_spill_that_is_taken_before_the_ring_is_drained_is_seen() {
    model_with(Fault::SpillDrained, || one_sender_around_a_full_ring::<Vyukov>(SHARD, 4));
}

#[test]
#[should_panic = "in the order in which they were sent"]
fn a_spill_that_is_taken_before_the_lanes_are_drained_is_seen() {
    model_with(Fault::SpillDrained, || one_sender_around_a_full_ring::<Lanes>(SHARD, 3));
}

/// The ring is full from the start, so each of two senders goes by the spill or by the room that the owner makes.
#[test]
fn two_senders_keep_their_orders_around_a_full_ring() {
    model(|| {
        let road = Road::<Vyukov>::new(Missing::Nothing);
        road.push_and_ring(SHARD, 0);
        road.push_and_ring(SHARD, 10);
        let senders = [vec![1, 2], vec![11]].map(|values| {
            let road = road.clone();
            thread::spawn(move || {
                for value in values {
                    road.push_and_ring(Producer::Outside, value);
                }
            })
        });
        let received = road.receive(5);
        for sender in senders {
            sender.join().unwrap();
        }
        let of = |tens: u32| received.iter().copied().filter(|value| value / 10 == tens).collect::<Vec<_>>();
        assert_eq!((of(0), of(1)), (vec![0, 1, 2], vec![10, 11]), "in the order in which they were sent");
    });
}

/// A cell that is claimed and not published hides a younger one that is: whose sender must not rely on the elder's.
fn two_senders_and_a_sleeper<R: Ring<u32> + 'static>(missing: Missing, senders: [Producer; 2]) {
    let road = Road::<R>::new(missing);
    let senders = senders.map(|from| {
        let road = road.clone();
        thread::spawn(move || road.push_and_ring(from, 1))
    });
    assert_eq!(road.receive_sleeping(2).len(), 2);
    for sender in senders {
        sender.join().unwrap();
    }
}

#[test]
fn every_message_in_a_vyukov_ring_ends_the_sleep() {
    model(|| two_senders_and_a_sleeper::<Vyukov>(Missing::Nothing, [Producer::Outside; 2]));
}

#[test]
fn every_message_in_a_lane_ends_the_sleep() {
    model(|| two_senders_and_a_sleeper::<Lanes>(Missing::Nothing, [SHARD, Producer::Outside]));
}

#[test]
#[should_panic = "deadlock"]
fn a_sender_that_leaves_the_ringing_to_another_is_seen() {
    model(|| two_senders_and_a_sleeper::<Vyukov>(Missing::OwnRing, [Producer::Outside; 2]));
}

/// One sender, two messages, and an owner that sleeps, and stops looking at the lane, whenever there is nothing.
fn a_lane_and_a_sleeper(from: Producer) {
    let road = Road::<Lanes>::new(Missing::Nothing);
    let sender = {
        let road = road.clone();
        thread::spawn(move || {
            road.push_and_ring(from, 0);
            road.push_and_ring(from, 1);
        })
    };
    assert_eq!(road.receive_sleeping(2), [0, 1]);
    sender.join().unwrap();
}

#[test]
fn a_lane_that_is_not_looked_at_any_more_ends_the_sleep() {
    model(|| a_lane_and_a_sleeper(SHARD));
}

#[test]
fn a_shared_lane_that_is_not_looked_at_any_more_ends_the_sleep() {
    model(|| a_lane_and_a_sleeper(Producer::Outside));
}

#[test]
#[should_panic = "deadlock"]
fn a_sender_that_does_not_settle_is_seen() {
    model_with(Fault::ReadyConfirm, || a_lane_and_a_sleeper(SHARD));
}

#[test]
#[should_panic = "deadlock"]
fn an_owner_that_stops_looking_without_a_last_look_is_seen() {
    model_with(Fault::ReadyClear, || a_lane_and_a_sleeper(SHARD));
}

/// The ring is full, so the message that is sent is spilled, or just not.
fn a_spill_and_a_sleeper<R: Ring<u32> + 'static>(missing: Missing, room: u32) {
    let road = Road::<R>::new(missing);
    for value in 0..room {
        road.ready.settle(road.push(SHARD, value));
    }
    let sender = {
        let road = road.clone();
        thread::spawn(move || road.push_and_ring(SHARD, room))
    };
    assert_eq!(road.receive_sleeping(room as usize + 1), (0..=room).collect::<Vec<_>>());
    sender.join().unwrap();
}

#[test]
fn a_message_beside_a_vyukov_ring_ends_the_sleep() {
    model(|| a_spill_and_a_sleeper::<Vyukov>(Missing::Nothing, 2));
}

#[test]
fn a_message_beside_a_lane_ends_the_sleep() {
    model(|| a_spill_and_a_sleeper::<Lanes>(Missing::Nothing, 1));
}

#[test]
#[should_panic = "deadlock"]
fn a_spill_without_a_ring_is_seen() {
    model(|| a_spill_and_a_sleeper::<Vyukov>(Missing::SpillRing, 2));
}

/// The owner sleeps, is perhaps rung, and ends while a message is on its way. Returns how many messages were accepted,
/// and how many received.
fn end_against_a_sender<R: Ring<u32> + 'static>(missing: Missing) -> (usize, usize) {
    let road = Road::<R>::new(missing);
    let sender = {
        let road = road.clone();
        thread::spawn(move || {
            let granted = road.word.acquire(0, 1) == Admit::Granted;
            if granted {
                road.push_and_ring(SHARD, 1);
            }
            usize::from(granted)
        })
    };
    road.bell.announce_sleep();
    let received = road.end();
    (sender.join().unwrap(), received)
}

#[test]
fn a_vyukov_ring_is_freed_when_nobody_is_about_to_push() {
    model(|| {
        let (accepted, received) = end_against_a_sender::<Vyukov>(Missing::Nothing);
        assert_eq!(accepted, received);
    });
}

/// The sender looks at the word of marks after its message is gone, and perhaps the lanes.
#[test]
fn lanes_are_freed_when_nobody_is_about_to_push() {
    model(|| {
        let (accepted, received) = end_against_a_sender::<Lanes>(Missing::Nothing);
        assert_eq!(accepted, received);
    });
}

#[test]
#[should_panic = "Causality violation"]
fn a_ring_that_is_freed_too_early_is_seen() {
    model(|| _ = end_against_a_sender::<Vyukov>(Missing::Permits));
}
