//! The order in which keys end.
//!
//! A key that is looked at after its end is removed there and then. This index finds those that nobody looks at: exactly
//! those that have ended, in their order, so a sweep costs what it removes and a store without expiring keys pays nothing.

use std::collections::BTreeSet;

use super::blob::Blob;
use super::clock::Deadline;

/// The keys that have an end, by when.
#[derive(Debug, Default)]
pub struct Deadlines(BTreeSet<(u64, Blob)>);

impl Deadlines {
    /// A key's end changed from `old` to `new`.
    #[inline]
    pub fn moved(&mut self, key: &Blob, old: Deadline, new: Deadline) {
        if old != new {
            self.replace(key, old, new);
        }
    }

    /// A key that has ended at `now` but is still in the index.
    pub fn passed(&self, now: u64) -> Option<&Blob> {
        self.0.first().filter(|(end, _)| Deadline::at(*end).has_passed(now)).map(|(_, key)| key)
    }

    /// How many keys have an end.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether no key has one.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    #[cold]
    fn replace(&mut self, key: &Blob, old: Deadline, new: Deadline) {
        if let Some(old) = old.millis() {
            self.0.remove(&(old, key.clone()));
        }
        if let Some(new) = new.millis() {
            self.0.insert((new, key.clone()));
        }
    }
}
