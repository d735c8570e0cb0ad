//! Full mailboxes under fire: what was sent was handled, dropped or returned, to the last message, whatever the policy;
//! and no place that anybody holds keeps anything from ending.

#[path = "os/log.rs"]
mod log;

use std::{
    mem,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc,
    },
    thread,
};

use actor_tokio::{Stats, prelude::*};
use tokio::sync::oneshot;

const POLICIES: [Overflow; 4] = [Overflow::Wait, Overflow::Reject, Overflow::DropOldest, Overflow::DropNewest];

/// Counts how many of its kind there are: one goes with each message.
struct Token(Arc<AtomicU64>);

impl Token {
    fn new(count: &Arc<AtomicU64>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count.clone())
    }
}

impl Drop for Token {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[actor]
struct Sink {
    handled: u64,
}

#[actor]
impl Sink {
    pub fn take(&mut self, _token: Token) {
        self.handled += 1;
    }

    /// Lets the mailbox fill meanwhile.
    pub async fn take_slowly(&mut self, _token: Token) {
        tokio::task::yield_now().await;
        self.handled += 1;
    }

    pub fn handled(&self) -> u64 {
        self.handled
    }

    pub async fn wait(&mut self, until: oneshot::Receiver<()>) {
        _ = until.await;
    }
}

/// What its sender knows of each message.
#[derive(Clone, Copy, Debug, Default)]
struct Sent {
    told: u64,
    answered: u64,
    evicted: u64,
    full: u64,
    most: u64,
}

impl Sent {
    fn and(self, other: Self) -> Self {
        Self {
            told: self.told + other.told,
            answered: self.answered + other.answered,
            evicted: self.evicted + other.evicted,
            full: self.full + other.full,
            most: self.most.max(other.most),
        }
    }

    /// Sends one message in one of five ways.
    async fn send(&mut self, to: &SinkHandle, n: u64, alive: &Arc<AtomicU64>) {
        let token = Token::new(alive);
        let call = if n.is_multiple_of(7) { to.take_slowly(token) } else { to.take(token) };
        match n % 5 {
            0 => self.count_ask(call.await),
            1 => match to.reserve().await.expect("open").send(call) {
                Ok(()) => self.told += 1,
                Err(error) => panic!("{error}"),
            },
            2 => match to.try_reserve() {
                Ok(permit) => self.count_ask(permit.ask(call).await),
                Err(TryReserveError::Full) => self.full += 1,
                Err(error) => panic!("{error}"),
            },
            3 => match call.tell().await {
                Ok(()) => self.told += 1,
                Err(TellError::Full(_)) => self.full += 1,
                Err(error) => panic!("{error}"),
            },
            _ => match call.try_tell() {
                Ok(()) => self.told += 1,
                Err(error) => {
                    assert!(error.is_full());
                    self.full += 1;
                }
            },
        }
        self.most = self.most.max(to.clone().queue_len() as u64);
    }

