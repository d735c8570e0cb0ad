//! Exact accounting: what was sent was handled or returned, whoever sent it; what was started has stopped.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use actor_tokio::{Stats, prelude::*};

#[actor]
struct Sum {
    total: u64,
}

#[actor]
impl Sum {
    pub fn add(&mut self, by: u64) -> u64 {
        self.total += by;
        self.total
    }

    pub async fn add_later(&mut self, by: u64) -> u64 {
        tokio::task::yield_now().await;
        self.total += by;
        self.total
    }

    /// Asks `to` once for each of `times`.
    pub async fn relay(&mut self, to: SumHandle, times: u64) -> u64 {
        let mut answered = 0;
        for n in 0..times {
            let answer = if n % 2 == 0 { to.add(1).await } else { to.add_later(1).await };
            answered += u64::from(answer.is_ok());
        }
        answered
    }
}

fn runtime(shards: usize) -> ShardedRuntime {
    ShardedRuntime::builder()
        .cores(shards)
        .pin(Pin::Never)
        .mailbox_capacity(16)
        .ring_capacity(8)
        .build()
        .expect("runtime")
}

async fn totals(rt: &ShardedRuntime) -> Stats {
    let mut total = Stats::default();
    for stats in rt.handle().stats().await {
        assert_eq!(stats.received, stats.handled + stats.returned + stats.queued, "{stats:?}");
        total.actors += stats.actors;
        total.spawned += stats.spawned;
        total.received += stats.received;
        total.handled += stats.handled;
        total.returned += stats.returned;
        total.queued += stats.queued;
    }
    total
}

#[test]
fn four_kinds_of_callers_at_once() {
    const TIMES: u64 = 3_000;
    let rt = runtime(2);
    let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("tokio");
    rt.block_on(async {
        let target = rt.spawn(|| Sum { total: 0 }).on(ShardId::new(0)).await.expect("spawned");
        let near = rt.spawn(|| Sum { total: 0 }).on(ShardId::new(0)).await.expect("spawned");
        let far = rt.spawn(|| Sum { total: 0 }).on(ShardId::new(1)).await.expect("spawned");
        let answered = Arc::new(AtomicU64::new(0));
        // A plain thread.
        let (to, count) = (target.clone(), answered.clone());
        let plain = thread::spawn(move || {
            for _ in 0..TIMES {
                to.add(1).blocking().expect("answer");
                count.fetch_add(1, Ordering::Relaxed);
            }
        });
        // A multi-thread runtime.
        let workers: Vec<_> = (0..4)
            .map(|_| {
                let (to, count) = (target.clone(), answered.clone());
                tokio.spawn(async move {
                    for _ in 0..TIMES {
                        to.add_later(1).await.expect("answer");
                        count.fetch_add(1, Ordering::Relaxed);
                    }
                })
            })
            .collect();
        // The same shard and another one.
        let (same, other) = futures::join!(near.relay(target.clone(), TIMES), far.relay(target.clone(), TIMES));
        assert_eq!((same, other), (Ok(TIMES), Ok(TIMES)));
        for worker in workers {
            worker.await.expect("worker");
        }
        plain.join().expect("plain thread");
        let sent = answered.load(Ordering::Relaxed) + 2 * TIMES;
        assert_eq!(target.add(0).await, Ok(sent));
        let total = totals(&rt).await;
        assert_eq!((total.received, total.handled, total.returned), (sent + 3, sent + 3, 0));
    });
}

#[test]
fn stops_and_kills_under_fire_lose_no_message() {
    let rt = runtime(2);
    rt.block_on(async {
        let (accepted, answered, died) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
        for round in 0..40 {
            let target = rt.spawn(|| Sum { total: 0 }).await.expect("spawned");
            thread::scope(|scope| {
                for sender in 0..3 {
                    let (target, accepted, answered, died) = (target.clone(), &accepted, &answered, &died);
                    scope.spawn(move || {
                        for n in 0..400u64 {
                            if (n + sender) % 3 == 0 {
                                match target.add(1).blocking() {
                                    Ok(_) => answered.fetch_add(1, Ordering::Relaxed),
                                    Err(AskError::Died(_)) => died.fetch_add(1, Ordering::Relaxed),
                                    Err(AskError::Closed) => 0,
                                    Err(error) => panic!("{error:?}"),
                                };
                            } else if target.add(1).tell().blocking().is_ok() {
                                accepted.fetch_add(1, Ordering::Relaxed);
                            }
                        }
                    });
                }
                while target.queue_len() == 0 && !target.is_closed() {
                    thread::yield_now();
                }
                drop(if round % 2 == 0 { target.stop() } else { target.kill() });
            });
            target.closed().await;
        }
        let total = totals(&rt).await;
        let accepted = accepted.into_inner() + answered.into_inner() + died.into_inner();
        assert_eq!(total.received, accepted);
        assert_eq!((total.queued, total.actors), (0, 0));
    });
}

