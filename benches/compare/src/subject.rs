//! What a subject of the comparison can do, and how the others than ours are run.

use std::{
    future::{Future, poll_fn},
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    task::Poll,
    thread,
    time::Duration,
};

use tokio::{
    runtime::Builder,
    sync::oneshot,
    task::{JoinHandle, LocalSet},
};

use crate::{
    cpus::{Pair, pin},
    ticks,
};

pub type Job<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Where the client and its actor are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// On one thread ("St").
    Same,
    /// On two pinned threads ("X").
    Across,
}

#[derive(Clone, Copy)]
pub struct Setup {
    pub cpus: Pair,
    pub place: Place,
    /// Of the actor's mailbox, where that is bounded.
    pub mailbox: usize,
    /// On each thread somebody works for 1 µs a poll and wakes itself, all the time.
    pub busy: bool,
}

/// A framework, or a channel used as one: its actor adds what it is sent and answers the sum.
pub trait Subject: Clone + Send + Sync + 'static {
    type Ref: Clone + Send + Sync + 'static;

    /// Runs `client` with a reference to a new actor.
    fn run<T: Send + 'static>(&self, setup: &Setup, client: impl FnOnce(Self::Ref) -> Job<T> + Send + 'static) -> T;

    /// Runs these at once, on the client's thread.
    fn together(&self, jobs: Vec<Job<()>>) -> impl Future<Output = ()> + Send;

    fn tell(actor: &Self::Ref, by: u64) -> impl Future<Output = ()> + Send;

    fn ask(actor: &Self::Ref, by: u64) -> impl Future<Output = u64> + Send;
}

/// Whether a framework's tasks must be local ones.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Tasks {
    Send,
    Local,
}

/// Runs `client` with what `start` made, in current-thread Tokio runtimes on pinned threads.
pub fn run_on_tokio<R: Send + 'static, T: Send + 'static>(
    tasks: Tasks,
    setup: &Setup,
    start: impl Future<Output = R> + Send + 'static,
    client: impl FnOnce(R) -> Job<T> + Send + 'static,
) -> T {
    let Setup { cpus, place, busy, .. } = *setup;
    let stop = Arc::new(AtomicBool::new(!busy));
    let begin = move |stop: &Arc<AtomicBool>| {
        if busy {
            drop(spawn(tasks, Box::pin(work(stop.clone()))));
        }
    };
    if place == Place::Same {
        let whole = async move {
            begin(&stop);
            let outcome = client(start.await).await;
            stop.store(true, Ordering::Relaxed);
            outcome
        };
        return on_thread(cpus.client, tasks, Box::pin(whole)).join().expect("the client's thread");
    }
    let (started, has_started) = mpsc::channel();
    let (end, ended) = oneshot::channel::<()>();
    let actor_stop = stop.clone();
    let actor = on_thread(
        cpus.actor,
        tasks,
        Box::pin(async move {
            begin(&actor_stop);
            started.send(start.await).expect("the client waits");
            _ = ended.await;
        }),
    );
    let actor_ref = has_started.recv().expect("the actor starts");
    let client_stop = stop.clone();
    let client = on_thread(
        cpus.client,
        tasks,
        Box::pin(async move {
            begin(&client_stop);
            client(actor_ref).await
        }),
    );
    let outcome = client.join().expect("the client's thread");
    stop.store(true, Ordering::Relaxed);
    drop(end);
    actor.join().expect("the actor's thread");
    outcome
}

/// Runs these at once as Tokio tasks.
pub async fn together_on_tokio(tasks: Tasks, jobs: Vec<Job<()>>) {
    let tasks: Vec<_> = jobs.into_iter().map(|job| spawn(tasks, job)).collect();
    for task in tasks {
        task.await.expect("a caller's task");
    }
}

/// Works for 1 µs a poll and wakes itself, until `stop`.
pub async fn work(stop: Arc<AtomicBool>) {
    poll_fn(|cx| {
        if stop.load(Ordering::Relaxed) {
            return Poll::Ready(());
        }
        ticks::burn(Duration::from_micros(1));
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

fn spawn<T: Send + 'static>(tasks: Tasks, job: Job<T>) -> JoinHandle<T> {
    match tasks {
        Tasks::Send => tokio::spawn(job),
        Tasks::Local => tokio::task::spawn_local(job),
    }
}

fn on_thread<T: Send + 'static>(cpu: usize, tasks: Tasks, job: Job<T>) -> thread::JoinHandle<T> {
    thread::spawn(move || {
        pin(cpu);
        let runtime = Builder::new_current_thread().enable_all().build().expect("a Tokio runtime");
        // A task: the root future of a runtime is polled by other rules.
        match tasks {
            Tasks::Send => runtime.block_on(async { spawn(tasks, job).await }),
            Tasks::Local => runtime.block_on(LocalSet::new().run_until(async { spawn(tasks, job).await })),
        }
        .expect("the task")
    })
}
