//! Commands on keys, whatever their values.

use super::{CommandError, Front};
use crate::kv::clock;
use crate::kv::op::{ExpireWhen, Op};
use crate::kv::resp::{Args, parse_integer};

pub(super) fn del(front: &mut Front<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    front.plan.sum((1..args.len()).map(|index| (args.get(index), Op::Del(args.span(index)))));
    Ok(())
}

pub(super) fn exists(front: &mut Front<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    front.plan.sum((1..args.len()).map(|index| (args.get(index), Op::Exists(args.span(index)))));
    Ok(())
}

pub(super) fn expire(front: &mut Front<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    expire_in(front, args, "expire", 1_000)
}

pub(super) fn pexpire(front: &mut Front<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    expire_in(front, args, "pexpire", 1)
}

pub(super) fn ttl(front: &mut Front<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    front.plan.one(args.get(1), Op::TimeToLive { key: args.span(1), millis: false });
    Ok(())
}

pub(super) fn pttl(front: &mut Front<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    front.plan.one(args.get(1), Op::TimeToLive { key: args.span(1), millis: true });
    Ok(())
}

pub(super) fn persist(front: &mut Front<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    front.plan.one(args.get(1), Op::Persist(args.span(1)));
    Ok(())
}

pub(super) fn kind(front: &mut Front<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    front.plan.one(args.get(1), Op::Type(args.span(1)));
    Ok(())
}

pub(super) fn scan(front: &mut Front<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    let cursor = cursor(args.get(1)).ok_or(CommandError::new("ERR invalid cursor"))?;
    let (mut count, mut pattern, mut strings) = (10, None, true);
    let mut index = 2;
    while index < args.len() {
        if index + 1 == args.len() {
            return Err(CommandError::SYNTAX);
        }
        let value = args.get(index + 1);
        match &args.get(index).to_ascii_uppercase()[..] {
            b"COUNT" => {
                count = parse_integer(value).ok_or(CommandError::NOT_AN_INTEGER)?;
                if count < 1 {
                    return Err(CommandError::SYNTAX);
                }
            }
            b"MATCH" => pattern = Some(args.span(index + 1)),
            b"TYPE" => strings = value.eq_ignore_ascii_case(b"string"),
            _ => return Err(CommandError::SYNTAX),
        }
        index += 2;
    }
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    front.plan.scan(cursor, |position| Op::Scan { position, count, pattern, strings });
    Ok(())
}

pub(super) fn keys(front: &mut Front<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    front.plan.keys(Op::Keys(args.span(1)));
    Ok(())
}

pub(super) fn dbsize(front: &mut Front<'_>, _args: &Args<'_>) -> Result<(), CommandError> {
    front.plan.sum_everywhere(Op::Count);
    Ok(())
}

pub(super) fn flush(front: &mut Front<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    let known = |option: &[u8]| option.eq_ignore_ascii_case(b"SYNC") || option.eq_ignore_ascii_case(b"ASYNC");
    match args.len() {
        1 => {}
        2 if known(args.get(1)) => {}
        _ => return Err(CommandError::SYNTAX),
    }
    front.plan.all_ok_everywhere(Op::Clear);
    Ok(())
}

fn expire_in(front: &mut Front<'_>, args: &Args<'_>, name: &str, unit: i64) -> Result<(), CommandError> {
    // Options first, then the number: the order in which Redis finds faults.
    let when = expire_when(args)?;
    let time = parse_integer(args.get(2)).ok_or(CommandError::NOT_AN_INTEGER)?;
    let at = time
        .checked_mul(unit)
        .and_then(|millis| millis.checked_add(clock::now() as i64))
        .ok_or_else(|| CommandError::expire_time(name))?;
    front.plan.one(args.get(1), Op::Expire { key: args.span(1), at, when });
    Ok(())
}

fn expire_when(args: &Args<'_>) -> Result<ExpireWhen, CommandError> {
    let (mut absent, mut present, mut later, mut earlier) = (false, false, false, false);
    for option in args.from(3) {
        match &option.to_ascii_uppercase()[..] {
            b"NX" => absent = true,
            b"XX" => present = true,
            b"GT" => later = true,
            b"LT" => earlier = true,
            _ => return Err(CommandError::about("ERR Unsupported option ", option, "")),
        }
    }
    if absent && (present || later || earlier) {
        return Err(CommandError::new("ERR NX and XX, GT or LT options at the same time are not compatible"));
    }
    if later && earlier {
        return Err(CommandError::new("ERR GT and LT options at the same time are not compatible"));
    }
    Ok(match (absent, present, later, earlier) {
        (true, ..) => ExpireWhen::Absent,
        (_, true, true, _) => ExpireWhen::PresentLater,
        (_, true, _, true) => ExpireWhen::PresentEarlier,
        (_, true, ..) => ExpireWhen::Present,
        (_, _, true, _) => ExpireWhen::Later,
        (_, _, _, true) => ExpireWhen::Earlier,
        _ => ExpireWhen::Always,
    })
}

/// A cursor as C's `strtoul` reads it, since that is what Redis accepts: a sign is taken.
fn cursor(text: &[u8]) -> Option<u64> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    if !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let value: u64 = std::str::from_utf8(digits).ok()?.parse().ok()?;
    Some(if negative { value.wrapping_neg() } else { value })
}
