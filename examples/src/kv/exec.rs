//! What each command does to a [`Keyspace`]. Nothing in here knows about connections, actors or the wire.

use super::batch::Source;
use super::blob::Blob;
use super::clock::Deadline;
use super::glob;
use super::keyspace::{Change, Entry, Keyspace};
use super::op::{ExpireWhen, Op, SetWhen, Ttl};
use super::reply::Reply;
use super::resp::{Span, parse_integer};

/// Redis' `proto-max-bulk-len`: no value is longer.
const MAX_VALUE: usize = 512 * 1024 * 1024;

const NOT_AN_INTEGER: &str = "ERR value is not an integer or out of range";
const OVERFLOW: &str = "ERR increment or decrement would overflow";
const TOO_LONG: &str = "ERR string exceeds maximum allowed size (proto-max-bulk-len)";

/// Runs one command whose arguments are in `source`, at the time `now`.
pub fn run(keys: &mut impl Keyspace, source: Source<'_>, now: u64, op: &Op) -> Reply {
    match *op {
        Op::Get(key) => keys.read(source.bytes(key), now, value_or_nil),
        Op::Set { key, value, when, ttl, get } => set(keys, source, now, key, source.keep(value), (when, ttl, get)),
        Op::SetIfAbsent(key, value) => keys.update(source.bytes(key), now, |entry| match entry {
            Some(_) => (Change::Keep, Reply::Integer(0)),
            None => (Change::Put(Entry::new(source.keep(value))), Reply::Integer(1)),
        }),
        Op::Del(key) => keys.update(source.bytes(key), now, |entry| match entry {
            Some(_) => (Change::Remove, Reply::Integer(1)),
            None => (Change::Keep, Reply::Integer(0)),
        }),
        Op::Exists(key) => keys.read(source.bytes(key), now, |entry| Reply::Integer(entry.is_some().into())),
        Op::Increment(key, by) => keys.update(source.bytes(key), now, |entry| increment(entry, by)),
        Op::Append(key, tail) => append(keys, source, now, key, tail),
        Op::Length(key) => {
            keys.read(source.bytes(key), now, |entry| Reply::Integer(entry.map_or(0, |entry| entry.value.len() as i64)))
        }
        Op::Expire { key, at, when } => keys.update(source.bytes(key), now, |entry| expire(entry, now, at, when)),
        Op::TimeToLive { key, millis } => keys.read(source.bytes(key), now, |entry| time_to_live(entry, now, millis)),
        Op::Persist(key) => keys.update(source.bytes(key), now, |entry| match entry {
            Some(entry) if entry.deadline != Deadline::NEVER => {
                entry.deadline = Deadline::NEVER;
                (Change::Keep, Reply::Integer(1))
            }
            _ => (Change::Keep, Reply::Integer(0)),
        }),
        Op::Type(key) => {
            keys.read(source.bytes(key), now, |entry| Reply::Simple(if entry.is_some() { "string" } else { "none" }))
        }
        Op::Scan { position, count, pattern, strings } => {
            let pattern = pattern.map(|pattern| source.bytes(pattern));
            let mut found = Vec::new();
            let next = keys.scan(position, count, now, |key| {
                if strings && pattern.is_none_or(|pattern| glob::matches(pattern, key.as_slice())) {
                    found.push(key.clone());
                }
            });
            Reply::Scanned(next, found)
        }
        Op::Keys(pattern) => {
            let pattern = source.bytes(pattern);
            let mut found = Vec::new();
            keys.for_each(now, |key| {
                if glob::matches(pattern, key.as_slice()) {
                    found.push(key.clone());
                }
            });
            Reply::Keys(found)
        }
        Op::Count => Reply::Integer(keys.len() as i64),
        Op::Clear => {
            keys.clear();
            Reply::Ok
        }
        Op::Stats => Reply::Stats(Box::new(keys.stats())),
    }
}

fn value_or_nil(entry: Option<&Entry>) -> Reply {
    entry.map_or(Reply::Nil, |entry| Reply::Bulk(entry.value.clone()))
}

