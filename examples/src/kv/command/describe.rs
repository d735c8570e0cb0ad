//! `COMMAND` and its subcommands, and the `HELP` of all commands that have one: the table, written out.

use super::{COMMANDS, CommandError, Front, Keys, Spec};
use crate::kv::resp::{Args, Writer};

pub(super) fn all(front: &mut Front<'_>, _args: &Args<'_>) -> Result<(), CommandError> {
    front.plan.answer(|reply| {
        reply.array(COMMANDS.len());
        COMMANDS.iter().for_each(|command| write(reply, command, None));
    });
    Ok(())
}

pub(super) fn count(front: &mut Front<'_>, _args: &Args<'_>) -> Result<(), CommandError> {
    front.plan.answer(|reply| reply.integer(COMMANDS.len() as i64));
    Ok(())
}

pub(super) fn info(front: &mut Front<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    if args.len() == 2 {
        return all(front, args);
    }
    front.plan.answer(|reply| {
        reply.array(args.len() - 2);
        for name in args.from(2) {
            match find(name) {
                Some((command, of)) => write(reply, command, of),
                None => reply.null(),
            }
        }
    });
    Ok(())
}

pub(super) fn docs(front: &mut Front<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    let wanted: Vec<_> = match args.len() {
        2 => COMMANDS.iter().map(|command| (command, None)).collect(),
        _ => args.from(2).filter_map(find).collect(),
    };
    front.plan.answer(|reply| write_docs(reply, &wanted));
    Ok(())
}

pub(super) fn list(front: &mut Front<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    if args.len() > 2 {
        return Err(CommandError::SYNTAX);
    }
    front.plan.answer(|reply| {
        reply.array(COMMANDS.len());
        COMMANDS.iter().for_each(|command| reply.bulk(command.name.as_bytes()));
    });
    Ok(())
}

pub(super) fn help(front: &mut Front<'_>, _args: &Args<'_>) -> Result<(), CommandError> {
    help_for(front, "command");
    Ok(())
}

/// Answers what there is under `name`.
pub(super) fn help_for(front: &mut Front<'_>, name: &str) {
    let Some((command, _)) = find(name.as_bytes()) else { return };
    front.plan.answer(|reply| {
        reply.array(1 + 2 * command.subcommands.len());
        let title = format!("{} <subcommand> [<arg> [value] [opt] ...]. Subcommands are:", name.to_uppercase());
        reply.simple(&title);
        for subcommand in command.subcommands {
            reply.simple(&subcommand.name.to_uppercase());
            reply.simple(&format!("    {}", subcommand.summary));
        }
    });
}

/// A command by its name, or a subcommand as `client|id`.
fn find(name: &[u8]) -> Option<(&'static Spec, Option<&'static str>)> {
    let mut parts = name.splitn(2, |byte| *byte == b'|');
    let first = parts.next()?;
    let command = COMMANDS.iter().find(|command| command.is_called(first))?;
    match parts.next() {
        None => Some((command, None)),
        Some(second) => {
            let subcommand = command.subcommands.iter().find(|subcommand| subcommand.is_called(second))?;
            Some((subcommand, Some(command.name)))
        }
    }
}

fn write(reply: &mut Writer<'_>, command: &Spec, of: Option<&str>) {
    reply.array(10);
    reply.bulk(command.full_name(of).as_bytes());
    reply.integer(command.arity.into());
    words(reply, command.flags);
    reply.integer(command.keys.first);
    reply.integer(command.keys.last);
    reply.integer(command.keys.step);
    words(reply, command.categories);
    reply.array(command.tips.len());
    command.tips.iter().for_each(|tip| reply.bulk(tip.as_bytes()));
    write_keys(reply, command);
    reply.array(command.subcommands.len());
    command.subcommands.iter().for_each(|subcommand| write(reply, subcommand, Some(command.name)));
}

/// Where the keys are, in the newer and wordier form.
fn write_keys(reply: &mut Writer<'_>, command: &Spec) {
    let Keys { first, last, step } = command.keys;
    if command.keys == Keys::NONE {
        return reply.set(0);
    }
    reply.set(1);
    reply.map(3);
    reply.bulk(b"flags");
    words(reply, command.key_flags);
    reply.bulk(b"begin_search");
    reply.map(2);
    reply.bulk(b"type");
    reply.bulk(b"index");
    reply.bulk(b"spec");
    reply.map(1);
    reply.bulk(b"index");
    reply.integer(first);
    reply.bulk(b"find_keys");
    reply.map(2);
    reply.bulk(b"type");
    reply.bulk(b"range");
    reply.bulk(b"spec");
    reply.map(3);
    // Counted from the first key on, or from the end.
    for (name, value) in [("lastkey", if last < 0 { last } else { last - first }), ("keystep", step), ("limit", 0)] {
        reply.bulk(name.as_bytes());
        reply.integer(value);
    }
}

fn write_docs(reply: &mut Writer<'_>, commands: &[(&Spec, Option<&str>)]) {
    reply.map(commands.len());
    for (command, of) in commands {
        reply.bulk(command.full_name(*of).as_bytes());
        reply.map(4 + usize::from(!command.subcommands.is_empty()));
        for (name, text) in [
            ("summary", command.summary),
            ("since", command.since),
            ("group", command.group),
            ("complexity", command.complexity),
        ] {
            reply.bulk(name.as_bytes());
            reply.bulk(text.as_bytes());
        }
        if !command.subcommands.is_empty() {
            reply.bulk(b"subcommands");
            let subcommands: Vec<_> =
                command.subcommands.iter().map(|subcommand| (subcommand, Some(command.name))).collect();
            write_docs(reply, &subcommands);
        }
    }
}

fn words(reply: &mut Writer<'_>, words: &[&str]) {
    reply.set(words.len());
    words.iter().for_each(|word| reply.simple(word));
}
