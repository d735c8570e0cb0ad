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
pub struct DeadlockPath {
    actors: Vec<Waits>,
    was_delivered: bool,
}

impl DeadlockPath {
    pub(crate) fn new(actors: Vec<Waits>) -> Self {
        Self { actors, was_delivered: false }
    }

    /// The message of the ask had been begun when the ask was given up.
    pub(crate) fn delivered(self) -> Self {
        Self { was_delivered: true, ..self }
    }

    /// Whether the message had reached its handler: an ask's handler that is itself part of the circle goes on, and its
    /// answer is thrown away. Always false for a tell.
    #[must_use]
    pub const fn was_delivered(&self) -> bool {
        self.was_delivered
    }

    /// The actors, beginning with the one that got the error.
    #[must_use]
    pub fn actors(&self) -> &[Waits] {
        &self.actors
    }
}

impl fmt::Display for DeadlockPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for waits in &self.actors {
            write!(f, "{} ({}) waits for ", waits.kind, waits.actor)?;
        }
        match self.actors.as_slice() {
            [_] => f.write_str("itself"),
            [first, ..] => write!(f, "{} ({})", first.kind, first.actor),
            [] => f.write_str("nothing"),
        }
    }
}
