//! Two actors of two shards that begin to wait for each other at the same time.

use loom::{sync::Arc, thread};

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
