//! The hammer: shards on threads, a mesh of actors that tell and ask each other in every way there is, tasks beside the
//! shards and threads outside; actors end and others take their place. At the end the books must balance to the last
//! message.
//!
//! `ACTOR_HAMMER_SECONDS` says how long each test goes on (2 unless it does), `ACTOR_HAMMER_SEED` with which numbers.

#[path = "../common/mod.rs"]
mod common;
mod ledger;
mod node;
mod sender;
mod world;

use std::{
    env,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use actor_core::{Domain, DomainConfig, ShardId};
use common::threads::{Crew, LocalTask, Sleep, within};
use sender::{Sender, yield_now};
use world::World;

/// Threads that ask from outside.
const OUTSIDE: usize = 2;

#[test]
fn two_shards_that_never_sleep() {
    hammer(2, Sleep::Never);
}

#[test]
fn two_shards_that_sleep() {
    hammer(2, Sleep::Park);
}

#[test]
fn four_shards_that_never_sleep() {
    hammer(4, Sleep::Never);
}

#[test]
fn four_shards_that_sleep() {
    hammer(4, Sleep::Park);
}

fn setting(name: &str, default: u64) -> u64 {
    env::var(name).map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name}={text}: not a number")))
}

fn hammer(shards: usize, sleep: Sleep) {
    let seconds = Duration::from_secs(setting("ACTOR_HAMMER_SECONDS", 2));
    let seed = setting("ACTOR_HAMMER_SEED", 1);
    println!("hammer: {shards} shards, {sleep:?}, {seconds:?}, seed {seed}");
    within(seconds + Duration::from_secs(180), move || run(shards, sleep, seconds, seed));
}

fn run(shards: usize, sleep: Sleep, seconds: Duration, seed: u64) {
    let domains: Vec<_> = (0..shards).map(|number| Domain::new(config(number)).expect("domain")).collect();
    let remotes = domains.iter().map(Domain::remote).collect();
    let world = World::new(seed, remotes, Instant::now() + seconds);
    let crew = Crew::of(domains, sleep, |_| beside(world.clone()));
    world.populate();
    let outside: Vec<_> = (0..OUTSIDE)
        .map(|_| {
            let world = world.clone();
            thread::spawn(move || {
                let mut sender = Sender::new(world.clone());
                while !world.is_time_up() {
                    sender.send_blocking(3);
                }
            })
        })
        .collect();
    world.renew();
    for thread in outside {
        thread.join().expect("a thread outside");
    }
    world.end();
    let stats = crew.shut_down();

    let sum = |what: fn(&actor_core::Stats) -> u64| stats.iter().map(what).sum::<u64>();
    let ledger = &world.ledger;
    println!(
        "hammer: {} accepted, {} handled, {} returned; {} actors, {} sleeps, {} rings",
        ledger.accepted(),
        sum(|stats| stats.handled),
        sum(|stats| stats.returned),
        sum(|stats| stats.spawned),
        sum(|stats| stats.sleeps),
        sum(|stats| stats.rings),
    );
    assert_eq!((sum(|stats| stats.actors), sum(|stats| stats.queued)), (0, 0));
    assert_eq!(sum(|stats| stats.received), ledger.accepted(), "messages that were accepted, and that arrived");
    assert_eq!(sum(|stats| stats.handled), ledger.begun(), "messages that were handled");
    assert_eq!(sum(|stats| stats.returned), ledger.accepted() - ledger.begun(), "messages that were thrown away");
    ledger.assert_nothing_left();
    assert_eq!(Arc::strong_count(&world), 1, "an actor's state was not dropped");
    assert!(ledger.begun() > 0 && sum(|stats| stats.returned) > 0);
    assert_eq!(sum(|stats| stats.sleeps) > 0, sleep == Sleep::Park);
}

fn config(number: usize) -> DomainConfig {
    let mut config = DomainConfig::new(ShardId::new(u16::try_from(number).expect("few")));
    // So small that most messages go beside it.
    config.ring_capacity = 4;
    config.ask_timeout = None;
    config
}

/// A task that shares its thread with a shard: its answers come home by another road than an actor's.
fn beside(world: Arc<World>) -> LocalTask {
    Box::new(move || {
        Box::pin(async move {
            let mut sender = Sender::new(world.clone());
            while !world.is_over() {
                sender.send(0, 3).await;
                yield_now().await;
            }
        })
    })
}
