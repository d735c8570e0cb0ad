//! A thread-per-core actor system for Tokio services.
//!
//! One current-thread Tokio runtime is pinned on each core: a *shard*. Actors are `!Send` futures that live on their
//! shard; only messages move between shards, through bounded mailboxes. Handles are `Send + Sync` and work from any
//! thread and any runtime, so a present Tokio service adopts actors without moving.
//!
//! ```
//! use actor_tokio::prelude::*;
//!
//! #[actor]
//! struct Counter {
//!     total: u64,
//! }
//!
//! #[actor]
//! impl Counter {
//!     pub fn add(&mut self, by: u64) -> u64 {
//!         self.total += by;
//!         self.total
//!     }
//! }
//!
//! fn main() -> Result<(), actor_tokio::Error> {
//!     let rt = ShardedRuntime::builder().cores(1).build()?;
//!     rt.block_on(async {
//!         let counter = rt.spawn(|| Counter { total: 0 }).await?;
//!         assert_eq!(counter.add(5).await?, 5);
//!         rt.shutdown().await;
//!         Ok(())
//!     })
//! }
//! ```
//!
//! # Defaults
//!
//! | what | default | changed by |
//! |---|---|---|
//! | shards | the CPUs that this process may use | [`Builder::cores`], [`Builder::core_ids`] |
//! | mailbox | 256 messages | [`Builder::mailbox_capacity`], `#[actor(mailbox = n)]`, [`Spawn::mailbox`] |
//! | a message for a full mailbox | waits ([`Overflow::Wait`]) | `#[actor(overflow = ..)]`, [`Spawn::overflow`] |
//! | ring into a shard | 1,024 messages | [`Builder::ring_capacity`] |
//! | time an ask may take | 30 s | [`Builder::ask_timeout`], [`Call::timeout`] |
//! | time a turn may run | 100 µs | [`Builder::slice`] |
//! | spin before sleep | [`Spin::Auto`] | [`Builder::spin`] |
//! | blocking threads | 512 for the process | [`Builder::max_blocking_threads`] |
//! | time a shutdown may take | 30 s | [`ShardedRuntime::shutdown_timeout`] |
#![warn(missing_docs)]
#![deny(unsafe_code)]

#[allow(unsafe_code, reason = "registering a descriptor with Tokio")]
mod bell;
mod blocking;
mod builder;
mod cpus;
mod crowd;
mod current;
mod cx_ext;
mod error;
mod outside_timer;
mod panic_hook;
mod placement;
pub mod prelude;
mod pump;
mod report;
mod runtime;
mod runtime_handle;
mod shard_thread;
mod shutdown;
mod spawn;

#[doc(hidden)]
#[path = "macro_support.rs"]
pub mod __macro;

pub use actor_core::{
    Actor, ActorId, AskError, Call, Cx, DeadlockPath, Exit, ExitReason, Handle, Inbox, InboxActor, InboxHandle,
    IntoActor, Overflow, Permit, Recv, Reserve, ReserveError, Returned, ShardId, SpawnError, Spin, Stats, Tell,
    TellError, TellFailure, TryReserveError, TryTellError, Typed, Waits, WeakHandle,
};

pub use actor_macros::{actor, main};

pub use self::{
    builder::Builder,
    cpus::{CpuError, Pin, PinError},
    cx_ext::CxExt,
    error::{BuildError, Error},
    placement::{Placed, Placement},
    runtime::ShardedRuntime,
    runtime_handle::{NoRuntime, RuntimeHandle},
    shutdown::{Shutdown, ShutdownReport},
    spawn::{Spawn, Spawned},
};