fn set(
    keys: &mut impl Keyspace,
    source: Source<'_>,
    now: u64,
    key: Span,
    value: Blob,
    (when, ttl, get): (SetWhen, Ttl, bool),
) -> Reply {
    keys.update(source.bytes(key), now, |entry| {
        let old = if get { Some(value_or_nil(entry.as_deref())) } else { None };
        let allowed = match when {
            SetWhen::Always => true,
            SetWhen::Absent => entry.is_none(),
            SetWhen::Present => entry.is_some(),
        };
        if !allowed {
            return (Change::Keep, old.unwrap_or(Reply::Nil));
        }
        let change = match (entry, ttl) {
            (Some(entry), Ttl::Keep) => {
                entry.value = value;
                Change::Keep
            }
            (Some(entry), Ttl::Until(deadline)) => {
                *entry = Entry { value, deadline };
                Change::Keep
            }
            (None, Ttl::Keep) => Change::Put(Entry::new(value)),
            (None, Ttl::Until(deadline)) => Change::Put(Entry { value, deadline }),
        };
        (change, old.unwrap_or(Reply::Ok))
    })
}

fn increment(entry: Option<&mut Entry>, by: i64) -> (Change, Reply) {
    let current = match &entry {
        None => Some(0),
        Some(entry) => parse_integer(entry.value.as_slice()),
    };
    let Some(current) = current else { return (Change::Keep, Reply::Error(NOT_AN_INTEGER)) };
    let Some(sum) = current.checked_add(by) else { return (Change::Keep, Reply::Error(OVERFLOW)) };
    let value = Blob::copy_from(itoa::Buffer::new().format(sum).as_bytes());
    let change = match entry {
        Some(entry) => {
            entry.value = value;
            Change::Keep
        }
        None => Change::Put(Entry::new(value)),
    };
    (change, Reply::Integer(sum))
}

fn append(keys: &mut impl Keyspace, source: Source<'_>, now: u64, key: Span, tail: Span) -> Reply {
    keys.update(source.bytes(key), now, |entry| match entry {
        None => {
            let value = source.keep(tail);
            let len = value.len() as i64;
            (Change::Put(Entry::new(value)), Reply::Integer(len))
        }
        Some(entry) => {
            let tail = source.bytes(tail);
            if entry.value.len() + tail.len() > MAX_VALUE {
                return (Change::Keep, Reply::Error(TOO_LONG));
            }
            entry.value = std::mem::replace(&mut entry.value, Blob::copy_from(b"")).append(tail);
            (Change::Keep, Reply::Integer(entry.value.len() as i64))
        }
    })
}

fn expire(entry: Option<&mut Entry>, now: u64, at: i64, when: ExpireWhen) -> (Change, Reply) {
    let Some(entry) = entry else { return (Change::Keep, Reply::Integer(0)) };
    let end = Deadline::at(at.max(0) as u64);
    let has_end = entry.deadline != Deadline::NEVER;
    // Never is later than any point in time, as Redis has it.
    let allowed = match when {
        ExpireWhen::Always => true,
        ExpireWhen::Absent => !has_end,
        ExpireWhen::Present => has_end,
        ExpireWhen::Later | ExpireWhen::PresentLater => end > entry.deadline,
        ExpireWhen::Earlier => end < entry.deadline,
        ExpireWhen::PresentEarlier => has_end && end < entry.deadline,
    };
    if !allowed {
        return (Change::Keep, Reply::Integer(0));
    }
    if at <= now as i64 {
        return (Change::Remove, Reply::Integer(1));
    }
    entry.deadline = end;
    (Change::Keep, Reply::Integer(1))
}

fn time_to_live(entry: Option<&Entry>, now: u64, millis: bool) -> Reply {
    let Some(entry) = entry else { return Reply::Integer(-2) };
    let Some(end) = entry.deadline.millis() else { return Reply::Integer(-1) };
    let left = end.saturating_sub(now);
    Reply::Integer(if millis { left as i64 } else { (left.saturating_add(500) / 1_000) as i64 })
}
