//! What can go wrong with a runtime, and one error for all that this crate's operations return.

use std::{fmt, io};

use actor_core::{
    AskError, BoxError, DomainError, ReserveError, ShardId, SpawnError, TellError, TryReserveError, TryTellError,
};

use crate::{CpuError, PinError};

/// Why a runtime could not be built. Shards that had started have been stopped again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The number of shards, or the CPUs for them, cannot be had.
    #[error(transparent)]
    Cpus(#[from] CpuError),
    /// A shard cannot be pinned, and [`Pin::Always`](crate::Pin::Always) was asked for.
    #[error(transparent)]
    Pin(#[from] PinError),
    /// A capacity is zero, or the process has too many shards.
    #[error(transparent)]
    Domain(#[from] DomainError),
    /// `max_blocking_threads(0)`.
    #[error("max_blocking_threads is 0, but file and name look-ups of Tokio need at least 1 blocking thread")]
    NoBlockingThreads,
    /// The threads' name has a NUL in it.
    #[error("thread_name is {name:?}, but a thread's name can't contain a NUL character")]
    ThreadName {
        /// The name.
        name: String,
    },
    /// The system refused a thread.
    #[error(
        "the thread of shard {shard} cannot be started ({source}): raise the limit of threads (ulimit -u, the pids \
         limit of the cgroup), or ask for fewer shards with `cores`"
    )]
    Thread {
        /// The shard.
        shard: ShardId,
        /// The system's error.
        source: io::Error,
    },
    /// The system refused a descriptor for the shard's doorbell or its Tokio runtime.
    #[error(
        "the {what} of shard {shard} cannot be made ({source}): a shard needs about 4 file descriptors; raise the \
         limit (ulimit -n), or ask for fewer shards with `cores`"
    )]
    Descriptors {
        /// The shard.
        shard: ShardId,
        /// What was to be made.
        what: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// The hook set with `on_shard_start` panicked.
    #[error("the on_shard_start hook panicked on shard {shard}: {message}")]
    StartHook {
        /// The shard.
        shard: ShardId,
        /// The panic's message.
        message: String,
    },
}

/// Any error of this crate, for functions that pass errors on with `?`.
///
/// # Examples
///
/// ```
/// use actor_tokio::{AskError, Error};
///
/// fn fails() -> Result<(), Error> {
///     Err(AskError::<String>::Closed)?;
///     Ok(())
/// }
/// assert!(fails().unwrap_err().to_string().contains("takes no messages"));
/// ```
pub struct Error(BoxError);

impl Error {
    /// The error itself, to look at by type.
    #[must_use]
    pub fn get_ref(&self) -> &(dyn std::error::Error + Send + Sync + 'static) {
        &*self.0
    }

    /// The error itself.
    #[must_use]
    pub fn into_inner(self) -> BoxError {
        self.0
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Error {
    /// As a person reads it: this is what a `main` that returns it prints.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut source = self.0.source();
        while let Some(cause) = source {
            write!(f, "\n  caused by: {cause}")?;
            source = cause.source();
        }
        Ok(())
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source()
    }
}

impl<E: fmt::Debug + Send + Sync + 'static> From<AskError<E>> for Error {
    fn from(error: AskError<E>) -> Self {
        Self(error.into())
    }
}

impl<Args: Send + 'static> From<TellError<Args>> for Error {
    fn from(error: TellError<Args>) -> Self {
        Self(error.into())
    }
}

impl<Args: Send + 'static> From<TryTellError<Args>> for Error {
    fn from(error: TryTellError<Args>) -> Self {
        Self(error.into())
    }
}

impl From<ReserveError> for Error {
    fn from(error: ReserveError) -> Self {
        Self(error.into())
    }
}

impl From<TryReserveError> for Error {
    fn from(error: TryReserveError) -> Self {
        Self(error.into())
    }
}

impl From<SpawnError> for Error {
    fn from(error: SpawnError) -> Self {
        Self(error.into())
    }
}

impl From<BuildError> for Error {
    fn from(error: BuildError) -> Self {
        Self(error.into())
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self(error.into())
    }
}

impl From<BoxError> for Error {
    fn from(error: BoxError) -> Self {
        Self(error)
    }
}
