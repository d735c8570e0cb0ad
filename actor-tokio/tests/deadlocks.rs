//! Circles of waiting actors in a real runtime: shards that sleep, and shards that never do.

use std::time::Duration;

use actor_tokio::{TellError, prelude::*};

/// Far more than a search takes, and less than a test runner's patience.
const LONG: Duration = Duration::from_secs(60);

#[actor(mailbox = 1)]
struct Peer {
    name: &'static str,
    got: u64,
}

#[actor]
impl Peer {
    /// Asks the last of `way`, by way of the others.
    pub async fn pass(&mut self, mut way: Vec<PeerHandle>) -> Vec<&'static str> {
        if way.is_empty() {
            return Vec::new();
        }
        let next = way.remove(0);
        match next.pass(way).timeout(LONG).await {
            Ok(mut names) => {
                names.push(self.name);
                names
            }
            Err(AskError::Deadlock { path }) => path.actors().iter().map(|waits| waits.kind).collect(),
            Err(other) => panic!("{other}"),
        }
    }

    /// Fills `to`'s mailbox and waits for more room. Returns how many messages came back.
    pub async fn flood(&mut self, to: PeerHandle, messages: u64) -> u64 {
        let mut back = 0;
        for _ in 0..messages {
            match to.take(1).tell().await {
                Ok(()) => {}
                Err(TellError::Deadlock { path, args }) => {
                    assert_eq!((path.actors().len(), args.into_inner()), (2, (1,)));
                    back += 1;
                }
                Err(other) => panic!("{other}"),
            }
        }
        back
    }

    pub fn take(&mut self, by: u64) -> u64 {
        self.got += by;
        self.got
    }
}

/// Never has nothing to do.
async fn keep_busy(rt: &ShardedRuntime, shard: ShardId) -> InboxHandle<()> {
    let busy = rt.spawn_fn(|mut inbox: Inbox<()>, _| async move {
        loop {
            tokio::select! {
                biased;
                message = inbox.recv() => if message.is_none() { return },
                () = tokio::task::yield_now() => {}
            }
        }
    });
    busy.on(shard).await.expect("started")
}

#[test]
fn a_circle_over_three_shards_is_an_error_long_before_its_timeouts() -> Result<(), actor_tokio::Error> {
    for is_busy in [false, true] {
        let rt = ShardedRuntime::builder().cores(3).pin(Pin::Never).build()?;
        rt.block_on(async {
            let mut busy = Vec::new();
            let mut peers = Vec::new();
            for (shard, name) in ["a", "b", "c"].into_iter().enumerate() {
                let shard = ShardId::new(shard as u16);
                peers.push(rt.spawn(move || Peer { name, got: 0 }).on(shard).await?);
                if is_busy {
                    busy.push(keep_busy(&rt, shard).await);
                }
            }
            // a -> b -> c -> a
            let way = vec![peers[1].clone(), peers[2].clone(), peers[0].clone()];
            let names = peers[0].pass(way).timeout(LONG).await?;
            assert_eq!(names.iter().filter(|name| **name == "Peer").count(), 3, "{names:?}");
            let found: u64 = rt.handle().stats().await.iter().map(|stats| stats.deadlocks).sum();
            assert_eq!(found, 1);
            rt.shutdown().await;
            Ok::<_, actor_tokio::Error>(())
        })?;
    }
    Ok(())
}

#[test]
fn two_that_flood_each_other_end_and_lose_nothing() -> Result<(), actor_tokio::Error> {
    const MESSAGES: u64 = 1_000;
    let rt = ShardedRuntime::builder().cores(2).pin(Pin::Never).build()?;
    rt.block_on(async {
        let a = rt.spawn(|| Peer { name: "a", got: 0 }).on(ShardId::new(0)).await?;
        let b = rt.spawn(|| Peer { name: "b", got: 0 }).on(ShardId::new(1)).await?;
        let (of_a, of_b) =
            tokio::join!(a.flood(b.clone(), MESSAGES).timeout(LONG), b.flood(a.clone(), MESSAGES).timeout(LONG));
        let back = of_a? + of_b?;
        let got = a.take(0).await? + b.take(0).await?;
        assert_eq!(got + back, 2 * MESSAGES);
        rt.shutdown().await;
        Ok(())
    })
}
