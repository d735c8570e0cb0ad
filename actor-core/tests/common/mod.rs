//! A host by hand: shards of one thread, driven turn by turn, with a clock that a test moves.
#![allow(dead_code, reason = "each test target uses its part")]

pub mod threads;

use std::{
    cell::{Cell, RefCell},
    future::Future,
    ops::Deref,
    pin::{Pin, pin},
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
};

use actor_core::{
    Actor, Call, Cx, Domain, DomainConfig, ExitReason, Handle, Mailbox, Method, Overflow, Shard, ShardId, TellFailure,
    Turn, Typed,
    port::{Clock, Driver, Host, Nanos, Notify, Report},
};

/// Counts its notifications.
#[derive(Default)]
pub struct Bell(pub AtomicU64);

impl Notify for Bell {
    fn notify(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Bell {
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}

#[derive(Clone, Default)]
pub struct HandClock(pub Rc<Cell<u64>>);

impl Clock for HandClock {
    fn now(&self) -> Nanos {
        Nanos(self.0.get())
    }
}

#[derive(Clone, Default)]
pub struct Log(pub Rc<RefCell<Vec<String>>>);

impl Driver for Log {
    fn report(&self, report: Report<'_>) {
        self.0.borrow_mut().push(match report {
            Report::TellFailed { kind, method, error, .. } => format!("{kind}.{method}: {error:?}"),
            Report::ActorFailed { kind, reason, .. } => format!("{kind}: {reason}"),
            Report::Evicted { kind, policy, count, .. } => format!("{kind} {policy}: {count}"),
            _ => String::new(),
        });
    }
}

/// A shard with what its test looks at.
pub struct HandShard {
    pub shard: Shard,
    pub bell: Arc<Bell>,
    pub clock: HandClock,
    pub log: Log,
}

impl HandShard {
    pub fn new(number: u16) -> Self {
        Self::with(DomainConfig::new(ShardId::new(number)))
    }

    pub fn with(config: DomainConfig) -> Self {
        let (bell, clock, log) = (Arc::new(Bell::default()), HandClock::default(), Log::default());
        let shard = Domain::new(config).expect("domain").bind(Host {
            notify: bell.clone(),
            clock: Box::new(clock.clone()),
            driver: Box::new(log.clone()),
            choose: None,
        });
        Self { shard, bell, clock, log }
    }

    /// Turns until nothing is ready.
    pub fn settle(&self) -> Turn {
        loop {
            let turn = self.shard.turn();
            if turn != Turn::More {
                return turn;
            }
        }
    }

    pub fn advance(&self, nanos: u64) {
        self.clock.0.set(self.clock.0.get() + nanos);
    }
}

/// Counts its wakes.
#[derive(Default)]
pub struct Flag(pub AtomicU64);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Polls `future` from outside and runs the shards in between until it is done.
pub fn finish<F: Future>(shards: &[&HandShard], future: F) -> F::Output {
    let mut future = pin!(future);
    for _ in 0..10_000 {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return output;
        }
        for shard in shards {
            shard.settle();
        }
    }
    panic!("the future is not done after 10,000 rounds");
}

/// Polls once.
pub fn poll<F: Future + Unpin>(future: &mut F, waker: &Waker) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(waker))
}

/// An actor whose handler is whatever closure the message carries: the one actor that these tests need.
pub struct Cell0 {
    pub value: u64,
    pub stop_log: Option<Arc<std::sync::Mutex<Vec<String>>>>,
}

impl Cell0 {
    pub fn new() -> Self {
        Self { value: 0, stop_log: None }
    }
}

#[derive(Clone)]
pub struct Cell0Handle(Handle<Cell0>);

impl From<Handle<Cell0>> for Cell0Handle {
    fn from(handle: Handle<Cell0>) -> Self {
        Self(handle)
    }
}

impl Deref for Cell0Handle {
    type Target = Handle<Cell0>;
    fn deref(&self) -> &Handle<Cell0> {
        &self.0
    }
}

impl Typed for Cell0 {
    type Handle = Cell0Handle;
    const NAME: &'static str = "Cell0";
    const MAILBOX: Option<usize> = None;
}

impl Actor for Cell0 {
    const HAS_ON_STOP: bool = true;

    async fn on_stop(&mut self, reason: &ExitReason, _: &mut Cx<Self>) {
        if let Some(log) = &self.stop_log {
            log.lock().expect("log").push(format!("{}: {reason}", self.value));
        }
    }

    fn on_error(&mut self, failure: &TellFailure<'_>) -> bool {
        self.value == 99 && failure.method() == "check"
    }
}

pub type Work = Box<dyn FnOnce(&mut Cell0, &mut Cx<Cell0>) -> u64 + Send>;
pub type AsyncWork =
    Box<dyn for<'a> FnOnce(&'a mut Cell0, &'a mut Cx<Cell0>) -> Pin<Box<dyn Future<Output = u64> + 'a>> + Send>;

