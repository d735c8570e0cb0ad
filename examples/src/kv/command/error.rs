//! What is wrong with a command, in Redis' words.

use std::borrow::Cow;

/// The text of an error reply.
#[derive(Debug)]
pub struct CommandError(Cow<'static, [u8]>);

impl CommandError {
    /// An option that there is not, or not here.
    pub const SYNTAX: Self = Self::new("ERR syntax error");
    /// Not a number, or one that is out of range.
    pub const NOT_AN_INTEGER: Self = Self::new("ERR value is not an integer or out of range");

    /// An error whose text is known.
    pub const fn new(text: &'static str) -> Self {
        Self(Cow::Borrowed(text.as_bytes()))
    }

    /// An error that repeats something that the client said.
    pub fn about(before: &str, said: &[u8], after: &str) -> Self {
        Self(Cow::Owned([before.as_bytes(), said, after.as_bytes()].concat()))
    }

    /// A time in the past, or beyond the end of time.
    pub fn expire_time(command: &str) -> Self {
        Self::about("ERR invalid expire time in '", command.as_bytes(), "' command")
    }

    /// Too many arguments or too few; `name` is that of the command, or of command and subcommand.
    pub fn arity(name: &str) -> Self {
        Self::about("ERR wrong number of arguments for '", name.as_bytes(), "' command")
    }

    /// A command that there is not.
    pub fn unknown<'a>(name: &[u8], args: impl Iterator<Item = &'a [u8]>) -> Self {
        let mut beginning = Vec::new();
        for arg in args {
            if beginning.len() >= QUOTED {
                break;
            }
            let room = QUOTED - beginning.len();
            beginning.extend_from_slice(&[b"'", quotable(arg, room), b"' "].concat());
        }
        let text =
            [b"ERR unknown command '", quotable(name, QUOTED), b"', with args beginning with: ", &beginning].concat();
        Self(Cow::Owned(text))
    }

    /// A subcommand that there is not.
    pub fn unknown_subcommand(command: &str, name: &[u8]) -> Self {
        let after = format!("'. Try {} HELP.", command.to_uppercase());
        Self::about("ERR unknown subcommand '", quotable(name, QUOTED), &after)
    }

    /// What the client is told.
    pub fn text(&self) -> &[u8] {
        &self.0
    }
}

/// How much of what a client said is repeated to it.
const QUOTED: usize = 128;

/// The beginning of `said`, up to a byte that would end a C string.
fn quotable(said: &[u8], room: usize) -> &[u8] {
    let said = &said[..said.len().min(room)];
    &said[..said.iter().position(|byte| *byte == 0).unwrap_or(said.len())]
}
