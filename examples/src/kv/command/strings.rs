//! Commands on values.

use super::{CommandError, Front};
use crate::kv::clock::{self, Deadline};
use crate::kv::op::{Op, SetWhen, Ttl};
use crate::kv::resp::{Args, parse_integer};

pub(super) fn get(front: &mut Front<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    front.plan.one(args.get(1), Op::Get(args.span(1)));
    Ok(())
}

pub(super) fn strlen(front: &mut Front<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    front.plan.one(args.get(1), Op::Length(args.span(1)));
    Ok(())
}

pub(super) fn mget(front: &mut Front<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    front.plan.array((1..args.len()).map(|index| (args.get(index), Op::Get(args.span(index)))));
    Ok(())
}

pub(super) fn set(front: &mut Front<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    let (mut when, mut ttl, mut get) = (SetWhen::Always, None, false);
    let mut index = 3;
    while index < args.len() {
        let option = args.get(index).to_ascii_uppercase();
        match &option[..] {
            b"NX" if when == SetWhen::Always => when = SetWhen::Absent,
            b"XX" if when == SetWhen::Always => when = SetWhen::Present,
            b"NX" if when == SetWhen::Absent => {}
            b"XX" if when == SetWhen::Present => {}
            b"GET" => get = true,
            b"KEEPTTL" if matches!(ttl, None | Some(End::Keep)) => ttl = Some(End::Keep),
            b"EX" | b"PX" | b"EXAT" | b"PXAT" if ttl.is_none() && index + 1 < args.len() => {
                index += 1;
                let (relative, unit) = (option.len() == 2, if option[0] == b'E' { 1_000 } else { 1 });
                ttl = Some(End::Time { text: args.get(index), relative, unit });
            }
            _ => return Err(CommandError::SYNTAX),
        }
        index += 1;
    }
    // Like Redis, numbers are looked at once the options are known to be right.
    let ttl = match ttl {
        None => Ttl::Until(Deadline::NEVER),
        Some(End::Keep) => Ttl::Keep,
        Some(End::Time { text, relative, unit }) => Ttl::Until(deadline("set", text, relative, unit)?),
    };
    front.plan.one(args.get(1), Op::Set { key: args.span(1), value: args.span(2), when, ttl, get });
    Ok(())
}

pub(super) fn setex(front: &mut Front<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    set_until(front, args, deadline("setex", args.get(2), true, 1_000)?)
}

pub(super) fn psetex(front: &mut Front<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    set_until(front, args, deadline("psetex", args.get(2), true, 1)?)
}

pub(super) fn getset(front: &mut Front<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    front.plan.one(args.get(1), plain_set(args, 1, true));
    Ok(())
}

pub(super) fn setnx(front: &mut Front<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    front.plan.one(args.get(1), Op::SetIfAbsent(args.span(1), args.span(2)));
    Ok(())
}

pub(super) fn mset(front: &mut Front<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    if args.len().is_multiple_of(2) {
        return Err(CommandError::arity("mset"));
    }
    front.plan.all_ok((1..args.len()).step_by(2).map(|index| (args.get(index), plain_set(args, index, false))));
    Ok(())
}

pub(super) fn append(front: &mut Front<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    front.plan.one(args.get(1), Op::Append(args.span(1), args.span(2)));
    Ok(())
}

pub(super) fn incr(front: &mut Front<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    front.plan.one(args.get(1), Op::Increment(args.span(1), 1));
    Ok(())
}

pub(super) fn decr(front: &mut Front<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    front.plan.one(args.get(1), Op::Increment(args.span(1), -1));
    Ok(())
}

pub(super) fn incrby(front: &mut Front<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    let by = parse_integer(args.get(2)).ok_or(CommandError::NOT_AN_INTEGER)?;
    front.plan.one(args.get(1), Op::Increment(args.span(1), by));
    Ok(())
}

pub(super) fn decrby(front: &mut Front<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    let by = parse_integer(args.get(2)).ok_or(CommandError::NOT_AN_INTEGER)?;
    let by = by.checked_neg().ok_or(CommandError::new("ERR decrement would overflow"))?;
    front.plan.one(args.get(1), Op::Increment(args.span(1), by));
    Ok(())
}

enum End<'a> {
    Keep,
    Time { text: &'a [u8], relative: bool, unit: i64 },
}

fn deadline(command: &str, text: &[u8], relative: bool, unit: i64) -> Result<Deadline, CommandError> {
    let time = parse_integer(text).ok_or(CommandError::NOT_AN_INTEGER)?;
    let invalid = || CommandError::expire_time(command);
    if time <= 0 {
        return Err(invalid());
    }
    let millis = time.checked_mul(unit).ok_or_else(invalid)?;
    let since = if relative { clock::now() as i64 } else { 0 };
    Ok(Deadline::at(millis.checked_add(since).ok_or_else(invalid)? as u64))
}

fn set_until(front: &mut Front<'_>, args: &Args<'_>, deadline: Deadline) -> Result<(), CommandError> {
    let (key, value, ttl) = (args.span(1), args.span(3), Ttl::Until(deadline));
    front.plan.one(args.get(1), Op::Set { key, value, when: SetWhen::Always, ttl, get: false });
    Ok(())
}

fn plain_set(args: &Args<'_>, index: usize, get: bool) -> Op {
    Op::Set {
        key: args.span(index),
        value: args.span(index + 1),
        when: SetWhen::Always,
        ttl: Ttl::Until(Deadline::NEVER),
        get,
    }
}
