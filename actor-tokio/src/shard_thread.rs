//! The thread of one shard: from its pin to its last turn.

use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    thread::{Builder as ThreadBuilder, JoinHandle},
};

use actor_core::{
    Domain, ShardId,
    port::{Host, MonotonicClock},
};
use crossbeam_channel::Sender;
use tokio::runtime::{Builder as TokioBuilder, LocalOptions};

use crate::{
    BuildError, RuntimeHandle,
    bell::Doorbell,
    cpus::Pinner,
    current::Entered,
    pump::{PumpControl, pump},
    report::TokioDriver,
};

/// All that a shard's thread is started with.
pub(crate) struct ShardThread {
    pub(crate) shard: ShardId,
    pub(crate) cpu: Option<usize>,
    pub(crate) domain: Domain,
    pub(crate) doorbell: Doorbell,
    pub(crate) control: PumpControl,
    pub(crate) pinner: Arc<Pinner>,
    pub(crate) blocking_threads: usize,
    /// Shards in the process up to which this one may spin; `None` for any number.
    pub(crate) spin_room: Option<usize>,
    pub(crate) on_start: Option<Arc<dyn Fn(ShardId) + Send + Sync>>,
    pub(crate) runtime: RuntimeHandle,
    /// Told once: the shard runs, or why not.
    pub(crate) started: Sender<Result<(), BuildError>>,
    /// Told once, at shutdown: no actor is left.
    pub(crate) ended: Sender<usize>,
}

impl ShardThread {
    pub(crate) fn start(self, name: String) -> Result<JoinHandle<()>, BuildError> {
        let shard = self.shard;
        ThreadBuilder::new().name(name).spawn(move || self.run()).map_err(|source| BuildError::Thread { shard, source })
    }

    fn run(self) {
        let Self {
            shard: id,
            cpu,
            domain,
            doorbell,
            control,
            pinner,
            blocking_threads,
            spin_room,
            on_start,
            runtime,
            started,
            ended,
        } = self;
        let descriptors = |what| move |source| BuildError::Descriptors { shard: id, what, source };
        let prepared = (|| {
            if let Some(cpu) = cpu {
                pinner.pin(id.index(), cpu)?;
            }
            let mut tokio = TokioBuilder::new_current_thread();
            tokio.enable_io().enable_time().max_blocking_threads(blocking_threads);
            if cpu.is_some() {
                // Threads inherit the mask of the one that starts them; blocking work belongs on any CPU.
                let pinner = pinner.clone();
                tokio.on_thread_start(move || pinner.unpin());
            }
            // With its `signal` feature Tokio panics where it is refused a socket.
            let tokio = catch_unwind(AssertUnwindSafe(|| tokio.build_local(LocalOptions::default())))
                .unwrap_or_else(|payload| Err(io::Error::other(text(&*payload))))
                .map_err(descriptors("Tokio runtime"))?;
            let bell = {
                let _context = tokio.enter();
                doorbell.listen().map_err(descriptors("doorbell"))?
            };
            Ok((tokio, bell))
        })();
        let (tokio, bell) = match prepared {
            Ok(prepared) => prepared,
            Err(error) => return drop(started.send(Err(error))),
        };
        let _current = Entered::new(runtime);
        tokio.block_on(async {
            let shard = domain.bind(Host {
                notify: Arc::new(doorbell),
                clock: Box::new(MonotonicClock),
                driver: Box::new(TokioDriver),
                choose: None,
            });
            // For the thread's life: `spawn_local` tasks and I/O that wakes actors run between turns.
            let _activation = shard.activate();
            let outcome = on_start.map_or(Ok(()), |hook| {
                catch_unwind(AssertUnwindSafe(|| hook(id)))
                    .map_err(|payload| BuildError::StartHook { shard: id, message: text(&*payload) })
            });
            let is_up = outcome.is_ok();
            _ = started.send(outcome);
            if is_up {
                tokio::task::spawn_local(async move {
                    pump(&shard, bell, control, ended, spin_room).await;
                    // Here, inside the runtime's context: destructors may use it.
                    drop(shard);
                })
                .await
                .unwrap_or_else(|error| tracing::error!(shard = %id, %error, "the shard's pump failed"));
            }
        });
        // Waits for no blocking thread: what a blocking closure still does is its own affair.
        tokio.shutdown_background();
    }
}

fn text(payload: &(dyn std::any::Any + Send)) -> String {
    payload
        .downcast_ref::<&str>()
        .map(ToString::to_string)
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic whose payload is not text".into())
}