    fn count_ask(&mut self, outcome: Result<(), AskError>) {
        match outcome {
            Ok(()) => self.answered += 1,
            Err(AskError::Evicted) => self.evicted += 1,
            Err(AskError::Full) => self.full += 1,
            Err(error) => panic!("{error}"),
        }
    }
}

#[actor]
struct Source;

#[actor]
impl Source {
    pub async fn send(&self, to: SinkHandle, times: u64, alive: Arc<AtomicU64>) -> Sent {
        let mut sent = Sent::default();
        for n in 0..times {
            sent.send(&to, n, &alive).await;
        }
        sent
    }
}

fn runtime(shards: usize) -> ShardedRuntime {
    ShardedRuntime::builder().cores(shards).pin(Pin::Never).ring_capacity(8).build().expect("runtime")
}

async fn totals(rt: &ShardedRuntime) -> Stats {
    let mut total = Stats::default();
    for stats in rt.handle().stats().await {
        total.received += stats.received;
        total.handled += stats.handled;
        total.returned += stats.returned;
        total.evicted += stats.evicted;
        total.queued += stats.queued;
    }
    total
}

#[test]
fn what_was_sent_was_handled_dropped_or_returned() {
    const PRODUCERS: u64 = 12;
    const TIMES: u64 = 400;
    for policy in POLICIES {
        for capacity in [1, 2, 1024] {
            let rt = runtime(2);
            let alive = Arc::new(AtomicU64::new(0));
            let total = rt.block_on(async {
                let sink = rt.spawn(|| Sink { handled: 0 }).on(ShardId::new(0)).mailbox(capacity).overflow(policy);
                let sink = sink.await.expect("spawned");
                assert_eq!((sink.capacity(), sink.overflow()), (capacity, policy));
                // From plain threads, from both shards, and from this one's tasks.
                let threads: Vec<_> = (0..PRODUCERS / 3)
                    .map(|_| {
                        let (to, alive) = (sink.clone(), alive.clone());
                        thread::spawn(move || {
                            let mut sent = Sent::default();
                            (0..TIMES).for_each(|n| futures::executor::block_on(sent.send(&to, n, &alive)));
                            sent
                        })
                    })
                    .collect();
                let mut sources = Vec::new();
                for n in 0..PRODUCERS / 3 {
                    let shard = ShardId::new(u16::try_from(n % 2).expect("small"));
                    sources.push(rt.spawn(|| Source).on(shard).await.expect("spawned"));
                }
                let asks = sources.iter().map(|source| source.send(sink.clone(), TIMES, alive.clone()));
                let tasks: Vec<_> = (0..PRODUCERS / 3)
                    .map(|_| {
                        let (to, alive) = (sink.clone(), alive.clone());
                        tokio::spawn(async move {
                            let mut sent = Sent::default();
                            for n in 0..TIMES {
                                sent.send(&to, n, &alive).await;
                            }
                            sent
                        })
                    })
                    .collect();
                let mut total = Sent::default();
                for sent in futures::future::join_all(asks).await {
                    total = total.and(sent.expect("answer"));
                }
                for task in tasks {
                    total = total.and(task.await.expect("task"));
                }
                for thread in threads {
                    total = total.and(thread.join().expect("thread"));
                }
                // The last word, into a mailbox that nobody else uses any more.
                let mut dropped_words = 0;
                let handled = loop {
                    match sink.handled().await {
                        Ok(handled) => break handled,
                        Err(AskError::Full) => tokio::task::yield_now().await,
                        Err(AskError::Evicted) => dropped_words += 1,
                        Err(error) => panic!("{error}"),
                    }
                };
                let stats = totals(&rt).await;
                assert_eq!((stats.queued, stats.returned), (0, 0));
                assert_eq!(stats.received, stats.handled + stats.evicted);
                assert_eq!(stats.evicted, sink.evicted());
                // Of a tell that is dropped, the mailbox alone knows.
                let lost = total.told + total.answered - handled;
                assert_eq!(sink.evicted(), total.evicted + lost + dropped_words, "{total:?}");
                total
            });
            assert_eq!(total.told + total.answered + total.evicted + total.full, PRODUCERS * TIMES, "{total:?}");
            assert!(total.most <= capacity as u64, "{total:?} in a mailbox for {capacity}");
            match policy {
                Overflow::Wait | Overflow::Reject => assert_eq!(total.evicted, 0),
                _ => {}
            }
            drop(rt);
            assert_eq!(alive.load(Ordering::Relaxed), 0, "each message's arguments were dropped once");
        }
    }
}

#[test]
fn an_actor_drops_while_it_starts_and_while_it_stops() {
    #[actor(mailbox = 2, overflow = DropNewest)]
    struct Slow {
        seen: Vec<u64>,
        out: mpsc::Sender<SlowHandle>,
        begin: Option<oneshot::Receiver<()>>,
        end: Option<oneshot::Receiver<()>>,
        last: mpsc::Sender<Vec<u64>>,
    }
    #[actor]
    impl Slow {
        #[actor(on_start)]
        async fn begin(&mut self, cx: &mut Cx<Self>) {
            self.out.send(cx.handle()).expect("test");
            if let Some(begin) = self.begin.take() {
                _ = begin.await;
            }
        }
        pub async fn note(&mut self, n: u64) {
            self.seen.push(n);
            if n == 10
                && let Some(end) = self.end.take()
            {
                _ = end.await;
            }
        }
        #[actor(on_stop)]
        fn end(&mut self) {
            self.last.send(self.seen.clone()).expect("test");
        }
    }
    let rt = runtime(1);
    let ((out, handles), (begin, begins)) = (mpsc::channel(), oneshot::channel());
    let ((end, ends), (last, seen)) = (oneshot::channel(), mpsc::channel());
    rt.block_on(async {
        let start = move || Slow { seen: Vec::new(), out, begin: Some(begins), end: Some(ends), last };
        let slow = rt.spawn(start).await.expect("spawned");
        handles.recv().expect("it has begun to start");
        for n in [10, 11, 12, 13] {
            slow.note(n).tell().await.expect("accepted");
        }
        assert_eq!(slow.note(14).await, Err(AskError::Evicted));
        assert_eq!(slow.evicted(), 3);
        begin.send(()).expect("it waits");
        while slow.queue_len() > 1 {
            tokio::task::yield_now().await;
        }
        // It is in the handler of the first, with one message; room for one more.
        let admitted: Vec<_> = (20..25).map(|n| slow.note(n).try_tell()).collect();
        assert!(admitted.iter().all(Result::is_ok));
        let exit = slow.stop();
        assert!(matches!(slow.note(30).try_tell(), Err(TryTellError::Closed(_))));
        end.send(()).expect("it waits");
        assert_eq!(exit.await, ExitReason::Stopped);
        let stats = totals(&rt).await;
        assert_eq!((stats.received, stats.queued), (stats.handled + stats.evicted, 0));
        assert_eq!(stats.evicted, slow.evicted());
        let seen = seen.recv().expect("it has stopped");
        assert_eq!(seen.len() as u64, stats.handled);
        assert_eq!(seen[..3], [10, 11, 20], "{seen:?}");
    });
}

#[test]
fn stops_and_kills_end_whoever_holds_places() {
    let rt = runtime(2);
    rt.block_on(async {
        let (accepted, handled) = (AtomicU64::new(0), AtomicU64::new(0));
        for round in 0..40 {
            let policy = POLICIES[round % 4];
            let sink = rt.spawn(|| Sink { handled: 0 }).mailbox(2).overflow(policy).await.expect("spawned");
            let alive = Arc::new(AtomicU64::new(0));
            let exit = thread::scope(|scope| {
                for producer in 0..3 {
                    let (sink, alive, accepted) = (sink.clone(), &alive, &accepted);
                    scope.spawn(move || {
                        let mut leaked = 0;
                        for n in 0..200 {
                            let Ok(permit) = sink.reserve().blocking() else { break };
                            match (n + producer) % 4 {
                                // One place at most in a mailbox for two, so that the others go on.
                                0 if producer == 0 && leaked == 0 => {
                                    leaked = 1;
                                    mem::forget(permit);
                                }
                                1 => drop(permit),
                                _ => {
                                    let sent = permit.send(sink.take(Token::new(alive)));
                                    accepted.fetch_add(u64::from(sent.is_ok()), Ordering::Relaxed);
                                }
                            }
                        }
                    });
                }
                while sink.queue_len() == 0 && !sink.is_closed() {
                    thread::yield_now();
                }
                if round % 3 == 0 { sink.kill() } else { sink.stop() }
            });
            let reason = exit.await;
            assert_eq!(reason, if round % 3 == 0 { ExitReason::Killed } else { ExitReason::Stopped });
            // What was on its way to one that was killed comes back when it arrives. No place is kept by anybody.
            while sink.queue_len() > 0 {
                tokio::task::yield_now().await;
            }
            handled.fetch_add(sink.evicted(), Ordering::Relaxed);
            drop(sink);
            // Whoever was told `Closed` has its arguments back, and the rest went with the actor.
            while alive.load(Ordering::Relaxed) > 0 {
                tokio::task::yield_now().await;
            }
        }
        let stats = totals(&rt).await;
        assert_eq!(stats.received, accepted.into_inner());
        assert_eq!((stats.received, stats.queued), (stats.handled + stats.returned + stats.evicted, 0));
        assert_eq!(stats.evicted, handled.into_inner());
        // A shutdown, with a place that nobody will ever give back.
        let sink = rt.spawn(|| Sink { handled: 0 }).mailbox(1).await.expect("spawned");
        mem::forget(sink.reserve().await.expect("room"));
        assert!(rt.shutdown().await.is_clean());
        assert!(matches!(sink.reserve().await, Err(ReserveError::Closed)));
    });
}

#[test]
fn the_oldest_waiter_is_served_first_whatever_it_waits_for() {
    let rt = runtime(2);
    rt.block_on(async {
        let sink = rt.spawn(|| Sink { handled: 0 }).mailbox(1).await.expect("spawned");
        let (release, until) = oneshot::channel();
        sink.wait(until).tell().await.expect("accepted");
        while sink.queue_len() > 0 {
            tokio::task::yield_now().await;
        }
        let alive = Arc::new(AtomicU64::new(0));
        sink.take(Token::new(&alive)).try_tell().expect("room");
        let order = std::cell::RefCell::new(Vec::new());
        let note = |n: u32| order.borrow_mut().push(n);
        let waiters = async {
            futures::join!(
                async {
                    sink.take(Token::new(&alive)).tell().await.expect("accepted");
                    note(1);
                },
                async {
                    let permit = sink.reserve().await.expect("room");
                    note(2);
                    tokio::task::yield_now().await;
                    permit.send(sink.take(Token::new(&alive))).expect("a place");
                },
                async {
                    sink.take(Token::new(&alive)).tell().await.expect("accepted");
                    note(3);
                },
                async {
                    drop(sink.reserve().await.expect("room"));
                    note(4);
                },
                async {
                    sink.take(Token::new(&alive)).await.expect("answer");
                    note(5);
                },
                async {
                    tokio::task::yield_now().await;
                    release.send(()).expect("it waits");
                }
            )
        };
        waiters.await;
        assert_eq!(*order.borrow(), [1, 2, 3, 4, 5]);
        assert_eq!(sink.handled().await, Ok(5));
        assert_eq!(alive.load(Ordering::Relaxed), 0);
    });
}

#[test]
fn a_spawn_s_policy_wins_over_the_type_s_in_every_kind_of_spawn() {
    #[actor(mailbox = 4, overflow = DropOldest)]
    struct Kept;
    #[actor]
    impl Kept {
        pub fn child(&self, cx: &mut Cx<Self>) -> Overflow {
            cx.spawn(|| Kept).expect("spawned").overflow()
        }
    }
    let rt = runtime(1);
    rt.block_on(async {
        let kept = rt.spawn(|| Kept).await.expect("spawned");
        assert_eq!((kept.overflow(), kept.capacity()), (Overflow::DropOldest, 4));
        assert_eq!(kept.child().await, Ok(Overflow::DropOldest));
        for policy in POLICIES {
            let one = rt.spawn(|| Kept).overflow(policy).await.expect("spawned");
            let other = rt.spawn_async(|| async { Kept }).overflow(policy).mailbox(9).await.expect("spawned");
            assert_eq!((one.overflow(), one.capacity()), (policy, 4));
            assert_eq!((other.overflow(), other.capacity()), (policy, 9));
            let inbox = rt.spawn_fn(|mut inbox: Inbox<u8>, _| async move { while inbox.recv().await.is_some() {} });
            let inbox = inbox.overflow(policy).await.expect("spawned");
            assert_eq!((inbox.overflow(), inbox.capacity()), (policy, 256));
        }
        let plain = rt.spawn_fn(|mut inbox: Inbox<u8>, _| async move { while inbox.recv().await.is_some() {} });
        assert_eq!(plain.await.expect("spawned").overflow(), Overflow::Wait);
    });
}

#[test]
fn a_mailbox_that_drops_says_so_in_one_warning_a_turn() {
    let warnings = log::Warnings::collect();
    let rt = runtime(1);
    rt.block_on(async {
        let sink = rt.spawn(|| Sink { handled: 0 }).mailbox(1).overflow(Overflow::DropNewest).await.expect("spawned");
        let (release, until) = oneshot::channel();
        sink.wait(until).tell().await.expect("accepted");
        while sink.queue_len() > 0 {
            tokio::task::yield_now().await;
        }
        let alive = Arc::new(AtomicU64::new(0));
        for _ in 0..100 {
            sink.take(Token::new(&alive)).tell().await.expect("accepted");
        }
        assert_eq!(sink.take(Token::new(&alive)).await, Err(AskError::Evicted));
        release.send(()).expect("it waits");
        // To the end of the shard's last turn.
        assert!(rt.shutdown().await.is_clean());
        let (id, mut counted) = (sink.id().to_string(), 0);
        for warning in warnings.take().iter().filter(|text| text.contains(&id)) {
            assert!(warning.contains("kind=\"Sink\"") && warning.contains("policy=DropNewest"), "{warning}");
            let count = warning.split("count=").nth(1).and_then(|rest| rest.split(' ').next()).expect("a count");
            counted += count.parse::<u64>().expect("a number");
        }
        assert_eq!((counted, sink.evicted()), (100, 100));
    });
}
