//! The public face, as a user types it.

use std::{cell::Cell, rc::Rc, time::Duration};

use actor_tokio::prelude::*;

#[derive(Debug, PartialEq)]
pub struct Overflow;

#[derive(Debug)]
pub struct StartError;

impl std::fmt::Display for StartError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("no start")
    }
}

impl std::error::Error for StartError {}

/// Counts.
#[actor(mailbox = 8)]
struct Counter {
    total: Rc<Cell<u64>>,
    started: bool,
}

#[actor]
impl Counter {
    pub fn new() -> Self {
        Self { total: Rc::default(), started: false }
    }

    /// Adds `by`.
    pub async fn add(&mut self, by: u64) -> u64 {
        assert!(self.started);
        self.total.set(self.total.get() + by);
        self.helper()
    }

    pub fn total(&self) -> u64 {
        self.total.get()
    }

    pub fn checked(&mut self, by: u64) -> Result<u64, Overflow> {
        let sum = self.total.get().checked_add(by).ok_or(Overflow)?;
        self.total.set(sum);
        Ok(sum)
    }

    pub async fn relay(&mut self, to: CounterHandle, cx: &mut Cx<Self>) -> Result<u64, AskError> {
        assert_eq!(cx.handle().id(), cx.id());
        to.add(self.total.get()).await
    }

    pub fn boom(&self, why: String) {
        panic!("{why}");
    }

    pub async fn sleepy(&mut self, time: Duration) -> u8 {
        tokio::time::sleep(time).await;
        7
    }

    fn helper(&self) -> u64 {
        self.total.get()
    }

    #[actor(skip)]
    pub fn also_plain(&self) -> &str {
        "plain"
    }

    #[actor(on_start)]
    async fn begin(&mut self, cx: &mut Cx<Self>) -> Result<(), StartError> {
        assert_eq!(Some(cx.shard()), ShardId::current());
        self.started = true;
        if self.total.get() == 404 { Err(StartError) } else { Ok(()) }
    }

    #[actor(on_stop)]
    async fn end(&mut self, reason: &ExitReason) {
        assert!(!matches!(reason, ExitReason::Killed));
        assert_eq!(self.also_plain(), "plain");
    }
}

fn runtime(shards: usize) -> ShardedRuntime {
    ShardedRuntime::builder().cores(shards).pin(Pin::Never).build().expect("runtime")
}

#[test]
fn the_counter_of_the_documentation() -> Result<(), actor_tokio::Error> {
    let rt = runtime(2);
    rt.block_on(async {
        let counter: CounterHandle = rt.spawn(Counter::new).await?;
        let n: u64 = counter.add(5).await?;
        assert_eq!(n, 5);
        counter.add(1).tell().await?;
        counter.add(1).try_tell()?;
        counter.add(1).timeout(Duration::from_millis(500)).await?;
        assert_eq!(counter.total().await?, 8);
        assert_eq!(counter.checked(u64::MAX).await, Err(AskError::Handler(Overflow)));
        let other = rt.spawn(Counter::new).on(ShardId::new(0)).await?;
        assert_eq!(counter.relay(other.clone()).await?, 8);
        assert_eq!(counter.add(3).into_args(), (3,));
        assert_eq!(counter.stop().await, ExitReason::Stopped);
        assert_eq!(counter.add(1).await, Err(AskError::Closed));
        assert!(rt.shutdown().await.is_clean());
        assert_eq!(other.closed().await, ExitReason::ShardDown);
        Ok(())
    })
}

