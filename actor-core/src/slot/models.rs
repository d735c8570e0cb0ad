//! The slot's head with its stack, and the admission word, in every execution of a few small programs.

mod port;
mod room;
mod waits;

use std::{mem::ManuallyDrop, ops::Deref, ptr::NonNull};

use loom::{cell::UnsafeCell, sync::Arc, thread};

use super::{Admission, Admit, Head, Signalled, Signals};
use crate::{
    sync::{AtomicPtr, Fault, model, model_with},
    wake::{Linked, Stack},
};

/// A slot of the model: what a signaller touches, and what it wrote before it signalled.
struct Node {
    head: Head,
    link: AtomicPtr<Node>,
    letters: [UnsafeCell<u32>; 2],
}

// SAFETY: the link is a field, written only by the stack.
unsafe impl Linked for Node {
    fn link(&self) -> &AtomicPtr<Self> {
        &self.link
    }
}

// SAFETY: that the letters are not touched from two threads at a time is what the model checks.
unsafe impl Send for Node {}
// SAFETY: as above.
unsafe impl Sync for Node {}

struct World {
    node: Node,
    stack: Stack<Node>,
}

impl World {
    fn new() -> Arc<Self> {
        let node =
            Node { head: Head::new(), link: AtomicPtr::default(), letters: [(); 2].map(|()| UnsafeCell::new(0)) };
        Arc::new(Self { node, stack: Stack::new() })
    }

    /// As the router does it.
    fn signal(&self, generation: u32, signals: Signals) -> Signalled {
        let signalled = self.node.head.signal(generation, signals);
        if signalled == Signalled::First {
            // SAFETY: the node outlives the stack; the first signaller, and nobody else, pushes.
            assert!(unsafe { self.stack.push(NonNull::from(&self.node)) });
        }
        signalled
    }

    /// As a turn does it.
    fn take(&self) -> Signals {
        let mut all = Signals::NONE;
        for (count, node) in self.stack.take().enumerate() {
            assert_eq!(count, 0, "the node is on the stack once");
            // SAFETY: it is our own node.
            all = all.with(unsafe { node.as_ref() }.head.take());
        }
        all
    }
}

const KINDS: [Signals; 2] = [Signals::STOP, Signals::UNREFERENCED];

fn signals_against_take() {
    let world = World::new();
    let signallers = [0, 1].map(|index| {
        let world = world.clone();
        thread::spawn(move || {
            // SAFETY: this thread's letter, until the signal.
            world.node.letters[index].with_mut(|letter| unsafe { *letter = 1 });
            assert_ne!(world.signal(0, KINDS[index]), Signalled::Stale);
        })
    });
    let open = |signals: Signals| {
        for (kind, letter) in KINDS.into_iter().zip(&world.node.letters) {
            if signals.contains(kind) {
                // SAFETY: signalled, so written.
                assert_eq!(letter.with(|letter| unsafe { *letter }), 1);
            }
        }
        signals
    };
    let mut seen = Signals::NONE;
    while seen != KINDS[0].with(KINDS[1]) {
        let signals = open(world.take());
        assert!(!KINDS.iter().any(|kind| seen.contains(*kind) && signals.contains(*kind)), "each signal is seen once");
        seen = seen.with(signals);
        thread::yield_now();
    }
    for signaller in signallers {
        signaller.join().unwrap();
    }
    assert_eq!(world.take(), Signals::NONE);
}

#[test]
fn every_signal_is_seen_once_with_what_came_before_it() {
    model(signals_against_take);
}

#[test]
#[should_panic = "Causality violation"]
fn a_relaxed_signal_is_seen() {
    model_with(Fault::HeadSignal, signals_against_take);
}

#[test]
fn an_old_actor_s_stop_never_reaches_the_next() {
    model(|| {
        let world = World::new();
        let signaller = {
            let world = world.clone();
            thread::spawn(move || _ = world.signal(0, Signals::STOP))
        };
        assert_eq!(world.node.head.advance(), Some(1));
        assert!(!world.take().contains(Signals::STOP));
        signaller.join().unwrap();
        assert!(!world.take().contains(Signals::STOP));
        // The slot works for the new actor.
        assert_eq!(world.signal(1, Signals::KILL), Signalled::First);
        assert_eq!(world.take(), Signals::KILL);
    });
}

