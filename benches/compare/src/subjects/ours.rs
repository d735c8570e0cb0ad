//! This project's own handles: `ShardedRuntime` with two shards, an actor on each.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
    mpsc,
};

use actor_tokio::prelude::*;
use tokio::{sync::oneshot, task::JoinSet};

use crate::subject::{Job, Place, Setup, Subject, work};

/// With a way to spin before sleep.
#[derive(Clone, Copy)]
pub struct Ours {
    pub spin: Spin,
    pub callers: Callers,
}

/// What asks when many ask at once.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Callers {
    Actors,
    Tasks,
}

#[actor]
pub struct Echo {
    sum: u64,
}

#[actor]
impl Echo {
    pub fn add(&mut self, by: u64) -> u64 {
        self.sum = self.sum.wrapping_add(by);
        self.sum
    }
}

/// Runs a client's code in a handler.
#[actor]
struct Client;

#[actor]
impl Client {
    pub async fn run(&mut self, job: Job<()>) {
        job.await;
    }
}

const CLIENT: ShardId = ShardId::new(0);

impl Subject for Ours {
    type Ref = EchoHandle;

    fn run<T: Send + 'static>(&self, setup: &Setup, client: impl FnOnce(EchoHandle) -> Job<T> + Send + 'static) -> T {
        let Setup { cpus, place, mailbox, busy } = *setup;
        let rt = ShardedRuntime::builder()
            .core_ids([cpus.client, cpus.actor])
            .pin(Pin::Always)
            .ring_capacity(mailbox)
            .spin(self.spin)
            .build()
            .expect("two shards");
        let stop = Arc::new(AtomicBool::new(false));
        let (done, is_done) = mpsc::channel();
        let shard = if place == Place::Same { CLIENT } else { ShardId::new(1) };
        let _actors = rt.block_on(async {
            let echo = rt.spawn(|| Echo { sum: 0 }).on(shard).mailbox(mailbox).await.expect("an actor");
            let mut workers = Vec::new();
            for shard in rt.shard_ids().filter(|_| busy) {
                let stop = stop.clone();
                workers.push(rt.spawn_fn(|_: Inbox<()>, _| work(stop)).on(shard).await.expect("an actor"));
            }
            let job = client(echo);
            let runner = rt.spawn(|| Client).on(CLIENT).await.expect("an actor");
            let job = Box::pin(async move { _ = done.send(job.await) });
            runner.run(job).tell().await.expect("it lives");
            (runner, workers)
        });
        let outcome = is_done.recv().expect("the client's outcome");
        stop.store(true, Ordering::Relaxed);
        rt.block_on(rt.shutdown());
        outcome
    }

    async fn together(&self, jobs: Vec<Job<()>>) {
        if self.callers == Callers::Tasks {
            let mut tasks = JoinSet::new();
            for job in jobs {
                tasks.spawn_local(job);
            }
            tasks.join_all().await;
            return;
        }
        let rt = RuntimeHandle::current();
        let mut callers = Vec::new();
        let mut ends = Vec::new();
        for job in jobs {
            let caller = rt.spawn(|| Client).on(CLIENT).await.expect("an actor");
            let (end, ended) = oneshot::channel();
            let job = Box::pin(async move {
                job.await;
                _ = end.send(());
            });
            caller.run(job).tell().await.expect("it lives");
            callers.push(caller);
            ends.push(ended);
        }
        for ended in ends {
            ended.await.expect("a caller's end");
        }
    }

    async fn tell(actor: &EchoHandle, by: u64) {
        actor.add(by).tell().await.expect("it lives");
    }

    async fn ask(actor: &EchoHandle, by: u64) -> u64 {
        actor.add(by).await.expect("it lives")
    }
}
