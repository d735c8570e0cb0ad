//! What can go wrong, one type an operation.

mod ask;
mod deadlock;
mod reserve;
mod returned;
mod spawn;
mod tell;

pub use ask::AskError;
pub use deadlock::{DeadlockPath, Waits};
pub use reserve::{ReserveError, TryReserveError};
pub use returned::Returned;
pub use spawn::SpawnError;
pub use tell::{TellError, TryTellError};

/// A user's error, erased.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;
