//! The domain: one shard's memory and queues. `Send` until it is bound to its thread, `!Send` from then on.
//!
//! Both halves, and that no part is `Sync`, are asserted at the end of this file.

use std::{cell::RefCell, collections::VecDeque, error::Error, fmt, rc::Rc, sync::atomic::Ordering, time::Duration};

use super::{Activation, Core, Request, Spin, Stats, requests::promise, turn::InTurn};
use crate::{
    ExitReason, ShardId,
    envelope::Envelope,
    id::MAX_PORTS,
    life::panic::capture,
    port::{Host, Nanos},
    slot::{Lease, Port, Slot, Stopping},
};

/// What a domain is made with.
#[derive(Clone, Debug)]
pub struct DomainConfig {
    /// The shard's number in its runtime.
    pub shard: ShardId,
    /// Messages that an actor's mailbox holds unless its spawn says otherwise.
    pub mailbox_capacity: u32,
    /// Messages that the ring into the shard holds; rounded up to a power of two, at least 2, at most 2^20.
    pub ring_capacity: usize,
    /// How long an ask may take unless it says otherwise; `None` for any time.
    pub ask_timeout: Option<Duration>,
    /// How long a turn may run before it lets others run.
    pub slice: Duration,
    /// Whether the shard looks on for a moment before it sleeps.
    pub spin: Spin,
}

impl DomainConfig {
    /// The defaults: mailbox 256, ring 1,024, asks 30 s, turns 100 µs, [`Spin::Auto`].
    #[must_use]
    pub const fn new(shard: ShardId) -> Self {
        Self {
            shard,
            mailbox_capacity: 256,
            ring_capacity: 1024,
            ask_timeout: Some(Duration::from_secs(30)),
            slice: Duration::from_micros(100),
            spin: Spin::Auto,
        }
    }
}

/// Messages that a ring holds at the most: 64 MiB.
const MAX_RING: usize = 1 << 20;
/// How long a spin before sleep may last.
const LONGEST_SPIN: Duration = Duration::from_millis(10);

/// Why a domain could not be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DomainError {
    /// A capacity is zero.
    NoCapacity {
        /// Which: `"mailbox_capacity"` or `"ring_capacity"`.
        what: &'static str,
    },
    /// The ring is larger than a ring can be.
    RingTooLarge {
        /// What was asked for.
        capacity: usize,
        /// The limit.
        limit: usize,
    },
    /// The spin before sleep would keep the shard's sockets waiting too long.
    SpinTooLong {
        /// What was asked for.
        length: Duration,
        /// The limit.
        limit: Duration,
    },
    /// The process has as many shards as it can name.
    TooManyShards {
        /// The limit, over all runtimes of the process.
        limit: usize,
    },
}

impl fmt::Display for DomainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoCapacity { what } => {
                write!(f, "{what} is 0; it needs room for at least 1 message")
            }
            Self::RingTooLarge { capacity, limit } => write!(
                f,
                "ring_capacity is {capacity}, and {limit} is the most; a full ring blocks nobody, so a smaller one will do"
            ),
            Self::SpinTooLong { length, limit } => write!(
                f,
                "the spin before sleep is {length:?}, and {limit:?} is the most: the shard's sockets wait while it lasts"
            ),
            Self::TooManyShards { limit } => write!(
                f,
                "this process already has {limit} shards, the most that can be addressed; shut a runtime down first"
            ),
        }
    }
}

impl Error for DomainError {}

/// A domain that no thread executes yet. It owns memory and queues, and never an actor: so it may change threads.
pub struct Domain {
    config: DomainConfig,
    /// Present until the domain is bound or dropped.
    lease: Option<Lease>,
}

/// A domain bound to the thread that runs it, with its actors. `!Send`; dropped where it ran.
pub struct Shard {
    pub(super) core: Rc<Core>,
    /// Present until the drop.
    lease: Option<Lease>,
    /// Messages taken from beside the ring and not looked at yet.
    pub(super) held_back: RefCell<VecDeque<Envelope>>,
    /// Actors to be stopped at shutdown, the next one last.
    stop_order: RefCell<Vec<&'static Slot>>,
}

