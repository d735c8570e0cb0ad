//! A runtime being put together.

use std::{fmt, sync::Arc, time::Duration};

use actor_core::{Domain, DomainConfig, ShardId, Spin, port::set_outside_timer};
use crossbeam_channel::{bounded, unbounded};

use crate::{
    BuildError, Pin, RuntimeHandle, ShardedRuntime,
    bell::Doorbell,
    blocking,
    cpus::{Affinity, Machine, Pinner, Plan, Request, Shards as ShardRequest, System, plan},
    outside_timer::OutsideTimer,
    panic_hook,
    pump::PumpControl,
    shard_thread::ShardThread,
    shutdown::{Ending, Shards},
};

/// Builds a [`ShardedRuntime`]. Every setting has a default; see the table at the [crate's root](crate#defaults).
///
/// # Examples
///
/// ```
/// use actor_tokio::prelude::*;
/// use std::time::Duration;
///
/// # fn main() -> Result<(), actor_tokio::Error> {
/// let rt = ShardedRuntime::builder()
///     .cores(1)
///     .mailbox_capacity(1_000)
///     .ask_timeout(Duration::from_secs(5))
///     .on_shard_start(|shard| println!("shard {shard} is up"))
///     .build()?;
/// # rt.block_on(rt.shutdown());
/// # Ok(()) }
/// ```
#[must_use = "a builder does nothing until `build()`"]
pub struct Builder {
    request: Request,
    mailbox_capacity: usize,
    ring_capacity: usize,
    ask_timeout: Option<Duration>,
    max_blocking_threads: usize,
    slice: Duration,
    spin: Spin,
    thread_name: String,
    on_shard_start: Option<Arc<dyn Fn(ShardId) + Send + Sync>>,
}

impl Default for Builder {
    fn default() -> Self {
        let defaults = DomainConfig::new(ShardId::new(0));
        Self {
            request: Request::default(),
            mailbox_capacity: defaults.mailbox_capacity as usize,
            ring_capacity: defaults.ring_capacity,
            ask_timeout: defaults.ask_timeout,
            max_blocking_threads: 512,
            slice: defaults.slice,
            spin: defaults.spin,
            thread_name: "actor-shard".into(),
            on_shard_start: None,
        }
    }
}

impl Builder {
    /// How many shards. Without this or [`core_ids`](Self::core_ids): one for each CPU that this process may use, or,
    /// under a CPU quota below that, the quota rounded up.
    pub fn cores(mut self, cores: usize) -> Self {
        self.request.shards = ShardRequest::Cores(cores);
        self
    }

    /// One shard on each of these CPUs.
    pub fn core_ids(mut self, cpus: impl IntoIterator<Item = usize>) -> Self {
        self.request.shards = ShardRequest::CoreIds(cpus.into_iter().collect());
        self
    }

    /// Whether shards are pinned to their CPUs. Default: [`Pin::Auto`].
    pub fn pin(mut self, pin: Pin) -> Self {
        self.request.pin = pin;
        self
    }

    /// Messages that an actor's mailbox holds, unless its type or its spawn says otherwise. Default: 256.
    pub fn mailbox_capacity(mut self, messages: usize) -> Self {
        self.mailbox_capacity = messages;
        self
    }

    /// Messages that the ring into a shard holds, rounded up to a power of two (2 at the least, 2^20
    /// at the most). A full ring blocks
    /// nobody: admitted messages then wait beside it. Default: 1,024.
    pub fn ring_capacity(mut self, messages: usize) -> Self {
        self.ring_capacity = messages;
        self
    }

    /// How long an ask may take unless it says otherwise; `None` for any time. Default: 30 s.
    pub fn ask_timeout(mut self, limit: impl Into<Option<Duration>>) -> Self {
        self.ask_timeout = limit.into();
        self
    }

