//! A race that ThreadSanitizer must report, or its silence about everything else means nothing. Not part of any other
//! build than `make tsan`'s.
#![cfg(planted_race)]

use std::{
    cell::UnsafeCell,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

/// A cell as a ring has it: the sequence says whose turn it is.
#[derive(Default)]
struct Cell {
    sequence: AtomicUsize,
    value: UnsafeCell<u64>,
}

// SAFETY: none. The sequence is published with too little: that is the fault that is planted.
unsafe impl Sync for Cell {}

#[test]
fn a_value_that_is_published_with_too_little() {
    let cell = Arc::new(Cell::default());
    let ours = cell.clone();
    let producer = thread::spawn(move || {
        // SAFETY: the consumer reads when the sequence says so. The hardware may see to it; the language does not.
        unsafe { *ours.value.get() = 7 };
        // Should be `Release`.
        ours.sequence.store(1, Ordering::Relaxed);
    });
    // Should be `Acquire`.
    while cell.sequence.load(Ordering::Relaxed) == 0 {
        thread::yield_now();
    }
    // SAFETY: as above.
    assert_eq!(unsafe { *cell.value.get() }, 7);
    producer.join().expect("the producer");
}
