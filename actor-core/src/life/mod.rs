//! How actors end.

mod exit_reason;
pub mod panic;

pub use exit_reason::ExitReason;
