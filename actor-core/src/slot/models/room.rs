//! The queue for room beside the admission word, in every execution of a few small programs.

use std::{
    sync::Arc as StdArc,
    task::{Wake, Waker},
};

use loom::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use super::Shared;
use crate::{
    slot::{Admission, Admit, Head, Hold, Place, Room, Served},
    sync::{Fault, model, model_with},
};

/// A sender's sleep: loom finds a wait that nobody ends.
struct Sleep(loom::sync::Notify);

impl Wake for Sleep {
    fn wake(self: StdArc<Self>) {
        self.0.notify();
    }
}

/// What of a slot has to do with room. There is room for one message.
struct Mailbox {
    head: Head,
    word: Admission,
    room: Room,
}

const CAPACITY: u32 = 1;

impl Mailbox {
    /// With the first actor, and one message in it.
    fn full() -> Shared<Self> {
        let mailbox = Self { head: Head::new(), word: Admission::new(), room: Room::default() };
        mailbox.word.open(0);
        assert_eq!(mailbox.word.acquire(0, CAPACITY), Admit::Granted);
        Shared::new(mailbox)
    }

    /// As `Slot::release_permit` does it.
    fn release(&self) {
        if self.word.release(1) {
            self.room.serve(&self.word, self.head.generation(), CAPACITY).wake();
        }
    }

    /// As `Slot::close` does it.
    fn close(&self, generation: u32) {
        if self.word.close(generation) {
            self.room.turn_away(&self.word).wake();
        }
    }

    fn wait(&self, generation: u32, waker: &Waker) -> Served {
        self.room.wait(&self.word, generation, CAPACITY, &mut waker.clone())
    }

    fn poll(&self, place: Place, generation: u32, waker: &Waker) -> Served {
        self.room.poll(place, &mut waker.clone(), || self.head.generation() == generation)
    }

    fn leave(&self, place: Place, generation: u32) {
        let is_same = || self.head.generation() == generation;
        self.room.leave(place, &self.word, generation, CAPACITY, is_same).wake();
    }

    /// A sender that has been told `Full`: waits until it has a permit, or the actor is gone. Returns which.
    fn wait_until_served(&self, generation: u32) -> bool {
        let sleep = StdArc::new(Sleep(loom::sync::Notify::new()));
        let waker = Waker::from(sleep.clone());
        let mut served = self.wait(generation, &waker);
        loop {
            match served {
                Served::Granted => return true,
                Served::Closed => return false,
                Served::Waiting(place) => {
                    sleep.0.wait();
                    served = self.poll(place, generation, &waker);
                }
            }
        }
    }

    fn try_reserve(&self, generation: u32) -> Result<Place, Admit> {
        self.room.try_reserve(&self.word, generation, CAPACITY)
    }

    /// One that reserves: waits until it holds a place, or the actor is gone.
    fn wait_until_held(&self, generation: u32) -> Option<Place> {
        let sleep = StdArc::new(Sleep(loom::sync::Notify::new()));
        let waker = Waker::from(sleep.clone());
        let mut hold = self.room.reserve(&self.word, generation, CAPACITY, &mut waker.clone());
        loop {
            match hold {
                Hold::Held(place) => return Some(place),
                Hold::Closed => return None,
                Hold::Waiting(place) => {
                    sleep.0.wait();
                    let is_same = || self.head.generation() == generation;
                    hold = self.room.poll_reserved(place, &mut waker.clone(), is_same);
                }
            }
        }
    }

    fn place(&self, generation: u32) -> Place {
        match self.wait(generation, Waker::noop()) {
            Served::Waiting(place) => place,
            served => panic!("{served:?} of a full mailbox"),
        }
    }
}

fn release_against_registration() {
    let mailbox = Mailbox::full();
    let sender = {
        let mailbox = mailbox.clone();
        thread::spawn(move || assert!(mailbox.wait_until_served(0)))
    };
    mailbox.release();
    sender.join().unwrap();
    assert_eq!(mailbox.word.count(), 1);
    mailbox.release();
    assert_eq!(mailbox.word.acquire(0, CAPACITY), Admit::Granted, "nobody waits any more");
}

#[test]
fn a_permit_that_comes_free_finds_who_is_just_coming_for_it() {
    model(release_against_registration);
}

#[test]
#[should_panic = "deadlock"]
fn a_sender_that_asks_before_it_sets_the_bit_is_seen() {
    model_with(Fault::RoomBit, release_against_registration);
}

#[test]
fn a_permit_has_one_owner_at_a_time() {
    model(|| {
        let (mailbox, inside) = (Mailbox::full(), Arc::new(AtomicUsize::new(0)));
        let senders = [(); 2].map(|()| {
            let (mailbox, inside) = (mailbox.clone(), inside.clone());
            thread::spawn(move || {
                let granted = match mailbox.word.acquire(0, CAPACITY) {
                    Admit::Granted => true,
                    Admit::Full => mailbox.wait_until_served(0),
                    Admit::Closed => false,
                };
                assert!(granted);
                assert_eq!(inside.fetch_add(1, Ordering::Relaxed), 0, "two in a room for one");
                inside.fetch_sub(1, Ordering::Relaxed);
                mailbox.release();
            })
        });
        mailbox.release();
        for sender in senders {
            sender.join().unwrap();
        }
        assert_eq!(mailbox.word.count(), 0);
    });
}

#[test]
fn a_permit_that_is_not_picked_up_goes_to_the_next() {
    model(|| {
        let mailbox = Mailbox::full();
        let (first, second) = (mailbox.place(0), mailbox.place(0));
        let leaver = {
            let mailbox = mailbox.clone();
            thread::spawn(move || mailbox.leave(first, 0))
        };
        mailbox.release();
        leaver.join().unwrap();
        assert_eq!(mailbox.poll(second, 0, Waker::noop()), Served::Granted);
        assert_eq!(mailbox.word.count(), 1);
    });
}

