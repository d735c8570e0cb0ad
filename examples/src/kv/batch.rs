//! What one read of a connection asks of one partition, and the answers: a box that travels there and back.
//!
//! The connection keeps the box, so a round costs no allocation after the first, and one message each way however many
//! commands it holds. The commands refer to the buffer that they arrived in by [`Span`]s: one reference count a batch.

use bytes::Bytes;

use super::blob::Blob;
use super::clock::{self, Deadline};
use super::exec;
use super::keyspace::Keyspace;
use super::resp::Span;

/// How many bytes of answers one connection has at most on their way, more or less: its partitions send their batches back
/// unfinished when they have collected their part of it, and the connection asks for the rest once its client has taken
/// these. So a client that does not read holds no more memory than this.
pub const ANSWERS: usize = 256 * 1024;

/// Commands for one partition, in the order of the connection, and their answers.
#[derive(Debug, Default)]
pub struct Batch {
    input: Bytes,
    /// How large the allocation behind `input` is.
    input_capacity: usize,
    /// After how many bytes of answers to stop.
    enough: usize,
    now: u64,
    ops: Vec<Op>,
    /// How many of `ops` have been run.
    done: usize,
    replies: Vec<Reply>,
    /// How many of `replies` have been taken.
    taken: usize,
}

impl Batch {
    /// Adds a command.
    pub fn push(&mut self, op: Op) {
        self.ops.push(op);
    }

    /// Says where the arguments of the commands are: in `input`, which is part of an allocation of `capacity` bytes; and
    /// how many bytes of answers are enough for once.
    pub fn seal(&mut self, input: Bytes, capacity: usize, enough: usize) {
        self.input = input;
        self.input_capacity = capacity;
        self.enough = enough;
        self.now = clock::now();
    }

    /// Whether there is something left to run.
    pub fn has_work(&self) -> bool {
        self.done < self.ops.len()
    }

    /// Whether there is an answer left to take.
    pub fn has_replies(&self) -> bool {
        self.taken < self.replies.len()
    }

    /// Runs commands against `keys` until all are done or the answers are enough. At least one is run.
    pub fn run(&mut self, keys: &mut impl Keyspace) {
        self.replies.clear();
        self.taken = 0;
        let (source, now) = (Source { input: &self.input, capacity: self.input_capacity }, self.now);
        let mut collected = 0;
        for op in &self.ops[self.done..] {
            let reply = exec::run(keys, source, now, op);
            collected += reply.size();
            self.replies.push(reply);
            self.done += 1;
            if collected > self.enough {
                break;
            }
        }
    }

    /// The next answer, in the order of the commands.
    pub fn take(&mut self) -> Option<Reply> {
        let reply = self.replies.get_mut(self.taken)?;
        self.taken += 1;
        Some(std::mem::replace(reply, Reply::Nil))
    }

    /// Lets go of everything but the memory of the box itself.
    pub fn clear(&mut self) {
        self.input = Bytes::new();
        self.ops.clear();
        self.done = 0;
        self.replies.clear();
        self.taken = 0;
    }
}

/// Where the arguments of a command are.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    input: &'a Bytes,
    capacity: usize,
}

/// From here on a value may stay in the buffer it came in.
const WORTH_SHARING: usize = 4 * 1024;

impl<'a> Source<'a> {
    /// The bytes of an argument.
    pub fn bytes(&self, span: Span) -> &'a [u8] {
        span.of(self.input)
    }

    /// An argument to keep. It is copied, unless it is long and fills most of the buffer that it arrived in: a slice
    /// keeps the whole buffer alive, so 5 bytes must not hold 64 KiB.
    pub fn keep(&self, span: Span) -> Blob {
        let bytes = self.bytes(span);
        if bytes.len() >= WORTH_SHARING && bytes.len() >= self.capacity / 2 {
            Blob::adopt(self.input.slice(span.range()))
        } else {
            Blob::copy_from(bytes)
        }
    }
}

