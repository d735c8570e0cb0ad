//! The ring, in every execution of a few small programs.

use loom::{sync::Arc, thread};

use super::Ring;
use crate::sync::{Fault, model, model_with};

/// Pops until there is something.
fn wait_for<T>(ring: &Ring<T>) -> T {
    loop {
        // SAFETY: each model pops on one thread.
        if let Some(value) = unsafe { ring.pop() } {
            return value;
        }
        thread::yield_now();
    }
}

fn two_producers_one_consumer() {
    let ring = Arc::new(Ring::new(2));
    let producers = [1, 2].map(|value| {
        let ring = ring.clone();
        thread::spawn(move || assert!(ring.push(Box::new(value)).is_ok(), "there is room for both"))
    });
    assert_eq!(*wait_for(&ring) + *wait_for(&ring), 3);
    assert!(ring.is_drained());
    for producer in producers {
        producer.join().unwrap();
    }
}

#[test]
fn what_two_threads_push_is_popped_whole() {
    model(two_producers_one_consumer);
}

#[test]
#[should_panic = "Causality violation"]
fn a_publication_without_release_is_seen() {
    model_with(Fault::RingPublish, two_producers_one_consumer);
}

/// Three values through two cells: the third claims the first's.
fn around() {
    let ring = Arc::new(Ring::new(2));
    let producer = {
        let ring = ring.clone();
        thread::spawn(move || {
            for value in 0..3 {
                let mut value = Box::new(value);
                while let Err(back) = ring.push(value) {
                    value = back;
                    thread::yield_now();
                }
            }
        })
    };
    for expected in 0..3 {
        assert_eq!(*wait_for(&ring), expected);
    }
    producer.join().unwrap();
}

#[test]
fn a_cell_is_used_again_only_when_it_has_been_read() {
    model(around);
}

#[test]
#[should_panic = "Causality violation"]
fn a_cell_freed_without_release_is_seen() {
    model_with(Fault::RingFree, around);
}

#[test]
fn a_full_ring_gives_the_value_back_and_loses_none() {
    model(|| {
        let ring = Arc::new(Ring::new(2));
        for value in 0..2 {
            assert!(ring.push(value).is_ok());
        }
        let late = {
            let ring = ring.clone();
            thread::spawn(move || ring.push(2).is_ok())
        };
        // SAFETY: the only consumer.
        let first = unsafe { ring.pop() };
        assert_eq!(first, Some(0));
        let accepted = late.join().unwrap();
        let mut rest = Vec::new();
        // SAFETY: as above.
        while let Some(value) = unsafe { ring.pop() } {
            rest.push(value);
        }
        assert_eq!(rest, if accepted { vec![1, 2] } else { vec![1] });
    });
}