/// Reaches a shard's engine from any thread: starts actors, asks for statistics, begins its shutdown.
#[derive(Clone, Debug)]
pub struct Remote {
    pub(crate) port: &'static Port,
    epoch: u32,
    shard: ShardId,
}

impl Domain {
    /// A new domain.
    ///
    /// # Errors
    ///
    /// If a capacity is zero, the ring is larger than 2^20 messages, the spin longer than 10 ms, or the process has as
    /// many shards as can be addressed (4,096).
    pub fn new(config: DomainConfig) -> Result<Self, DomainError> {
        if config.mailbox_capacity == 0 {
            return Err(DomainError::NoCapacity { what: "mailbox_capacity" });
        }
        if config.ring_capacity == 0 {
            return Err(DomainError::NoCapacity { what: "ring_capacity" });
        }
        if config.ring_capacity > MAX_RING {
            return Err(DomainError::RingTooLarge { capacity: config.ring_capacity, limit: MAX_RING });
        }
        if let Spin::Always(length) = config.spin
            && length > LONGEST_SPIN
        {
            return Err(DomainError::SpinTooLong { length, limit: LONGEST_SPIN });
        }
        let lease = Lease::take(config.ring_capacity).map_err(|_| DomainError::TooManyShards { limit: MAX_PORTS })?;
        let timeout =
            config.ask_timeout.map_or(u64::MAX, |timeout| u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX));
        lease.port().ask_timeout.store(timeout, Ordering::Relaxed);
        lease.port().shard.store(u32::try_from(config.shard.index()).unwrap_or(u32::MAX), Ordering::Relaxed);
        Ok(Self { config, lease: Some(lease) })
    }

    /// What other threads reach the shard by. It works from now on: what is asked before the shard runs, waits.
    #[must_use]
    pub fn remote(&self) -> Remote {
        let lease = self.lease.as_ref().expect("present until the domain is bound");
        Remote { port: lease.port(), epoch: lease.epoch(), shard: self.config.shard }
    }

    /// Binds the domain to this thread, for good.
    #[must_use]
    pub fn bind(mut self, host: Host) -> Shard {
        let lease = self.lease.take().expect("present until the domain is bound");
        // SAFETY: we hold the lease, and a port that nobody has bound since `Lease::take` has a closed doorbell.
        let core = Rc::new(unsafe { Core::new(lease.port(), lease.epoch(), &self.config, host) });
        // References that went away while nobody held the port have left their slots behind.
        for slot in lease.port().table.iter() {
            core.vacate(slot);
        }
        Shard { core, lease: Some(lease), held_back: RefCell::default(), stop_order: RefCell::default() }
    }
}

impl Drop for Domain {
    fn drop(&mut self) {
        if let Some(lease) = self.lease.take() {
            drop(lease.close_requests());
            lease.close_replies();
            // SAFETY: without a shard there has been no actor, so no permit.
            unsafe { lease.end() };
        }
    }
}

impl Shard {
    /// Makes this thread execute the shard while the guard lives.
    pub fn activate(&self) -> Activation {
        Activation::enter(self.core.clone())
    }

    /// What other threads reach the shard by.
    #[must_use]
    pub fn remote(&self) -> Remote {
        Remote { port: self.core.port, epoch: self.core.epoch(), shard: self.core.shard() }
    }

    /// When the earliest timer is due.
    #[must_use]
    pub fn next_timer(&self) -> Option<Nanos> {
        self.core.next_timer()
    }

    /// The counters.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.core.stats()
    }

    /// Ends all actors at once, without their stop hooks.
    pub fn kill_all(&self) {
        let _activation = self.activate();
        let _in_turn = InTurn::enter(&self.core);
        self.core.kill_all();
    }

    pub(super) fn lease(&self) -> &Lease {
        self.lease.as_ref().expect("present until the drop")
    }

    /// Stops the actor that was started last and still lives, if the shard is shutting down.
    pub(super) fn advance_shutdown(&self) {
        let core = &*self.core;
        if !core.is_closing.get() || core.counters.actors.get() == 0 {
            return;
        }
        let mut order = self.stop_order.borrow_mut();
        loop {
            match order.last() {
                Some(slot) if slot.own.state.is_live() => {
                    if slot.own.stopping.get().is_none() {
                        core.begin_stop(slot, Stopping::ShardDown);
                        core.notify(slot);
                    }
                    return;
                }
                Some(_) => _ = order.pop(),
                None => {
                    order.extend(core.live());
                    order.sort_by_key(|slot| slot.own.born.get());
                }
            }
        }
    }
}

