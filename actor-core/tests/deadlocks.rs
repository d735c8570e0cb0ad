//! Actors that wait for each other in a circle: one of them gets an error, the others go on; and what looks like a circle
//! and is none is left alone.

mod common;

use std::{
    pin::pin,
    task::{Context, Poll, Waker},
    time::Duration,
};

use actor_core::{AskError, DeadlockPath, TellError, Turn};
use common::*;

/// Polls `future` from outside, with shards that sleep whenever they have nothing to do, until it is done or nothing
/// moves any more.
fn run<F: Future>(shards: &[&HandShard], future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    for _ in 0..100 {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return Some(output);
        }
        rest(shards);
    }
    None
}

/// Turns the shards until all sleep.
fn rest(shards: &[&HandShard]) {
    for _ in 0..shards.len() + 2 {
        for shard in shards {
            while {
                shard.settle();
                !shard.shard.announce_sleep(Waker::noop())
            } {}
        }
    }
}

fn deadlocks(shards: &[&HandShard]) -> u64 {
    shards.iter().map(|shard| shard.shard.stats().deadlocks).sum()
}

/// What one member of a circle saw: 1 for a deadlock (and its path), 0 for an answer.
fn outcome(answer: Result<u64, AskError>, paths: &std::sync::Mutex<Vec<DeadlockPath>>) -> u64 {
    match answer {
        Ok(below) => below,
        Err(AskError::Deadlock { path }) => {
            paths.lock().expect("paths").push(path);
            1
        }
        Err(other) => panic!("{other}"),
    }
}

/// Each cell asks the next from its handler, and the last the first. Returns how many got the error, and their paths.
fn ring(shards: &[&HandShard], cells: &[Cell0Handle]) -> (u64, Vec<DeadlockPath>) {
    let paths = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let last = cells[0].clone();
    let mut work: Box<dyn FnOnce() -> actor_core::Call<(AsyncWork,), u64> + Send> = {
        let (cell, paths) = (cells[cells.len() - 1].clone(), paths.clone());
        Box::new(move || cell.run_async(move |_, _| Box::pin(async move { outcome(last.add(0).await, &paths) })))
    };
    for cell in cells[..cells.len() - 1].iter().rev() {
        let (cell, next, paths) = (cell.clone(), work, paths.clone());
        work = Box::new(move || {
            cell.run_async(move |_, _| {
                Box::pin(async move {
                    let next = next();
                    outcome(next.await, &paths)
                })
            })
        });
    }
    let failed = run(shards, work()).expect("the circle is broken").expect("the first cell answers");
    let paths = paths.lock().expect("paths").clone();
    (failed, paths)
}

#[test]
fn a_circle_of_asks_is_broken_at_one_place_wherever_its_actors_live() {
    let shards = [HandShard::new(0), HandShard::new(1), HandShard::new(2)];
    let shards: Vec<_> = shards.iter().collect();
    for places in
        [&[0, 1][..], &[1, 0], &[0, 0], &[0, 1, 2], &[2, 1, 0], &[1, 1, 2], &[0, 0, 0, 0], &[0, 1, 2, 0, 1, 2]]
    {
        let before = deadlocks(&shards);
        let cells: Vec<_> = places.iter().map(|place| spawn(shards[*place], None)).collect();
        let (failed, paths) = ring(&shards, &cells);
        assert_eq!((failed, paths.len()), (1, 1), "{places:?}");
        assert_eq!(deadlocks(&shards) - before, 1);
        let smallest = cells.iter().map(|cell| cell.id()).min();
        let named: Vec<_> = paths[0].actors().iter().map(|waits| (waits.actor, waits.kind)).collect();
        assert_eq!(named.len(), cells.len());
        assert_eq!(Some(named[0].0), smallest, "whoever finds it, it is the same one's error");
        assert!(cells.iter().all(|cell| named.contains(&(cell.id(), "Cell0"))));
        // Only the last ask of the ring was not begun.
        let first = cells.iter().position(|cell| cell.id() == named[0].0).expect("a member");
        assert_eq!(paths[0].was_delivered(), first != cells.len() - 1);
        assert_accounted(&shards);
    }
}

