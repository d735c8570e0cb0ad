//! Time as Redis counts it, and the point in time at which a key ends.

use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since the Unix epoch.
pub fn now() -> u64 {
    // A clock that is set before 1970 is a broken machine; keys then live from the epoch on.
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |passed| passed.as_millis() as u64)
}

/// When a key ends: a point in time in milliseconds since the Unix epoch, or never.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Deadline(u64);

impl Deadline {
    /// The key stays until it is deleted.
    pub const NEVER: Self = Self(u64::MAX);

    /// The key ends at `millis`. Redis' times are signed, so no real one collides with [`NEVER`](Self::NEVER).
    pub fn at(millis: u64) -> Self {
        Self(millis.min(u64::MAX - 1))
    }

    /// Whether it has passed at `now`; a key is still there in its last millisecond.
    pub fn has_passed(self, now: u64) -> bool {
        self != Self::NEVER && self.0 < now
    }

    /// The point in time, if there is one.
    pub fn millis(self) -> Option<u64> {
        (self != Self::NEVER).then_some(self.0)
    }
}