#[test]
fn a_panic_says_what_and_where() {
    let rt = runtime(1);
    rt.block_on(async {
        let counter = rt.spawn(Counter::new).await.expect("spawned");
        let witness = rt.spawn(Counter::new).await.expect("spawned");
        match counter.boom("on purpose".into()).await {
            Err(AskError::Died(ExitReason::Panicked { message, location })) => {
                assert_eq!(&*message, "on purpose");
                assert!(location.expect("location").contains("api.rs"));
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(witness.add(1).await, Ok(1));
    });
}

#[test]
fn asks_time_out_on_and_off_the_shards() {
    let rt = runtime(2);
    rt.block_on(async {
        let counter = rt.spawn(Counter::new).await.expect("spawned");
        let limit = Duration::from_millis(20);
        let running = counter.sleepy(Duration::from_millis(200)).timeout(limit).await.expect_err("too slow");
        assert!(matches!(running, AskError::Timeout { .. }) && running.was_delivered());
        let queued = counter.add(1).timeout(limit).await.expect_err("behind it");
        assert!(matches!(queued, AskError::Timeout { .. }) && !queued.was_delivered());
        assert_eq!(counter.total().await, Ok(0));
    });
}

#[test]
fn start_failures_reach_the_askers_and_build_failures_the_spawner() {
    let rt = runtime(1);
    rt.block_on(async {
        let counter = rt
            .spawn(|| Counter { total: Rc::new(Cell::new(404)), started: false })
            .await
            .expect("the state is built, the start hook comes after");
        match counter.total().await {
            Err(AskError::Died(ExitReason::Failed(error))) => {
                assert_eq!(error.to_string(), "no start")
            }
            Err(AskError::Closed) => {}
            other => panic!("{other:?}"),
        }
        assert!(matches!(counter.closed().await, ExitReason::Failed(_)));
        let failed = rt.spawn(|| Err::<Counter, _>("no counter")).await.expect_err("failed");
        assert_eq!(failed.to_string(), "the actor's state could not be built: no counter");
        let failed = rt
            .spawn_async(|| async {
                tokio::time::sleep(Duration::from_millis(1)).await;
                Err::<Counter, _>(StartError)
            })
            .await
            .expect_err("failed");
        assert!(matches!(failed, SpawnError::Failed(_)));
        let panicked = rt.spawn(|| -> Counter { panic!("constructor") }).await.expect_err("panicked");
        assert!(matches!(panicked, SpawnError::Ended(ExitReason::Panicked { .. })));
        let built = rt
            .spawn_async(|| async {
                let state = Rc::new(Cell::new(3));
                tokio::task::yield_now().await;
                Ok::<_, StartError>(Counter { total: state, started: false })
            })
            .await
            .expect("built");
        assert_eq!(built.total().await, Ok(3));
        let foreign = rt.spawn(Counter::new).on(ShardId::new(9)).await.expect_err("no such shard");
        assert!(matches!(foreign, SpawnError::NoSuchShard { shards: 1, .. }));
        let capacity = rt.spawn(Counter::new).mailbox(0).await.expect_err("no capacity");
        assert!(matches!(capacity, SpawnError::NoCapacity));
    });
}

#[test]
fn a_plain_thread_asks_blocking_and_a_shard_refuses_to() {
    let rt = runtime(1);
    let counter = rt.block_on(async { rt.spawn(Counter::new).await }).expect("spawned");
    assert_eq!(counter.add(2).blocking(), Ok(2));
    assert!(counter.add(2).tell().blocking().is_ok());
    let slow = counter.sleepy(Duration::from_secs(5)).timeout(Duration::from_millis(20)).blocking();
    assert!(matches!(slow, Err(AskError::Timeout { delivered: true })));
    let refused = rt.block_on(async {
        let handle = rt
            .spawn_fn(move |mut inbox: Inbox<std::sync::mpsc::Sender<bool>>, _| async move {
                while let Some(answer) = inbox.recv().await {
                    _ = answer.send(counter.add(1).blocking() == Err(AskError::OnShard));
                }
            })
            .await
            .expect("spawned");
        let (answer, answered) = std::sync::mpsc::channel();
        handle.send(answer).await.expect("received");
        answered.recv_timeout(Duration::from_secs(10)).expect("answer")
    });
    assert!(refused);
}

#[test]
fn dropping_a_runtime_in_async_code_is_safe() {
    let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("tokio");
    tokio.block_on(async {
        let rt = runtime(2);
        let counter = rt.spawn(Counter::new).await.expect("spawned");
        assert_eq!(counter.add(1).await, Ok(1));
        drop(rt);
        assert!(counter.is_closed());
        assert_eq!(counter.closed().await, ExitReason::ShardDown);
    });
}

#[actor_tokio::main(cores = 1)]
async fn entry() -> u32 {
    let handle = RuntimeHandle::current();
    let counter = handle.spawn(Counter::new).await.expect("spawned");
    counter.add(41).await.expect("answer") as u32 + 1
}

#[test]
fn main_runs_in_a_runtime() {
    assert_eq!(entry(), 42);
}