/// A handler that sends three messages to `to`, each once. Answers how many came back.
async fn send_three(to: Cell0Handle) -> u64 {
    let mut back = 0;
    for _ in 0..3 {
        match to.add(1).tell().await {
            Ok(()) => {}
            Err(TellError::Deadlock { path, args }) => {
                assert_eq!(path.actors().len(), 2);
                assert!(!path.was_delivered());
                drop(args.into_inner());
                back += 1;
            }
            Err(error) => panic!("{error}"),
        }
    }
    back
}

#[test]
fn actors_that_tell_each_other_into_full_mailboxes_get_messages_back() {
    let (one, two) = (HandShard::new(0), HandShard::new(1));
    let shards = [&one, &two];
    let (a, b) = (spawn(&one, Some(1)), spawn(&two, Some(1)));
    let (to_b, to_a) = (b.clone(), a.clone());
    let mut of_a = a.run_async(move |_, _| Box::pin(send_three(to_b)));
    let mut of_b = b.run_async(move |_, _| Box::pin(send_three(to_a)));
    assert!(poll(&mut of_a, Waker::noop()).is_pending());
    assert!(poll(&mut of_b, Waker::noop()).is_pending());
    let back = [run(&shards, of_a), run(&shards, of_b)].map(|of| of.expect("done").expect("answered"));
    // Each mailbox takes one message and is then full for as long as both wait: one of them is sent back what it has left,
    // and the other's go out when its handler is done.
    assert_eq!((back.iter().min(), back.iter().max()), (Some(&0), Some(&2)), "{back:?}");
    assert_eq!(deadlocks(&shards), 2);
    let got = [run(&shards, a.add(0)), run(&shards, b.add(0))].map(|of| of.expect("done").expect("answered"));
    assert_eq!((got[0], got[1]), (3 - back[1], 3 - back[0]));
    assert_accounted(&shards);
}

#[test]
fn a_busy_shard_finds_a_circle_after_a_millisecond() {
    let (one, two) = (HandShard::new(0), HandShard::new(1));
    let (a, b) = (spawn(&one, None), spawn(&two, None));
    let (to_b, to_a) = (b.clone(), a.clone());
    let mut ask = a.run_async(move |_, _| {
        Box::pin(async move {
            let back = to_b.run_async(move |_, _| {
                Box::pin(async move { u64::from(matches!(to_a.add(1).await, Err(AskError::Deadlock { .. }))) })
            });
            2 * u64::from(matches!(back.await, Err(AskError::Deadlock { .. })))
        })
    });
    let mut turns = |times: usize| {
        for _ in 0..times {
            if let Poll::Ready(outcome) = poll(&mut ask, Waker::noop()) {
                return Some(outcome);
            }
            for shard in [&one, &two] {
                while shard.shard.turn() == Turn::More {}
            }
        }
        None
    };
    assert_eq!(turns(10), None, "it has not lasted long");
    one.advance(1_000_000);
    two.advance(1_000_000);
    assert!(matches!(turns(10), Some(Ok(0 | 2))));
    assert_eq!(deadlocks(&[&one, &two]), 1);
}

#[test]
fn an_answer_that_is_on_its_way_is_no_deadlock() {
    let (one, two) = (HandShard::new(0), HandShard::new(1));
    let (a, b) = (spawn(&one, None), spawn(&two, None));
    let to_b = b.clone();
    let mut of_a = a.run_async(move |_, _| Box::pin(async move { to_b.add(5).await.expect("answered") }));
    assert!(poll(&mut of_a, Waker::noop()).is_pending());
    one.settle();
    // B answers; A's shard does not look. Then B asks A: each now waits for the other, as far as can be seen.
    two.settle();
    let to_a = a.clone();
    let mut of_b = b.run_async(move |_, _| Box::pin(async move { to_a.add(7).await.expect("answered") }));
    assert!(poll(&mut of_b, Waker::noop()).is_pending());
    two.settle();
    _ = two.shard.announce_sleep(Waker::noop());
    let shards = [&one, &two];
    assert_eq!(run(&shards, of_a), Some(Ok(5)));
    assert_eq!(run(&shards, of_b), Some(Ok(7)));
    assert_eq!(deadlocks(&shards), 0);
}

