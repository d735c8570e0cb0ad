//! The spin before sleep, by its counters.

use std::{thread::available_parallelism, time::Duration};

use actor_tokio::{Stats, prelude::*};

#[actor]
struct Echo;

#[actor]
impl Echo {
    pub fn echo(&mut self, n: u64) -> u64 {
        n
    }
}

#[actor]
struct Asker;

#[actor]
impl Asker {
    pub async fn ask(&mut self, echo: EchoHandle, times: u64) {
        for n in 0..times {
            assert_eq!(echo.echo(n).await, Ok(n));
        }
    }
}

/// Two shards in a dialogue. Returns the sum of their counters.
fn dialogue(spin: Spin, shards: usize) -> Result<Stats, actor_tokio::Error> {
    let rt = ShardedRuntime::builder().cores(shards).pin(Pin::Never).spin(spin).build()?;
    rt.block_on(async {
        let echo = rt.spawn(|| Echo).on(ShardId::new(0)).await?;
        let asker = rt.spawn(|| Asker).on(ShardId::new(1)).await?;
        asker.ask(echo, 3_000).await?;
        let mut sum = Stats::default();
        for stats in rt.handle().stats().await {
            sum.spins += stats.spins;
            sum.spins_won += stats.spins_won;
            sum.sent += stats.sent;
            sum.rings += stats.rings;
            sum.elided += stats.elided;
            sum.rings_from_outside += stats.rings_from_outside;
            sum.sleeps += stats.sleeps;
            sum.rung += stats.rung;
        }
        rt.shutdown().await;
        Ok(sum)
    })
}

#[test]
fn each_policy_does_what_it_says() -> Result<(), actor_tokio::Error> {
    let off = dialogue(Spin::Off, 2)?;
    assert_eq!((off.spins, off.spins_won), (0, 0));

    let always = dialogue(Spin::Always(Duration::from_millis(10)), 2)?;
    assert!(always.spins_won > 0 && always.spins_won <= always.spins, "{always:?}");

    let cpus = available_parallelism().map_or(1, usize::from);
    let crowded = dialogue(Spin::Auto, cpus + 1)?;
    assert_eq!(crowded.spins, 0, "more shards than CPUs");
    Ok(())
}

#[test]
fn a_doorbell_is_written_at_most_once_a_sleep() -> Result<(), actor_tokio::Error> {
    for spin in [Spin::Off, Spin::Auto, Spin::Always(Duration::from_micros(20))] {
        let stats = dialogue(spin, 2)?;
        assert_eq!(stats.sent, 3_000, "the asks; answers are no messages");
        assert!(stats.rings + stats.elided >= stats.sent, "each is followed by a look: {stats:?}");
        // Each counter is read while the others go on: by a few they may differ, for the threads that ring just now.
        let rings = stats.rings + stats.rings_from_outside;
        assert!(rings.abs_diff(stats.rung) <= 4, "{stats:?}");
        assert!(stats.rung <= stats.sleeps, "{stats:?}");
    }
    Ok(())
}
