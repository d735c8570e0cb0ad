//! Two actors of two shards that begin to wait for each other at the same time; and one that answers between two waits for
//! the same actor.

use loom::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use crate::{
    id::SlotKey,
    slot::WaitsFor,
    sync::{Fault, model, model_with},
    wake::publish_fence,
};

/// Each begins to wait, and then looks for the other's wait, as `Core::check_waits` does.
fn both_park() {
    let keys = [SlotKey::new(0, 1, 1), SlotKey::new(1, 1, 1)];
    let waits = Arc::new([WaitsFor::new(), WaitsFor::new()]);
    let park = move |waits: &[WaitsFor; 2], me: usize| {
        waits[me].set(keys[1 - me]);
        publish_fence();
        waits[1 - me].read().is_some_and(|wait| wait.target == keys[me])
    };
    let other = {
        let waits = waits.clone();
        thread::spawn(move || park(&waits, 1))
    };
    let seen = park(&waits, 0);
    assert!(seen | other.join().unwrap(), "neither has seen the circle");
}

#[test]
fn one_of_two_that_park_sees_the_circle() {
    model(both_park);
}

#[test]
#[should_panic = "neither has seen the circle"]
fn without_the_fence_neither_may_see_it() {
    model_with(Fault::BellRingFence, both_park);
}

/// An actor waits, goes on, answers, and waits for the same actor again. Who sees the later wait must come after the answer:
/// the proof of a deadlock rests on it.
fn an_answer_between_two_waits() {
    let key = SlotKey::new(0, 1, 1);
    let shared = Arc::new((WaitsFor::new(), AtomicBool::new(false)));
    let walker = {
        let shared = shared.clone();
        thread::spawn(move || {
            let (waits, answered) = &*shared;
            (waits.read(), answered.load(Ordering::Relaxed))
        })
    };
    let (waits, answered) = &*shared;
    waits.set(key);
    waits.clear();
    // The stack of answers has an ordering of its own; here the wait's is to do alone.
    answered.store(true, Ordering::Relaxed);
    waits.set(key);
    let (seen, was_answered) = walker.join().unwrap();
    if seen == waits.read() {
        assert!(was_answered, "the later wait was seen without the answer before it");
    }
}

#[test]
fn who_sees_a_wait_comes_after_what_was_done_before_it() {
    model(an_answer_between_two_waits);
}

#[test]
#[should_panic = "without the answer before it"]
fn a_wait_without_release_is_seen() {
    model_with(Fault::WaitsSerial, an_answer_between_two_waits);
}
