//! All that most programs need: `use actor_tokio::prelude::*;`.

pub use crate::{
    ActorId, AskError, Call, Cx, CxExt, Exit, ExitReason, Handle, Inbox, InboxHandle, Overflow, Permit, Pin, Placement,
    ReserveError, RuntimeHandle, ShardId, ShardedRuntime, SpawnError, Spin, TellError, TellFailure, TryReserveError,
    TryTellError, WeakHandle, actor,
};