/// What is left of the old actor's signals keeps the slot on the stack: the new one's must not put it there again.
fn a_signal_to_each_of_two_actors() {
    let world = World::new();
    let old = {
        let world = world.clone();
        thread::spawn(move || _ = world.signal(0, Signals::STOP))
    };
    assert_eq!(world.node.head.advance(), Some(1));
    let new = {
        let world = world.clone();
        thread::spawn(move || assert_ne!(world.signal(1, Signals::KILL), Signalled::Stale))
    };
    let mut seen = world.take();
    old.join().unwrap();
    new.join().unwrap();
    seen = seen.with(world.take());
    assert!(seen.contains(Signals::KILL) && !seen.contains(Signals::STOP), "{seen:?}");
}

#[test]
fn a_new_actor_s_signal_joins_what_is_left_of_the_old_one_s() {
    model(a_signal_to_each_of_two_actors);
}

#[test]
#[should_panic = "the node is on the stack once"]
fn a_slot_that_is_on_the_stack_twice_is_seen() {
    model_with(Fault::HeadAdvance, a_signal_to_each_of_two_actors);
}

fn two_senders_and_a_room_for_one() {
    let (word, place) = (Arc::new(Admission::new()), Arc::new(UnsafeCell::new(())));
    word.open(0);
    let senders = [(); 2].map(|()| {
        let (word, place) = (word.clone(), place.clone());
        thread::spawn(move || {
            if word.acquire(0, 1) != Admit::Granted {
                return false;
            }
            // One owner's use of it happens before the next one's.
            place.with_mut(|_| ());
            assert!(!word.release(1));
            true
        })
    });
    let granted: Vec<bool> = senders.into_iter().map(|sender| sender.join().unwrap()).collect();
    assert!(granted.contains(&true));
    assert_eq!(word.count(), 0);
}

#[test]
fn never_more_permits_than_room() {
    model(two_senders_and_a_room_for_one);
}

#[test]
#[should_panic = "Causality violation"]
fn a_permit_too_many_is_seen() {
    model_with(Fault::AdmissionAcquire, two_senders_and_a_room_for_one);
}

#[test]
fn what_was_granted_before_the_close_is_counted_and_nothing_after() {
    model(|| {
        let word = Arc::new(Admission::new());
        word.open(3);
        let sender = {
            let word = word.clone();
            thread::spawn(move || word.acquire(3, 2) == Admit::Granted)
        };
        assert!(word.close(3));
        let at_close = word.count();
        let granted = sender.join().unwrap();
        assert_eq!(at_close, u32::from(granted), "a closed word grants nothing");
        assert_eq!(word.acquire(3, 2), Admit::Closed);
    });
}

/// The owner sets the slot up, opens it, closes it, and clears it away when no permit is out.
#[test]
fn a_permit_is_used_between_the_opening_and_the_count_of_zero() {
    model(|| {
        let (word, place) = (Arc::new(Admission::new()), Arc::new(UnsafeCell::new(())));
        let sender = {
            let (word, place) = (word.clone(), place.clone());
            thread::spawn(move || {
                if word.acquire(1, 1) == Admit::Granted {
                    place.with_mut(|_| ());
                    assert!(!word.release(1));
                }
            })
        };
        place.with_mut(|_| ());
        word.open(1);
        thread::yield_now();
        assert!(word.close(1));
        while word.count() > 0 {
            thread::yield_now();
        }
        place.with_mut(|_| ());
        sender.join().unwrap();
    });
}

/// A reference that a panic leaves behind: once loom has found a deadlock, it can't count one down any more.
struct Shared<T>(ManuallyDrop<Arc<T>>);

impl<T> Shared<T> {
    fn new(value: T) -> Self {
        Self(ManuallyDrop::new(Arc::new(value)))
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // SAFETY: dropped here, once.
            unsafe { ManuallyDrop::drop(&mut self.0) };
        }
    }
}
