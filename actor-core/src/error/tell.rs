//! What can go wrong with a tell.

use std::{error::Error, fmt};

use super::{DeadlockPath, Returned};

/// Why a `tell` was not accepted. The message was not delivered; its arguments come back.
#[non_exhaustive]
pub enum TellError<Args> {
    /// The mailbox is full, and its actor lets nobody wait ([`Overflow::Reject`](crate::Overflow::Reject)).
    Full(Returned<Args>),
    /// The actor is stopping or has ended.
    Closed(Returned<Args>),
    /// The mailbox had no room within the time limit that was set.
    Timeout(Returned<Args>),
    /// Room would have been waited for for ever: the actor tells itself into its own full mailbox, or actors wait for each
    /// other in a circle. One of the circle gets this error, and the others go on. See
    /// [`Call`](crate::Call#deadlocks).
    Deadlock {
        /// Who waits for whom.
        path: DeadlockPath,
        /// The arguments.
        args: Returned<Args>,
    },
    /// A blocking tell on a shard's thread.
    OnShard(Returned<Args>),
}

/// Why a `try_tell`, or a send by a permit, was not accepted. The message was not delivered; its arguments come back.
#[non_exhaustive]
pub enum TryTellError<Args> {
    /// The mailbox is full, or others wait for room in it.
    Full(Returned<Args>),
    /// The actor is stopping or has ended.
    Closed(Returned<Args>),
    /// The [`Permit`](crate::Permit) is for another actor than the call.
    OtherActor(Returned<Args>),
}

impl<Args> TellError<Args> {
    /// The message's arguments.
    pub fn into_args(self) -> Args {
        match self {
            Self::Full(args)
            | Self::Closed(args)
            | Self::Timeout(args)
            | Self::OnShard(args)
            | Self::Deadlock { args, .. } => args.into_inner(),
        }
    }

    /// Always false: a tell that fails was not delivered.
    #[must_use]
    pub const fn was_delivered(&self) -> bool {
        false
    }
}

impl<Args> TryTellError<Args> {
    /// The message's arguments.
    pub fn into_args(self) -> Args {
        match self {
            Self::Full(args) | Self::Closed(args) | Self::OtherActor(args) => args.into_inner(),
        }
    }

    /// Always false: a tell that fails was not delivered.
    #[must_use]
    pub const fn was_delivered(&self) -> bool {
        false
    }

    /// Whether waiting could help.
    #[must_use]
    pub const fn is_full(&self) -> bool {
        matches!(self, Self::Full(_))
    }
}

impl<Args> fmt::Display for TellError<Args> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full(_) => f.write_str("the actor's mailbox is full"),
            Self::Closed(_) => f.write_str("the actor is stopping or has ended, and takes no messages"),
            Self::Timeout(_) => f.write_str("the actor's mailbox had no room within the time limit"),
            Self::Deadlock { path, .. } => {
                write!(f, "the tell would wait for room for ever: {path}")
            }
            Self::OnShard(_) => {
                f.write_str("a blocking tell on a shard's thread would stop the thread that has to make room")
            }
        }
    }
}

impl<Args> fmt::Display for TryTellError<Args> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full(_) => f.write_str("the actor's mailbox is full"),
            Self::Closed(_) => f.write_str("the actor is stopping or has ended, and takes no messages"),
            Self::OtherActor(_) => f.write_str("the permit is for another actor; reserve with the call's own handle"),
        }
    }
}

// By hand: a derive would ask for `Args: Debug`.
impl<Args> fmt::Debug for TellError<Args> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full(_) => f.write_str("Full(..)"),
            Self::Closed(_) => f.write_str("Closed(..)"),
            Self::Timeout(_) => f.write_str("Timeout(..)"),
            Self::Deadlock { path, .. } => f.debug_struct("Deadlock").field("path", path).finish_non_exhaustive(),
            Self::OnShard(_) => f.write_str("OnShard(..)"),
        }
    }
}

impl<Args> fmt::Debug for TryTellError<Args> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full(_) => "Full(..)",
            Self::Closed(_) => "Closed(..)",
            Self::OtherActor(_) => "OtherActor(..)",
        })
    }
}

impl<Args> Error for TellError<Args> {}
impl<Args> Error for TryTellError<Args> {}
