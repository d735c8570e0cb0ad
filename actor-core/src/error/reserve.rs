//! What can go wrong with a reservation.

use std::{error::Error, fmt};

use super::DeadlockPath;

/// Why a `reserve` has no permit.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ReserveError {
    /// The actor is stopping or has ended.
    Closed,
    /// The mailbox had no room within the time limit that was set.
    Timeout,
    /// The actor reserves in its own full mailbox, and would wait for ever.
    Deadlock {
        /// Who waits for whom.
        path: DeadlockPath,
    },
    /// A blocking reservation on a shard's thread: it would stop the thread that has to make room.
    OnShard,
}

/// Why a `try_reserve` has no permit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TryReserveError {
    /// The mailbox is full, or others wait for room in it.
    Full,
    /// The actor is stopping or has ended.
    Closed,
}

impl fmt::Display for ReserveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => f.write_str("the actor is stopping or has ended, and takes no messages"),
            Self::Timeout => f.write_str("the actor's mailbox had no room within the time limit"),
            Self::Deadlock { path } => write!(f, "the reservation would wait for room for ever: {path}"),
            Self::OnShard => f.write_str(
                "a blocking reservation on a shard's thread would stop the thread that has to make room; await it",
            ),
        }
    }
}

impl fmt::Display for TryReserveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full => "the actor's mailbox is full",
            Self::Closed => "the actor is stopping or has ended, and takes no messages",
        })
    }
}

impl Error for ReserveError {}
impl Error for TryReserveError {}