#[test]
fn an_answer_that_goes_by_a_third_shard_is_no_deadlock() {
    let (one, two, third) = (HandShard::new(0), HandShard::new(1), HandShard::new(2));
    let (a, b) = (spawn(&one, None), spawn(&two, None));
    // Begun on the third shard, so that its answer will go there; then handed to A's handler.
    let mut begun = b.add(5);
    let here = third.shard.activate();
    assert!(poll(&mut begun, Waker::noop()).is_pending());
    drop(here);
    let mut of_a = a.run_async(move |_, _| Box::pin(async move { begun.await.expect("answered") }));
    assert!(poll(&mut of_a, Waker::noop()).is_pending());
    one.settle();
    // B answers, and then asks A. The third shard does not look.
    two.settle();
    let to_a = a.clone();
    let mut of_b = b.run_async(move |_, _| Box::pin(async move { to_a.add(7).await.expect("answered") }));
    assert!(poll(&mut of_b, Waker::noop()).is_pending());
    rest(&[&one, &two]);
    let shards = [&one, &two, &third];
    assert_eq!(run(&shards, of_a), Some(Ok(5)));
    assert_eq!(run(&shards, of_b), Some(Ok(7)));
    assert_eq!(deadlocks(&shards), 0);
}

#[test]
fn room_that_is_on_its_way_is_no_deadlock() {
    let (one, two) = (HandShard::new(0), HandShard::new(1));
    let (a, b) = (spawn(&one, None), spawn(&two, Some(1)));
    // B's mailbox is full of a message that asks A.
    let to_a = a.clone();
    let asks = b.run_async(move |cell, _| {
        Box::pin(async move {
            cell.value = to_a.add(7).await.expect("answered");
            0
        })
    });
    asks.try_tell().expect("room");
    let to_b = b.clone();
    let mut of_a = a.run_async(move |_, _| {
        Box::pin(async move {
            to_b.add(100).tell().await.expect("room comes");
            1
        })
    });
    assert!(poll(&mut of_a, Waker::noop()).is_pending());
    one.settle();
    // B begins that message, which makes room; A's shard does not look. Now B waits for A, and A for B as far as can be
    // seen.
    two.settle();
    _ = two.shard.announce_sleep(Waker::noop());
    let shards = [&one, &two];
    assert_eq!(run(&shards, of_a), Some(Ok(1)));
    assert_eq!(run(&shards, b.add(0)), Some(Ok(107)));
    assert_eq!(deadlocks(&shards), 0);
}

