//! Commands about the connection itself. They are answered on the spot; no partition hears of them.

use super::describe::help_for;
use super::{CommandError, Front};
use crate::kv::info::REDIS_VERSION;
use crate::kv::resp::{Args, Version, parse_integer};

pub(super) fn ping(front: &mut Front<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    match args.len() {
        1 => front.plan.answer(|reply| reply.simple("PONG")),
        2 => front.plan.answer(|reply| reply.bulk(args.get(1))),
        _ => return Err(CommandError::arity("ping")),
    }
    Ok(())
}

pub(super) fn echo(front: &mut Front<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    front.plan.answer(|reply| reply.bulk(args.get(1)));
    Ok(())
}

pub(super) fn quit(front: &mut Front<'_>, _args: &Args<'_>) -> Result<(), CommandError> {
    front.plan.answer(|reply| reply.ok());
    front.plan.close();
    Ok(())
}

pub(super) fn select(front: &mut Front<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    match parse_integer(args.get(1)).map(i32::try_from) {
        Some(Ok(0)) => {
            front.plan.answer(|reply| reply.ok());
            Ok(())
        }
        Some(Ok(_)) => Err(CommandError::new("ERR DB index is out of range")),
        Some(Err(_)) => {
            Err(CommandError::new("ERR value is out of range, value must between -2147483648 and 2147483647"))
        }
        None => Err(CommandError::NOT_AN_INTEGER),
    }
}

pub(super) fn auth(front: &mut Front<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    match args.len() {
        2 => Err(CommandError::new(
            "ERR AUTH <password> called without any password configured for the default user. \
             Are you sure your configuration is correct?",
        )),
        3 => {
            log_in(args.get(1))?;
            front.plan.answer(|reply| reply.ok());
            Ok(())
        }
        _ => Err(CommandError::SYNTAX),
    }
}

pub(super) fn hello(front: &mut Front<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    let mut version = front.session.version;
    if args.len() > 1 {
        version = match parse_integer(args.get(1)) {
            Some(2) => Version::Resp2,
            Some(3) => Version::Resp3,
            Some(_) => return Err(CommandError::new("NOPROTO unsupported protocol version")),
            None => return Err(CommandError::new("ERR Protocol version is not an integer or out of range")),
        };
    }
    let mut name = None;
    let mut index = 2;
    while index < args.len() {
        let more = args.len() - index - 1;
        let option = args.get(index);
        if option.eq_ignore_ascii_case(b"AUTH") && more >= 2 {
            log_in(args.get(index + 1))?;
            index += 3;
        } else if option.eq_ignore_ascii_case(b"SETNAME") && more >= 1 {
            name = Some(client_name(args.get(index + 1))?);
            index += 2;
        } else {
            return Err(CommandError::about("ERR Syntax error in HELLO option '", option, "'"));
        }
    }
    if let Some(name) = name {
        front.session.name = name;
    }
    front.session.version = version;
    front.plan.speak(version);
    let id = front.session.id as i64;
    front.plan.answer(|reply| {
        reply.map(7);
        for (name, value) in [("server", "redis"), ("version", REDIS_VERSION)] {
            reply.bulk(name.as_bytes());
            reply.bulk(value.as_bytes());
        }
        for (name, value) in [("proto", version.number()), ("id", id)] {
            reply.bulk(name.as_bytes());
            reply.integer(value);
        }
        for (name, value) in [("mode", "standalone"), ("role", "master")] {
            reply.bulk(name.as_bytes());
            reply.bulk(value.as_bytes());
        }
        reply.bulk(b"modules");
        reply.array(0);
    });
    Ok(())
}

pub(super) fn client_id(front: &mut Front<'_>, _args: &Args<'_>) -> Result<(), CommandError> {
    let id = front.session.id as i64;
    front.plan.answer(|reply| reply.integer(id));
    Ok(())
}

pub(super) fn client_setname(front: &mut Front<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    front.session.name = client_name(args.get(2))?;
    front.plan.answer(|reply| reply.ok());
    Ok(())
}

pub(super) fn client_getname(front: &mut Front<'_>, _args: &Args<'_>) -> Result<(), CommandError> {
    let name = &front.session.name;
    front.plan.answer(|reply| if name.is_empty() { reply.null() } else { reply.bulk(name) });
    Ok(())
}

pub(super) fn client_setinfo(front: &mut Front<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    let (attribute, value) = (args.get(2), args.get(3));
    if !is_plain(value) {
        let before = format!("ERR {} cannot contain spaces, newlines or special characters.", attribute.escape_ascii());
        return Err(CommandError::about(&before, b"", ""));
    }
    if attribute.eq_ignore_ascii_case(b"LIB-NAME") {
        front.session.library = value.to_vec();
    } else if attribute.eq_ignore_ascii_case(b"LIB-VER") {
        front.session.library_version = value.to_vec();
    } else {
        return Err(CommandError::about("ERR Unrecognized option '", attribute, "'"));
    }
    front.plan.answer(|reply| reply.ok());
    Ok(())
}

pub(super) fn client_info(front: &mut Front<'_>, _args: &Args<'_>) -> Result<(), CommandError> {
    let line = front.session.describe();
    front.plan.answer(|reply| reply.text(&line));
    Ok(())
}

pub(super) fn client_list(front: &mut Front<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    let mut wanted = true;
    if args.len() == 4 && args.get(2).eq_ignore_ascii_case(b"TYPE") {
        let kind = args.get(3).to_ascii_lowercase();
        wanted = match &kind[..] {
            b"normal" => true,
            b"master" | b"replica" | b"slave" | b"pubsub" => false,
            _ => return Err(CommandError::about("ERR Unknown client type '", args.get(3), "'")),
        };
    } else if args.len() > 3 && args.get(2).eq_ignore_ascii_case(b"ID") {
        wanted = false;
        for id in args.from(3) {
            let id = parse_integer(id).filter(|id| *id > 0).ok_or(CommandError::new("ERR Invalid client ID"))?;
            wanted |= id as u64 == front.session.id;
        }
    } else if args.len() != 2 {
        return Err(CommandError::SYNTAX);
    }
    let line = if wanted { front.session.describe() } else { String::new() };
    front.plan.answer(|reply| reply.text(&line));
    Ok(())
}

pub(super) fn client_no_evict(front: &mut Front<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    front.session.no_evict = match &args.get(2).to_ascii_lowercase()[..] {
        b"on" => true,
        b"off" => false,
        _ => return Err(CommandError::SYNTAX),
    };
    front.plan.answer(|reply| reply.ok());
    Ok(())
}

pub(super) fn client_help(front: &mut Front<'_>, _args: &Args<'_>) -> Result<(), CommandError> {
    help_for(front, "client");
    Ok(())
}

/// There is one user, `default`, and it has no password, so any will do.
fn log_in(user: &[u8]) -> Result<(), CommandError> {
    if user == b"default" {
        return Ok(());
    }
    Err(CommandError::new("WRONGPASS invalid username-password pair or user is disabled."))
}

fn client_name(name: &[u8]) -> Result<Vec<u8>, CommandError> {
    if is_plain(name) {
        return Ok(name.to_vec());
    }
    Err(CommandError::new("ERR Client names cannot contain spaces, newlines or special characters."))
}

/// Fits into a line of `CLIENT LIST`.
fn is_plain(text: &[u8]) -> bool {
    text.iter().all(u8::is_ascii_graphic)
}
