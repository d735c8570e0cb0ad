//! A panic in any place ends its actor alone: the asker hears of it, the neighbours go on.

use actor_tokio::prelude::*;

/// Where to panic.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Place {
    Constructor,
    Start,
    StartAfterAwait,
    Handler,
    HandlerAfterAwait,
    Stop,
    Drop,
    ArgumentDrop,
    ReplyDrop,
    FutureDrop,
    Nowhere,
}

struct Bomb(bool);

impl Drop for Bomb {
    fn drop(&mut self) {
        if self.0 && !std::thread::panicking() {
            panic!("at {:?}", "a drop");
        }
    }
}

#[actor]
struct Fragile {
    place: Place,
}

#[actor]
impl Fragile {
    fn new(place: Place) -> Self {
        assert!(place != Place::Constructor, "at {place:?}");
        Self { place }
    }

    #[actor(on_start)]
    async fn begin(&mut self) {
        assert!(self.place != Place::Start, "at {:?}", self.place);
        tokio::task::yield_now().await;
        assert!(self.place != Place::StartAfterAwait, "at {:?}", self.place);
    }

    pub async fn work(&mut self, bomb: Bomb) -> Bomb {
        assert!(self.place != Place::Handler, "at {:?}", self.place);
        tokio::task::yield_now().await;
        assert!(self.place != Place::HandlerAfterAwait, "at {:?}", self.place);
        if self.place == Place::ArgumentDrop {
            drop(bomb);
        } else {
            std::mem::forget(bomb);
        }
        Bomb(self.place == Place::ReplyDrop)
    }

    pub async fn never(&mut self) {
        let _bomb = Bomb(self.place == Place::FutureDrop);
        std::future::pending().await
    }

    #[actor(on_stop)]
    fn end(&mut self) {
        assert!(self.place != Place::Stop, "at {:?}", self.place);
    }
}

impl Drop for Fragile {
    fn drop(&mut self) {
        if self.place == Place::Drop && !std::thread::panicking() {
            panic!("at Drop");
        }
    }
}

#[actor]
struct Witness;

#[actor]
impl Witness {
    pub fn ping(&self) -> &'static str {
        "pong"
    }
}

fn is_panic_at(reason: &ExitReason, place: Place) -> bool {
    match reason {
        ExitReason::Panicked { message, location } => {
            assert!(location.as_ref().expect("location").contains("panics.rs"));
            **message == *format!("at {place:?}") || &**message == "at \"a drop\""
        }
        _ => false,
    }
}

#[test]
fn every_place() {
    let rt = ShardedRuntime::builder().cores(2).pin(Pin::Never).build().expect("runtime");
    rt.block_on(async {
        let mut witnesses = Vec::new();
        for shard in rt.shard_ids() {
            witnesses.push(rt.spawn(|| Witness).on(shard).await.expect("spawned"));
        }
        use Place::*;
        for place in [
            Constructor,
            Start,
            StartAfterAwait,
            Handler,
            HandlerAfterAwait,
            Stop,
            Drop,
            ArgumentDrop,
            ReplyDrop,
            FutureDrop,
            Nowhere,
        ] {
            for shard in rt.shard_ids() {
                check(&rt, place, shard).await;
                for witness in &witnesses {
                    assert_eq!(witness.ping().await, Ok("pong"), "after a panic at {place:?}");
                }
            }
        }
        let stats = rt.handle().stats().await;
        assert_eq!(stats.iter().map(|shard| shard.actors).sum::<u64>(), 2);
        assert!(rt.shutdown().await.is_clean());
    });
}

async fn check(rt: &ShardedRuntime, place: Place, shard: ShardId) {
    let fragile = match rt.spawn(move || Fragile::new(place)).on(shard).await {
        Ok(fragile) => fragile,
        Err(SpawnError::Ended(reason)) => {
            assert!(place == Place::Constructor && is_panic_at(&reason, place), "{reason:?}");
            return;
        }
        Err(error) => panic!("{error}"),
    };
    let bomb = Bomb(place == Place::ArgumentDrop);
    match place {
        Place::Start | Place::StartAfterAwait | Place::Handler | Place::HandlerAfterAwait | Place::ArgumentDrop => {
            match fragile.work(bomb).await {
                Err(AskError::Died(reason)) => assert!(is_panic_at(&reason, place), "{reason:?}"),
                // The start hook was quicker than the ask.
                Err(AskError::Closed) => {
                    assert!(matches!(place, Place::Start | Place::StartAfterAwait))
                }
                Ok(_) => panic!("{place:?} did not panic"),
                Err(error) => panic!("{error}"),
            }
            let reason = fragile.closed().await;
            assert!(is_panic_at(&reason, place), "{reason:?}");
        }
        Place::Stop | Place::Drop => {
            drop(fragile.work(bomb).await.expect("answer"));
            let reason = fragile.stop().await;
            assert!(is_panic_at(&reason, place), "{reason:?}");
        }
        Place::ReplyDrop => {
            // Nobody takes the reply, so the actor drops it.
            fragile.work(bomb).tell().await.expect("accepted");
            let reason = fragile.closed().await;
            assert!(is_panic_at(&reason, place), "{reason:?}");
        }
        Place::FutureDrop => {
            fragile.never().tell().await.expect("accepted");
            while fragile.queue_len() > 0 {
                tokio::task::yield_now().await;
            }
            assert_eq!(fragile.kill().await, ExitReason::Killed);
        }
        Place::Nowhere => {
            drop(fragile.work(bomb).await.expect("answer"));
            assert_eq!(fragile.stop().await, ExitReason::Stopped);
        }
        Place::Constructor => panic!("the constructor did not panic"),
    }
}