#[test]
fn a_hundred_thousand_actors_come_and_go() {
    const ACTORS: usize = 100_000;
    let rt = runtime(2);
    rt.block_on(async {
        let mut handles = Vec::with_capacity(ACTORS);
        let mut starting = Vec::new();
        for _ in 0..ACTORS / 1000 {
            starting.extend((0..1000).map(|_| rt.spawn(|| Sum { total: 0 }).into_future()));
            for spawned in starting.drain(..) {
                handles.push(spawned.await.expect("spawned"));
            }
        }
        for handle in &handles {
            handle.add(1).tell().await.expect("accepted");
        }
        let total = totals(&rt).await;
        assert_eq!((total.actors, total.spawned), (ACTORS as u64, ACTORS as u64));
        let exits: Vec<_> = handles.iter().map(|handle| handle.closed()).collect();
        drop(handles);
        for exit in exits {
            assert_eq!(exit.await, ExitReason::Normal);
        }
        let total = totals(&rt).await;
        assert_eq!((total.actors, total.received, total.handled), (0, ACTORS as u64, ACTORS as u64));
        let again = rt.spawn(|| Sum { total: 5 }).await.expect("spawned");
        assert_eq!(again.add(1).await, Ok(6));
        assert!(rt.shutdown().await.is_clean());
    });
}

#[test]
fn one_sender_s_messages_keep_their_order_by_every_road() {
    #[actor]
    struct Order {
        next: u64,
    }
    #[actor]
    impl Order {
        pub fn number(&mut self, n: u64) -> bool {
            let in_order = n == self.next;
            self.next = n + 1;
            assert!(in_order, "{n} came when {} was due", self.next);
            in_order
        }
    }
    let rt = runtime(2);
    rt.block_on(async {
        let order = rt.spawn(|| Order { next: 0 }).await.expect("spawned");
        let mut n = 0;
        while n < 30_000 {
            // Room or not, awaited or not: one sender, one order.
            match n % 3 {
                0 => order.number(n).tell().await.expect("accepted"),
                1 => assert_eq!(order.number(n).await, Ok(true)),
                _ => {
                    if let Err(error) = order.number(n).try_tell() {
                        assert!(error.is_full());
                        continue;
                    }
                }
            }
            n += 1;
        }
        assert_eq!(order.number(n).await, Ok(true));
    });
}

#[test]
fn all_to_all_with_capacity_one_finishes() {
    #[actor(mailbox = 1)]
    struct Node {
        peers: Vec<NodeHandle>,
        seen: u64,
    }
    #[actor]
    impl Node {
        pub fn meet(&mut self, peers: Vec<NodeHandle>) {
            self.peers = peers;
        }
        pub fn hello(&mut self) {
            self.seen += 1;
        }
        pub fn seen(&self) -> u64 {
            self.seen
        }
        /// Says hello from a task, so that the node itself goes on handling.
        pub fn shout(&mut self, times: u64) {
            for peer in self.peers.clone() {
                tokio::task::spawn_local(async move {
                    for _ in 0..times {
                        peer.hello().tell().await.expect("accepted");
                    }
                });
            }
        }
    }
    const NODES: u16 = 4;
    const TIMES: u64 = 500;
    let rt = runtime(usize::from(NODES));
    rt.block_on(async {
        let mut nodes = Vec::new();
        for shard in 0..NODES {
            let node = rt.spawn(|| Node { peers: Vec::new(), seen: 0 }).on(ShardId::new(shard)).await.expect("spawned");
            nodes.push(node);
        }
        for node in &nodes {
            node.meet(nodes.clone()).await.expect("met");
        }
        for node in &nodes {
            node.shout(TIMES).await.expect("shouted");
        }
        for node in &nodes {
            while node.seen().await.expect("answer") < TIMES * u64::from(NODES) {
                tokio::task::yield_now().await;
            }
        }
        for node in &nodes {
            node.meet(Vec::new()).await.expect("parted");
        }
    });
}
