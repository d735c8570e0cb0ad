//! What can go wrong with a spawn.

use std::{error::Error, fmt, sync::Arc};

use crate::{ExitReason, ShardId};

/// Why there is no actor.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum SpawnError {
    /// The closure, or the future, that builds the state returned an error.
    Failed(Arc<dyn Error + Send + Sync>),
    /// It panicked, or the actor was killed before its state was built.
    Ended(ExitReason),
    /// The runtime, or the shard that was asked for, is shutting down or has ended.
    Closed,
    /// The runtime has no such shard.
    NoSuchShard {
        /// The shard that was asked for.
        shard: ShardId,
        /// How many the runtime has: they are numbered from 0.
        shards: usize,
    },
    /// A mailbox of no messages was asked for.
    NoCapacity,
    /// The shard has as many actors as it can number.
    TooManyActors {
        /// The limit.
        limit: u32,
    },
}

impl fmt::Display for SpawnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(error) => write!(f, "the actor's state could not be built: {error}"),
            Self::Ended(reason) => {
                write!(f, "the actor ended before its state was built: {reason}")
            }
            Self::Closed => f.write_str("the runtime is shutting down or has ended"),
            Self::NoSuchShard { shard, shards } => write!(
                f,
                "there is no shard {shard}: this runtime has {shards}, numbered from 0; take one from `shard_ids()`"
            ),
            Self::NoCapacity => {
                f.write_str("a mailbox needs room for at least 1 message; 0 was asked for with `.mailbox(0)`")
            }
            Self::TooManyActors { limit } => {
                write!(f, "the shard has reached its limit of {limit} actors; stop some, or use more shards")
            }
        }
    }
}

impl Error for SpawnError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Failed(error) | Self::Ended(ExitReason::Failed(error)) => Some(error.as_ref()),
            _ => None,
        }
    }
}
