//! Who waits for whom.

use std::fmt;

use crate::ActorId;

/// One actor of a [`DeadlockPath`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waits {
    /// The actor.
    pub actor: ActorId,
    /// Its type.
    pub kind: &'static str,
}

/// Actors each of which waits for the next, and the last for the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadlockPath(Vec<Waits>);

impl DeadlockPath {
    pub(crate) fn new(actors: Vec<Waits>) -> Self {
        Self(actors)
    }

    /// The actors, beginning with the one that got the error.
    #[must_use]
    pub fn actors(&self) -> &[Waits] {
        &self.0
    }
}

impl fmt::Display for DeadlockPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for waits in &self.0 {
            write!(f, "{} ({}) waits for ", waits.kind, waits.actor)?;
        }
        match self.0.as_slice() {
            [_] => f.write_str("itself"),
            [first, ..] => write!(f, "{} ({})", first.kind, first.actor),
            [] => f.write_str("nothing"),
        }
    }
}