    /// Threads for blocking work (files, name look-ups, `spawn_blocking`), for the runtime as a whole: each shard gets
    /// its share, at least 1. Default: 512.
    pub fn max_blocking_threads(mut self, threads: usize) -> Self {
        self.max_blocking_threads = threads;
        self
    }

    /// How long a shard polls actors before it looks at I/O and timers. Default: 100 µs.
    pub fn slice(mut self, slice: Duration) -> Self {
        self.slice = slice;
        self
    }

    /// Whether a shard that has nothing to do looks on for a moment before it sleeps. Default: [`Spin::Auto`].
    pub fn spin(mut self, spin: Spin) -> Self {
        self.spin = spin;
        self
    }

    /// What the shards' threads are called; their number is appended. Default: `actor-shard`.
    pub fn thread_name(mut self, name: impl Into<String>) -> Self {
        self.thread_name = name.into();
        self
    }

    /// Runs on each shard's thread, in its Tokio context, before it takes messages. A panic in it fails the build.
    pub fn on_shard_start(mut self, hook: impl Fn(ShardId) + Send + Sync + 'static) -> Self {
        self.on_shard_start = Some(Arc::new(hook));
        self
    }

    /// Starts the shards.
    ///
    /// # Errors
    ///
    /// If a setting is impossible (no shard, more than the process's CPUs, no capacity), or the system refuses a
    /// thread, a descriptor or a pin. Shards that had started by then have ended again.
    pub fn build(self) -> Result<ShardedRuntime, BuildError> {
        self.build_on(|| Box::new(System))
    }

    fn build_on(self, affinity: impl Fn() -> Box<dyn Affinity>) -> Result<ShardedRuntime, BuildError> {
        // Read once, before any thread is pinned: a pinned thread sees one CPU.
        let machine = Machine::read(&*affinity());
        let plan = plan(&machine, &self.request)?;
        if self.max_blocking_threads == 0 {
            return Err(BuildError::NoBlockingThreads);
        }
        if self.thread_name.contains('\0') {
            return Err(BuildError::ThreadName { name: self.thread_name });
        }
        plan.announce();
        warn_of_abort();
        panic_hook::install();
        set_outside_timer(OutsideTimer::of_process());
        let pinner = Arc::new(Pinner::new(affinity(), &machine, self.request.pin));
        self.start(&plan, &pinner, machine.allowed.len())
    }

