//! The description of one command: what `COMMAND` tells about it, and its handler.

use super::{CommandError, Front};
use crate::kv::resp::Args;

/// Turns a request into ops or an answer.
pub type Handler = fn(&mut Front<'_>, &Args<'_>) -> Result<(), CommandError>;

/// A command or a subcommand.
pub struct Spec {
    /// Its name, in lower case.
    pub name: &'static str,
    /// How many arguments it takes, its name included; negative: at least so many.
    pub arity: i32,
    /// What `COMMAND` calls flags.
    pub flags: &'static [&'static str],
    /// Which of its arguments are keys.
    pub keys: Keys,
    /// What it does to them.
    pub key_flags: &'static [&'static str],
    /// The groups of commands that it belongs to for access control.
    pub categories: &'static [&'static str],
    /// Hints for clients of a cluster.
    pub tips: &'static [&'static str],
    /// What it does.
    pub summary: &'static str,
    /// The version of Redis that had it first.
    pub since: &'static str,
    /// The chapter of the documentation.
    pub group: &'static str,
    /// How long it takes.
    pub complexity: &'static str,
    /// What its second argument chooses from.
    pub subcommands: &'static [Spec],
    /// What runs it.
    pub handler: Handler,
}

/// The positions of keys among the arguments; all 0 for a command without keys.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Keys {
    /// The first.
    pub first: i64,
    /// The last; -1 for the last argument.
    pub last: i64,
    /// From one to the next.
    pub step: i64,
}

impl Keys {
    /// No argument is one.
    pub const NONE: Self = Self { first: 0, last: 0, step: 0 };
    /// The first argument.
    pub const ONE: Self = Self { first: 1, last: 1, step: 1 };
    /// All arguments.
    pub const ALL: Self = Self { first: 1, last: -1, step: 1 };
    /// Every other argument.
    pub const PAIRS: Self = Self { first: 1, last: -1, step: 2 };
}

impl Spec {
    /// Whether a client means this one.
    #[inline]
    pub fn is_called(&self, name: &[u8]) -> bool {
        self.name.as_bytes().eq_ignore_ascii_case(name)
    }

    /// Checks the number of arguments.
    ///
    /// # Errors
    ///
    /// Names the command, and the one that it is a subcommand of.
    pub fn check(&self, of: Option<&str>, args: usize) -> Result<(), CommandError> {
        let wanted = self.arity.unsigned_abs() as usize;
        if args == wanted || self.arity < 0 && args > wanted {
            return Ok(());
        }
        Err(CommandError::arity(&self.full_name(of)))
    }

    /// `client|id`, or the plain name.
    pub fn full_name(&self, of: Option<&str>) -> String {
        of.map_or_else(|| self.name.to_owned(), |of| format!("{of}|{}", self.name))
    }
}
