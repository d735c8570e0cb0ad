//! What a partition can be asked to do. Arguments are [`Span`]s of the input of the batch that it comes in.

use super::clock::Deadline;
use super::resp::Span;

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
        /// Where to go on; see [`Keyspace::scan`](super::keyspace::Keyspace::scan).
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

#[cfg(test)]
mod tests {
    use super::Op;

    #[test]
    fn small_enough_for_a_batch_of_many() {
        assert!(size_of::<Op>() <= 48, "{}", size_of::<Op>());
    }
}
