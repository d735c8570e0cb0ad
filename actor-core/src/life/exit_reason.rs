//! Why an actor ended.

use std::{error::Error, fmt, sync::Arc};

use crate::ActorId;

/// Why an actor ended. Cheap to clone.
///
/// # Examples
///
/// ```
/// use actor_core::ExitReason;
/// let reason = ExitReason::Panicked { message: "index out of bounds".into(), location: None };
/// assert!(!reason.is_graceful());
/// assert_eq!(reason.to_string(), "panicked: index out of bounds");
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ExitReason {
    /// It stopped itself, or its last handle was dropped.
    Normal,
    /// Its `stop()` was called on a handle.
    Stopped,
    /// Its `kill()` was called on a handle.
    Killed,
    /// User code panicked.
    Panicked {
        /// The panic's message.
        message: Arc<str>,
        /// Where, as `file:line:column`; `None` when another panic hook has replaced ours.
        location: Option<Arc<str>>,
    },
    /// Its start hook, or the future that builds its state, returned an error.
    Failed(Arc<dyn Error + Send + Sync>),
    /// It was restarted too often.
    RestartLimit,
    /// An actor that it is linked to ended.
    Linked(ActorId),
    /// Its shard was shut down.
    ShardDown,
}

impl ExitReason {
    /// Whether the actor ended in order: `Normal`, `Stopped` or `ShardDown`.
    #[must_use]
    pub const fn is_graceful(&self) -> bool {
        matches!(self, Self::Normal | Self::Stopped | Self::ShardDown)
    }
}

impl PartialEq for ExitReason {
    /// Errors are compared by identity: clones of one reason are equal.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Normal, Self::Normal)
            | (Self::Stopped, Self::Stopped)
            | (Self::Killed, Self::Killed)
            | (Self::RestartLimit, Self::RestartLimit)
            | (Self::ShardDown, Self::ShardDown) => true,
            (
                Self::Panicked { message, location },
                Self::Panicked { message: other_message, location: other_location },
            ) => message == other_message && location == other_location,
            (Self::Failed(error), Self::Failed(other)) => Arc::ptr_eq(error, other),
            (Self::Linked(id), Self::Linked(other)) => id == other,
            _ => false,
        }
    }
}

impl fmt::Display for ExitReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Normal => f.write_str("ended by itself"),
            Self::Stopped => f.write_str("stopped"),
            Self::Killed => f.write_str("killed"),
            Self::Panicked { message, location: Some(location) } => write!(f, "panicked at {location}: {message}"),
            Self::Panicked { message, location: None } => write!(f, "panicked: {message}"),
            Self::Failed(error) => write!(f, "failed: {error}"),
            Self::RestartLimit => f.write_str("restarted too often"),
            Self::Linked(id) => write!(f, "linked actor {id} ended"),
            Self::ShardDown => f.write_str("its shard was shut down"),
        }
    }
}
