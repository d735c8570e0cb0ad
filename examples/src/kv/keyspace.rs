//! What the commands need of the place where keys live. `kv`'s partitions have one each, in a [`Store`](super::store); the
//! server it is measured against has a concurrent map instead.

use super::blob::Blob;
use super::clock::Deadline;
use super::reply::Stats;

/// The value of a key.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The value.
    pub value: Blob,
    /// When it ends.
    pub deadline: Deadline,
}

impl Entry {
    /// A value without an end.
    pub fn new(value: Blob) -> Self {
        Self { value, deadline: Deadline::NEVER }
    }
}

/// What becomes of a key.
#[derive(Debug)]
pub enum Change {
    /// It stays as it is, absent or present, with what was changed in place.
    Keep,
    /// It has this value now.
    Put(Entry),
    /// It is gone.
    Remove,
}

/// Keys and their values. A key whose time has passed is not there for anybody who looks.
pub trait Keyspace {
    /// Looks at a key.
    fn read<R>(&mut self, key: &[u8], now: u64, look: impl FnOnce(Option<&Entry>) -> R) -> R;

    /// Changes a key: as one step, whoever else uses it.
    fn update<R>(&mut self, key: &[u8], now: u64, change: impl FnOnce(Option<&mut Entry>) -> (Change, R)) -> R;

    /// Visits about `count` keys from `position` on, and answers where to go on. Both are 0 for the beginning and the end;
    /// the rest is the keyspace's own. A key that is there from the beginning of a walk to its end is visited, at least
    /// once, whatever happens to others in between.
    fn scan(&mut self, position: u64, count: usize, now: u64, visit: impl FnMut(&Blob)) -> u64;

    /// Visits all keys.
    fn for_each(&mut self, now: u64, visit: impl FnMut(&Blob));

    /// Deletes everything.
    fn clear(&mut self);

    /// How many keys there are. Some of them may have ended already.
    fn len(&self) -> usize;

    /// Whether there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Figures for `INFO`.
    fn stats(&self) -> Stats;
}