#[test]
fn a_close_sends_away_who_waits_and_who_is_just_coming() {
    model(|| {
        let mailbox = Mailbox::full();
        let first = mailbox.place(0);
        let late = {
            let mailbox = mailbox.clone();
            thread::spawn(move || mailbox.wait_until_served(0))
        };
        mailbox.close(0);
        mailbox.release();
        assert_eq!(mailbox.poll(first, 0, Waker::noop()), Served::Closed);
        assert!(!late.join().unwrap());
        assert_eq!(mailbox.word.count(), 0);
    });
}

#[test]
fn a_permit_that_is_given_up_while_the_actor_closes_is_counted_once() {
    model(|| {
        let mailbox = Mailbox::full();
        let place = mailbox.place(0);
        let leaver = {
            let mailbox = mailbox.clone();
            thread::spawn(move || mailbox.leave(place, 0))
        };
        mailbox.release();
        mailbox.close(0);
        // What a draining actor waits for, without anybody who would wake it: the close has taken the permit back, or
        // the leaver had given it up before.
        assert_eq!(mailbox.word.count(), 0);
        leaver.join().unwrap();
        assert_eq!(mailbox.word.count(), 0);
    });
}

/// A sender was told `Full` by an actor, and comes for a place when the slot has its next one, which is full as well.
fn late_for_the_actor_before() {
    let mailbox = Mailbox::full();
    let late = {
        let mailbox = mailbox.clone();
        thread::spawn(move || mailbox.wait_until_served(0))
    };
    mailbox.close(0);
    mailbox.release();
    mailbox.room.reset(|| mailbox.head.advance());
    mailbox.word.open(1);
    assert_eq!(mailbox.word.acquire(1, CAPACITY), Admit::Granted);
    let place = mailbox.place(1);
    mailbox.release();
    assert_eq!(mailbox.poll(place, 1, Waker::noop()), Served::Granted);
    mailbox.release();
    assert!(!late.join().unwrap(), "a permit of another actor");
    assert_eq!(mailbox.word.count(), 0, "a permit was lost");
    assert_eq!(mailbox.word.acquire(1, CAPACITY), Admit::Granted);
}

#[test]
fn a_place_is_never_taken_with_a_later_actor() {
    model(late_for_the_actor_before);
}

#[test]
#[should_panic = "a permit was lost"]
fn a_place_with_a_later_actor_is_seen() {
    model_with(Fault::RoomGeneration, late_for_the_actor_before);
}

/// One reserves a place and forgets it, while the actor closes: who drains must not wait for it.
fn reservation_against_the_close() {
    let mailbox = Mailbox::full();
    mailbox.release();
    let holder = {
        let mailbox = mailbox.clone();
        thread::spawn(move || mailbox.try_reserve(0))
    };
    mailbox.close(0);
    let place = holder.join().unwrap();
    assert_eq!(mailbox.word.count(), 0, "a place is held in a mailbox that has closed");
    if let Ok(place) = place {
        assert_eq!(mailbox.poll(place, 0, Waker::noop()), Served::Closed);
    }
}

#[test]
fn a_place_that_is_held_does_not_outlive_the_close() {
    model(reservation_against_the_close);
}

#[test]
#[should_panic = "a place is held in a mailbox that has closed"]
fn a_permit_that_is_taken_before_the_lock_is_seen() {
    model_with(Fault::RoomReserve, reservation_against_the_close);
}

#[test]
fn a_place_is_used_or_taken_back_and_never_both() {
    model(|| {
        let mailbox = Mailbox::full();
        mailbox.release();
        let place = mailbox.try_reserve(0).expect("room");
        let sender = {
            let mailbox = mailbox.clone();
            thread::spawn(move || match mailbox.poll(place, 0, Waker::noop()) {
                // The message is sent and handled.
                Served::Granted => mailbox.release(),
                Served::Closed => {}
                Served::Waiting(_) => panic!("a granted place waits"),
            })
        };
        mailbox.close(0);
        sender.join().unwrap();
        assert_eq!(mailbox.word.count(), 0);
    });
}

#[test]
fn a_reservation_that_waits_is_served_or_sent_away() {
    model(|| {
        let mailbox = Mailbox::full();
        let waiter = {
            let mailbox = mailbox.clone();
            thread::spawn(move || mailbox.wait_until_held(0))
        };
        mailbox.release();
        mailbox.close(0);
        // Held or sent away: the close takes it back, also from one that has seen its permit.
        let held = waiter.join().unwrap();
        assert_eq!(mailbox.word.count(), 0);
        if let Some(place) = held {
            mailbox.leave(place, 0);
            assert_eq!(mailbox.word.count(), 0);
        }
    });
}

/// One gives a place back that it has held while another comes to wait for one.
fn a_place_given_back() {
    let mailbox = Mailbox::full();
    mailbox.release();
    let place = mailbox.try_reserve(0).expect("room");
    let waiter = {
        let mailbox = mailbox.clone();
        thread::spawn(move || mailbox.wait_until_held(0))
    };
    mailbox.leave(place, 0);
    let held = waiter.join().unwrap().expect("a place");
    assert_eq!(mailbox.word.count(), 1);
    mailbox.leave(held, 0);
    assert_eq!(mailbox.word.acquire(0, CAPACITY), Admit::Granted, "nobody waits any more");
}

#[test]
fn a_place_that_is_given_back_finds_who_is_just_coming_for_it() {
    model(a_place_given_back);
}

#[test]
#[should_panic = "deadlock"]
fn a_place_that_is_given_back_to_nobody_is_seen() {
    model_with(Fault::RoomLeave, a_place_given_back);
}