/// One command on one partition. A command with several keys is one of these for each.
#[derive(Clone, Copy, Debug)]
pub enum Op {
    /// The value of a key.
    Get(Span),
    /// `SET` in all its forms but `SETNX`.
    Set {
        /// The key.
        key: Span,
        /// The new value.
        value: Span,
        /// Whether to do it.
        when: SetWhen,
        /// What becomes of the time to live.
        ttl: Ttl,
        /// Whether the answer is the old value.
        get: bool,
    },
    /// `SETNX`: answers 1 or 0.
    SetIfAbsent(Span, Span),
    /// Answers how many there were to delete.
    Del(Span),
    /// Answers how many there are.
    Exists(Span),
    /// Adds to a number.
    Increment(Span, i64),
    /// Appends to a value; answers the new length.
    Append(Span, Span),
    /// The length of a value.
    Length(Span),
    /// Sets when a key ends.
    Expire {
        /// The key.
        key: Span,
        /// When it ends, in milliseconds since the epoch; in the past, it is deleted.
        at: i64,
        /// Whether to do it.
        when: ExpireWhen,
    },
    /// How long a key lives, in milliseconds or seconds.
    TimeToLive {
        /// The key.
        key: Span,
        /// Milliseconds rather than seconds.
        millis: bool,
    },
    /// Takes the time to live off a key.
    Persist(Span),
    /// The type of a key's value.
    Type(Span),
    /// A step over the keys.
    Scan {
        /// Where to go on; see [`Keyspace::scan`].
        position: u64,
        /// How many keys to look at.
        count: usize,
        /// Which keys to answer.
        pattern: Option<Span>,
        /// Whether strings are asked for, which all values are.
        strings: bool,
    },
    /// All keys that match.
    Keys(Span),
    /// How many keys there are.
    Count,
    /// Deletes everything.
    Clear,
    /// Figures for `INFO`.
    Stats,
}

/// The condition of a `SET`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SetWhen {
    /// None.
    #[default]
    Always,
    /// `NX`.
    Absent,
    /// `XX`.
    Present,
}

/// What a `SET` does to the time to live.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ttl {
    /// `KEEPTTL`.
    Keep,
    /// The key ends then.
    Until(Deadline),
}

/// The condition of an `EXPIRE`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ExpireWhen {
    /// None.
    #[default]
    Always,
    /// `NX`: the key has no time to live.
    Absent,
    /// `XX`: it has one.
    Present,
    /// `GT`: the new end is later.
    Later,
    /// `LT`: the new end is earlier.
    Earlier,
    /// `XX GT`.
    PresentLater,
    /// `XX LT`.
    PresentEarlier,
}

/// The answer to an [`Op`].
#[derive(Debug)]
pub enum Reply {
    /// Done.
    Ok,
    /// Nothing there.
    Nil,
    /// A number.
    Integer(i64),
    /// A value.
    Bulk(Blob),
    /// A word.
    Simple(&'static str),
    /// It could not be done, with the code in front.
    Error(&'static str),
    /// Some keys.
    Keys(Vec<Blob>),
    /// Some keys, and where to go on; 0 when that was the last.
    Scanned(u64, Vec<Blob>),
    /// Figures for `INFO`.
    Stats(Box<Stats>),
}

impl Reply {
    /// How much memory it holds, roughly.
    fn size(&self) -> usize {
        match self {
            Self::Bulk(blob) => size_of::<Self>() + blob.len(),
            Self::Keys(keys) | Self::Scanned(_, keys) => {
                keys.iter().map(|key| size_of::<Blob>() + key.as_shared().map_or(0, |shared| shared.len())).sum()
            }
            _ => size_of::<Self>(),
        }
    }
}

/// What a partition tells about itself.
#[derive(Clone, Copy, Default, Debug)]
pub struct Stats {
    /// Keys.
    pub keys: usize,
    /// Keys with a time to live.
    pub expiring: usize,
    /// Keys that ended by it so far.
    pub expired: u64,
    /// Reads that found a key so far.
    pub hits: u64,
    /// Reads that found none so far.
    pub misses: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_that_a_batch_pays_for() {
        assert!(size_of::<Op>() <= 48, "{}", size_of::<Op>());
        assert!(size_of::<Reply>() <= 48, "{}", size_of::<Reply>());
    }
}
