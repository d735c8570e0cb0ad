//! All that most programs need: `use actor_tokio::prelude::*;`.

pub use crate::{
    ActorId, AskError, Call, Cx, CxExt, Exit, ExitReason, Handle, Inbox, InboxHandle, Pin, Placement, RuntimeHandle,
    ShardId, ShardedRuntime, SpawnError, Spin, TellError, TellFailure, TryTellError, WeakHandle, actor,
};