impl Drop for Shard {
    fn drop(&mut self) {
        let _activation = self.activate();
        let _in_turn = InTurn::enter(&self.core);
        self.core.kill_all();
        let lease = self.lease.take().expect("taken here only");
        // Requests may be user code: closures that were never called.
        _ = capture(|| drop(lease.close_requests()));
        self.lease = Some(lease);
        // Every mailbox is closed; senders that had a permit before are about to push, and hold the port until then.
        let table = &self.core.port.table;
        while {
            self.look();
            table.iter().any(|slot| slot.admission.count() > 0)
        } {
            std::thread::yield_now();
        }
        self.look();
        // While the slots are ours.
        self.core.report_evicted();
        let lease = self.lease.take().expect("put back above");
        lease.close_replies();
        // SAFETY: no permit is out: counted just now, and closed words grant none.
        unsafe { lease.end() };
    }
}

impl Core {
    fn kill_all(&self) {
        self.is_closing.set(true);
        let mut live: Vec<_> = self.live().collect();
        live.sort_by_key(|slot| std::cmp::Reverse(slot.own.born.get()));
        for slot in live {
            self.finish(slot, ExitReason::ShardDown);
        }
    }

    fn live(&self) -> impl Iterator<Item = &'static Slot> + '_ {
        self.port.table.iter().filter(|slot| slot.own.state.is_live())
    }
}

impl Remote {
    /// The shard.
    #[must_use]
    pub const fn shard(&self) -> ShardId {
        self.shard
    }

    /// Begins the shutdown: no actor is started any more, and those that live stop one by one, the youngest first.
    /// Turns say [`Turn::Ended`](super::Turn::Ended) when the last has. Returns false if the shard has ended.
    pub fn begin_shutdown(&self) -> bool {
        self.request(Request::new(|core| core.is_closing.set(true))).is_ok()
    }

    /// Ends all actors between two polls, without their stop hooks, and starts none any more.
    pub fn kill_all(&self) -> bool {
        self.request(Request::new(Core::kill_all)).is_ok()
    }

    /// The shard's counters; `None` if it has ended.
    pub fn stats(&self) -> impl Future<Output = Option<Stats>> + Send + use<> {
        let (answer, future) = promise();
        // A refused request drops the promise, which answers `None`.
        _ = self.request(Request::new(move |core| answer.keep(core.stats())));
        future
    }

    /// How many actors the shard has, as of its last turn.
    #[must_use]
    pub fn load(&self) -> u64 {
        self.port.load()
    }

    pub(crate) fn request(&self, request: Request) -> Result<(), Request> {
        self.port.request(self.epoch, request)
    }
}

/// A domain may change threads; a shard and its activation may not; none is shared.
const _: () = {
    const fn is_send<T: Send>() {}
    is_send::<Domain>();
    is_send::<Remote>();
};

/// Holds only for types that are not `Send` (`Sync`): for others both impls apply and the call is ambiguous.
#[allow(dead_code, reason = "compiled, never called")]
mod assert_not {
    use super::{Activation, Domain, Shard};

    trait NotSend<A> {
        fn check() {}
    }
    impl<T: ?Sized> NotSend<()> for T {}
    impl<T: ?Sized + Send> NotSend<u8> for T {}

    trait NotSync<A> {
        fn check() {}
    }
    impl<T: ?Sized> NotSync<()> for T {}
    impl<T: ?Sized + Sync> NotSync<u8> for T {}

    fn asserted() {
        <Shard as NotSend<_>>::check();
        <Activation as NotSend<_>>::check();
        <Shard as NotSync<_>>::check();
        <Activation as NotSync<_>>::check();
        <Domain as NotSync<_>>::check();
    }
}
