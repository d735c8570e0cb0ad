//! The commands: a table of what they are called and take, and for each a handler that turns its arguments into
//! [`Op`](super::op::Op)s for partitions or into an answer on the spot.

mod connection;
mod describe;
mod error;
mod keys;
mod server;
mod spec;
mod strings;
mod table;

pub use error::CommandError;
pub use spec::{Keys, Spec};
pub use table::COMMANDS;

use super::plan::Plan;
use super::resp::Args;
use super::session::Session;

/// What a handler works with.
pub struct Front<'a> {
    /// The connection's own state.
    pub session: &'a mut Session,
    /// Where commands for partitions and answers go, in order.
    pub plan: &'a mut Plan,
}

/// Plans one request: finds its command, checks the number of its arguments, and runs its handler. Whatever is wrong
/// becomes the answer.
pub fn plan(front: &mut Front<'_>, args: &Args<'_>) {
    if let Err(error) = try_plan(front, args) {
        front.plan.error(error.text());
    }
}

fn try_plan(front: &mut Front<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    let name = args.get(0);
    let Some(command) = COMMANDS.iter().find(|command| command.is_called(name)) else {
        return Err(CommandError::unknown(name, args.from(1)));
    };
    command.check(None, args.len())?;
    front.session.last_command = (command.name, "");
    if command.subcommands.is_empty() || args.len() == 1 {
        return (command.handler)(front, args);
    }
    let name = args.get(1);
    let Some(subcommand) = command.subcommands.iter().find(|subcommand| subcommand.is_called(name)) else {
        return Err(CommandError::unknown_subcommand(command.name, name));
    };
    subcommand.check(Some(command.name), args.len())?;
    front.session.last_command = (command.name, subcommand.name);
    (subcommand.handler)(front, args)
}
