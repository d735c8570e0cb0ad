//! What can go wrong with an ask.

use std::{convert::Infallible, error::Error, fmt};

use super::DeadlockPath;
use crate::ExitReason;

/// Why an ask has no answer. `E` is the handler's own error; [`Infallible`] for one that returns no `Result`.
///
/// # Examples
///
/// ```
/// use actor_core::AskError;
/// let error: AskError<String> = AskError::Handler("no such account".into());
/// assert!(error.was_delivered());
/// assert_eq!(error.to_string(), "the handler failed: \"no such account\"");
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AskError<E = Infallible> {
    /// The handler ran and returned this error.
    Handler(E),
    /// The mailbox is full, and its actor lets nobody wait ([`Overflow::Reject`](crate::Overflow::Reject)).
    Full,
    /// The mailbox was full, and dropped the message ([`Overflow`](crate::Overflow)).
    Evicted,
    /// The actor is stopping or has ended; the message was not accepted.
    Closed,
    /// The ask took longer than its time limit.
    Timeout {
        /// Whether the handler had begun: it then goes on, and its answer is thrown away. Otherwise it will not run.
        delivered: bool,
    },
    /// The actor ended after it had accepted the message and before it had answered.
    Died(ExitReason),
    /// The answer, or room for the message, would have been waited for for ever: the actor asks itself, or actors wait for
    /// each other in a circle. One of the circle gets this error, and the others go on. See
    /// [`Call`](crate::Call#deadlocks).
    Deadlock {
        /// Who waits for whom.
        path: DeadlockPath,
    },
    /// The [`Permit`](crate::Permit) that it was to be sent by is for another actor.
    OtherActor,
    /// A blocking ask on a shard's thread: it would stop the thread that has to answer it.
    OnShard,
}

impl<E> AskError<E> {
    /// Whether the message may have reached its handler. `false` means that it has not and will not.
    #[must_use]
    pub const fn was_delivered(&self) -> bool {
        match self {
            Self::Handler(_) | Self::Died(_) => true,
            Self::Timeout { delivered } => *delivered,
            Self::Deadlock { path } => path.was_delivered(),
            Self::Full | Self::Evicted | Self::Closed | Self::OtherActor | Self::OnShard => false,
        }
    }
}

impl<E: fmt::Debug> fmt::Display for AskError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // `E` need not be `Display`: a plain enum will do as a handler's error.
            Self::Handler(error) => write!(f, "the handler failed: {error:?}"),
            Self::Full => f.write_str("the actor's mailbox is full"),
            Self::Evicted => {
                f.write_str("the actor's mailbox was full and dropped the message; it was not handled and will not be")
            }
            Self::Closed => f.write_str("the actor is stopping or has ended, and takes no messages"),
            Self::Timeout { delivered: true } => {
                f.write_str("no answer within the time limit; the handler had begun and goes on")
            }
            Self::Timeout { delivered: false } => {
                f.write_str("no answer within the time limit; the message was not handled and will not be")
            }
            Self::Died(reason) => write!(f, "the actor ended before it answered: {reason}"),
            Self::Deadlock { path } => write!(f, "the ask would wait for ever: {path}"),
            Self::OtherActor => f.write_str("the permit is for another actor; reserve with the call's own handle"),
            Self::OnShard => f.write_str(
                "a blocking ask on a shard's thread would stop the thread that has to answer it; await the call instead",
            ),
        }
    }
}

impl<E: fmt::Debug> Error for AskError<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Died(ExitReason::Failed(error)) => Some(error.as_ref()),
            _ => None,
        }
    }
}