    fn start(self, plan: &Plan, pinner: &Arc<Pinner>, cpus: usize) -> Result<ShardedRuntime, BuildError> {
        let mut prepared = Vec::with_capacity(plan.shards.len());
        for index in 0..plan.shards.len() {
            let shard = ShardId::new(u16::try_from(index).unwrap_or(u16::MAX));
            let mut config = DomainConfig::new(shard);
            config.mailbox_capacity = u32::try_from(self.mailbox_capacity).unwrap_or(u32::MAX);
            config.ring_capacity = self.ring_capacity;
            config.ask_timeout = self.ask_timeout;
            config.slice = self.slice;
            // What a throttled process spends on looking is missing when it has work.
            config.spin = if plan.throttled && self.spin == Spin::Auto { Spin::Off } else { self.spin };
            let domain = Domain::new(config)?;
            let doorbell =
                Doorbell::new().map_err(|source| BuildError::Descriptors { shard, what: "doorbell", source })?;
            prepared.push((domain, doorbell));
        }
        let ending = Ending::new();
        let remotes: Vec<_> = prepared.iter().map(|(domain, _)| domain.remote()).collect();
        let handle = RuntimeHandle::new(remotes.clone(), ending.clone());
        let (ended, has_ended) = unbounded();
        let mut shards = Shards { remotes, controls: Vec::new(), threads: Vec::new(), ended: has_ended };
        let shares = blocking::shares(self.max_blocking_threads, plan.shards.len());
        let mut failure = None;
        for (index, (((domain, doorbell), cpu), share)) in
            prepared.into_iter().zip(&plan.shards).zip(shares).enumerate()
        {
            let (started, has_started) = bounded(1);
            let control = PumpControl::new(doorbell.clone());
            let thread = ShardThread {
                shard: shards.remotes[index].shard(),
                cpu: cpu.cpu,
                domain,
                doorbell,
                control: control.clone(),
                pinner: pinner.clone(),
                blocking_threads: share,
                spin_room: (self.spin == Spin::Auto).then_some(cpus),
                on_start: self.on_shard_start.clone(),
                runtime: handle.clone(),
                started,
                ended: ended.clone(),
            };
            let outcome = thread.start(format!("{}-{index}", self.thread_name)).and_then(|thread| {
                let outcome = has_started.recv().unwrap_or_else(|_| {
                    let source = std::io::Error::other("it ended before it had started");
                    Err(BuildError::Thread { shard: shards.remotes[index].shard(), source })
                });
                if outcome.is_err() {
                    _ = thread.join();
                    return outcome;
                }
                shards.threads.push(thread);
                shards.controls.push(control);
                Ok(())
            });
            if let Err(error) = outcome {
                failure = Some(error);
                break;
            }
        }
        if let Some(error) = failure {
            // Those that had started have no actors but what their start hooks made.
            shards.remotes.truncate(shards.threads.len());
            shards.end(std::time::Instant::now(), &crossbeam_channel::never());
            return Err(error);
        }
        ending.arm(shards);
        Ok(ShardedRuntime::new(handle))
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("request", &self.request)
            .field("mailbox_capacity", &self.mailbox_capacity)
            .field("ring_capacity", &self.ring_capacity)
            .field("ask_timeout", &self.ask_timeout)
            .field("max_blocking_threads", &self.max_blocking_threads)
            .field("slice", &self.slice)
            .field("spin", &self.spin)
            .field("thread_name", &self.thread_name)
            .finish_non_exhaustive()
    }
}

/// Says once that panics are not contained.
fn warn_of_abort() {
    if cfg!(panic = "abort") {
        static ONCE: std::sync::Once = std::sync::Once::new();
        ONCE.call_once(|| {
            tracing::warn!(
                "built with panic = \"abort\": a panic in one actor ends the whole process; build with \
                 panic = \"unwind\" to end that actor alone"
            );
        });
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    /// A system that tells its mask and refuses to change it.
    struct Refusing;

    impl Affinity for Refusing {
        fn current(&self) -> io::Result<Vec<usize>> {
            Ok(vec![0, 1])
        }

        fn restrict(&self, _: &[usize]) -> io::Result<()> {
            Err(io::ErrorKind::PermissionDenied.into())
        }
    }

    #[test]
    fn a_refused_pin_is_an_error_only_where_it_was_asked_for() {
        let build = |pin| ShardedRuntime::builder().cores(2).pin(pin).build_on(|| Box::new(Refusing));
        let error = build(Pin::Always).expect_err("refused");
        assert!(matches!(error, BuildError::Pin(_)), "{error}");
        assert!(build(Pin::Auto).is_ok());
    }

    #[test]
    fn impossible_settings_are_named() {
        let error = |builder: Builder| builder.build().expect_err("impossible").to_string();
        assert!(error(ShardedRuntime::builder().thread_name("a\0b")).contains("NUL"));
        assert!(error(ShardedRuntime::builder().ring_capacity(usize::MAX)).contains("1048576"));
        assert!(error(ShardedRuntime::builder().ring_capacity(0)).contains("ring_capacity is 0"));
        assert!(error(ShardedRuntime::builder().mailbox_capacity(0)).contains("mailbox_capacity is 0"));
        assert!(error(ShardedRuntime::builder().spin(Spin::Always(Duration::from_secs(1)))).contains("10ms"));
        assert!(error(ShardedRuntime::builder().max_blocking_threads(0)).contains("max_blocking_threads is 0"));
    }
}