pub struct DoSync;
impl Method<Cell0> for DoSync {
    type Args = (Work,);
    type Ok = u64;
    type Err = std::convert::Infallible;
    const NAME: &'static str = "do_sync";
    const SYNC: bool = true;
    async fn run<'a>(actor: &'a mut Cell0, cx: &'a mut Cx<Cell0>, (work,): (Work,)) -> Result<u64, Self::Err> {
        Ok(work(actor, cx))
    }
}

pub struct DoAsync;
impl Method<Cell0> for DoAsync {
    type Args = (AsyncWork,);
    type Ok = u64;
    type Err = std::convert::Infallible;
    const NAME: &'static str = "do_async";
    const SYNC: bool = false;
    async fn run<'a>(actor: &'a mut Cell0, cx: &'a mut Cx<Cell0>, (work,): (AsyncWork,)) -> Result<u64, Self::Err> {
        Ok(work(actor, cx).await)
    }
}

pub struct Check;
impl Method<Cell0> for Check {
    type Args = (u64, [u64; 8]);
    type Ok = u64;
    type Err = String;
    const NAME: &'static str = "check";
    const SYNC: bool = true;
    async fn run<'a>(actor: &'a mut Cell0, _: &'a mut Cx<Cell0>, args: (u64, [u64; 8])) -> Result<u64, String> {
        if args.0 > 10 { Err(format!("{} is too much", args.0)) } else { Ok(actor.value + args.1.iter().sum::<u64>()) }
    }
}

impl Cell0Handle {
    pub fn run(&self, work: impl FnOnce(&mut Cell0, &mut Cx<Cell0>) -> u64 + Send + 'static) -> Call<(Work,), u64> {
        self.0.call::<DoSync>((Box::new(work),))
    }

    pub fn run_async(
        &self,
        work: impl for<'a> FnOnce(&'a mut Cell0, &'a mut Cx<Cell0>) -> Pin<Box<dyn Future<Output = u64> + 'a>>
        + Send
        + 'static,
    ) -> Call<(AsyncWork,), u64> {
        self.0.call::<DoAsync>((Box::new(work),))
    }

    pub fn add(&self, by: u64) -> Call<(Work,), u64> {
        self.run(move |cell, _| {
            cell.value += by;
            cell.value
        })
    }

    pub fn check(&self, n: u64) -> Call<(u64, [u64; 8]), u64, String> {
        self.0.call::<Check>((n, [1; 8]))
    }
}

/// A future that is pending until it is opened.
#[derive(Clone, Default)]
pub struct Gate(Arc<std::sync::Mutex<(bool, Vec<Waker>)>>);

impl Gate {
    pub fn open(&self) {
        let mut state = self.0.lock().expect("gate");
        state.0 = true;
        for waker in state.1.drain(..) {
            waker.wake();
        }
    }
}

impl Future for Gate {
    type Output = ();
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.0.lock().expect("gate");
        if state.0 {
            return Poll::Ready(());
        }
        state.1.push(cx.waker().clone());
        Poll::Pending
    }
}

/// Starts a cell and settles.
pub fn spawn(shard: &HandShard, mailbox: Option<usize>) -> Cell0Handle {
    finish(&[shard], shard.shard.remote().spawn(mailbox, Cell0::new)).expect("spawned")
}

/// Starts a cell with this mailbox and settles.
pub fn spawn_with(shard: &HandShard, capacity: usize, overflow: Overflow) -> Cell0Handle {
    let mailbox = Mailbox { capacity: Some(capacity), overflow: Some(overflow) };
    finish(&[shard], shard.shard.remote().spawn(mailbox, Cell0::new)).expect("spawned")
}

/// Keeps the cell in a handler until the gate is opened.
pub fn occupy(shard: &HandShard, cell: &Cell0Handle) -> Gate {
    let gate = Gate::default();
    let held = gate.clone();
    let work = cell.run_async(move |_, _| {
        Box::pin(async move {
            held.await;
            0
        })
    });
    work.try_tell().expect("room");
    shard.settle();
    gate
}

/// Every message that reached a shard is somewhere.
#[track_caller]
pub fn assert_accounted(shards: &[&HandShard]) {
    for shard in shards {
        shard.settle();
        let stats = shard.shard.stats();
        assert_eq!(stats.received, stats.handled + stats.returned + stats.evicted + stats.queued, "{stats:?}");
    }
}

/// The numbers of the messages that cells have handled, in their order.
#[derive(Clone, Default)]
pub struct Order(Arc<std::sync::Mutex<Vec<u64>>>);

impl Order {
    pub fn call(&self, cell: &Cell0Handle, n: u64) -> Call<(Work,), u64> {
        let order = self.clone();
        cell.run(move |_, _| {
            order.0.lock().expect("order").push(n);
            n
        })
    }

    pub fn seen(&self) -> Vec<u64> {
        self.0.lock().expect("order").clone()
    }
}