#[test]
fn what_else_may_end_a_wait_is_left_to_it() {
    let (one, two) = (HandShard::new(0), HandShard::new(1));
    let shards = [&one, &two];
    let limit = Duration::from_millis(50);
    for way in 0..2 {
        let (a, b, idle) = (spawn(&one, None), spawn(&two, None), spawn(&two, None));
        let gate = Gate::default();
        let (to_b, to_a, closed) = (b.clone(), a.clone(), gate.clone());
        let mut ask = a.run_async(move |_, _| {
            Box::pin(async move {
                let back = to_b.run_async(move |_, _| {
                    let ask = to_a.add(1).timeout(limit);
                    let ask = if way == 0 { ask.allow_cycle() } else { ask };
                    Box::pin(async move {
                        if way == 0 {
                            return u64::from(matches!(ask.await, Err(AskError::Timeout { delivered: false })));
                        }
                        // Two waits at once: either may wake the handler.
                        let mut other = pin!(
                            idle.run_async(move |_, _| Box::pin(async move {
                                closed.await;
                                9
                            }))
                            .timeout(limit)
                        );
                        let mut ask = pin!(ask);
                        std::future::poll_fn(|cx| {
                            let first = ask.as_mut().poll(cx);
                            match other.as_mut().poll(cx) {
                                Poll::Ready(Ok(value)) => Poll::Ready(value),
                                Poll::Ready(Err(error)) => panic!("{error}"),
                                Poll::Pending => first.map(|_| 8),
                            }
                        })
                        .await
                    })
                });
                back.await.expect("answered")
            })
        });
        assert!(poll(&mut ask, Waker::noop()).is_pending());
        rest(&shards);
        assert!(poll(&mut ask, Waker::noop()).is_pending());
        assert_eq!(deadlocks(&shards), 0);
        if way == 0 {
            one.advance(60_000_000);
            two.advance(60_000_000);
            assert_eq!(run(&shards, ask), Some(Ok(1)));
        } else {
            gate.open();
            assert_eq!(run(&shards, ask), Some(Ok(9)));
        }
    }
}

#[test]
fn an_actor_that_was_killed_out_of_a_circle_frees_it() {
    let (one, two) = (HandShard::new(0), HandShard::new(1));
    let shards = [&one, &two];
    let (a, b) = (spawn(&one, None), spawn(&two, None));
    let (to_b, to_a) = (b.clone(), a.clone());
    let mut ask = a.run_async(move |_, _| {
        Box::pin(async move {
            let back = to_b.run_async(move |_, _| Box::pin(async move { to_a.add(1).await.expect("answered") }));
            u64::from(matches!(back.await, Err(AskError::Died(_))))
        })
    });
    assert!(poll(&mut ask, Waker::noop()).is_pending());
    one.settle();
    two.settle();
    // The circle is closed and has not been looked at.
    _ = b.kill();
    assert_eq!(run(&shards, ask), Some(Ok(1)));
    assert_eq!(deadlocks(&shards), 0);
}

#[test]
fn a_nested_ask_has_no_more_time_than_its_caller_has_left() {
    let shard = HandShard::new(0);
    let shards = [&shard];
    let (outer, inner, driver) = (spawn(&shard, None), spawn(&shard, None), spawn(&shard, None));
    for (detached, expected) in [(false, 1), (true, 2)] {
        let (outer, inner) = (outer.clone(), inner.clone());
        let (gate, passed) = (Gate::default(), Gate::default());
        let (closed, seen) = (gate.clone(), passed.clone());
        let outcome = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(0));
        let told = outcome.clone();
        let mut ask = driver.run_async(move |_, _| {
            Box::pin(async move {
                let nested = outer.run_async(move |_, _| {
                    Box::pin(async move {
                        let ask = inner.run_async(move |_, _| {
                            Box::pin(async move {
                                closed.await;
                                2
                            })
                        });
                        // Its own limit is the runtime's default of 30 s.
                        let ask = if detached { ask.detach_deadline() } else { ask };
                        let value = match ask.await {
                            Err(AskError::Timeout { delivered: true }) => 1,
                            Ok(value) => value,
                            Err(other) => panic!("{other}"),
                        };
                        told.store(value, std::sync::atomic::Ordering::SeqCst);
                        seen.open();
                        value
                    })
                });
                let caller = nested.timeout(Duration::from_micros(10)).await;
                assert!(matches!(caller, Err(AskError::Timeout { delivered: true })));
                passed.await;
                0
            })
        });
        assert!(poll(&mut ask, Waker::noop()).is_pending());
        rest(&shards);
        shard.advance(10_000);
        rest(&shards);
        gate.open();
        assert_eq!(run(&shards, ask), Some(Ok(0)));
        assert_eq!(outcome.load(std::sync::atomic::Ordering::SeqCst), expected);
    }
}
