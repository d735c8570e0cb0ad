//! The keys of one partition: a hash table over a dense array of entries.
//!
//! The dense array is what makes `SCAN` exact. A walk goes from the last entry to the first, and its position is how many
//! entries are still ahead of it. Removing an entry moves the last one into the gap; the walk has either visited that last
//! one, or has both the gap and it still ahead. New entries go to the end. So nothing that is ahead of the walk ever gets
//! behind it without being visited, and a step costs what it visits however much the table has grown meanwhile.

use foldhash::quality::RandomState;
use indexmap::IndexMap;

use super::blob::Blob;
use super::clock::Deadline;
use super::expiry::Deadlines;
use super::keyspace::{Change, Entry, Keyspace};
use super::reply::Stats;

/// The keys of one partition.
#[derive(Debug, Default)]
pub struct Store {
    entries: IndexMap<Blob, Entry, RandomState>,
    deadlines: Deadlines,
    expired: u64,
    hits: u64,
    misses: u64,
}

impl Store {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Removes up to `budget` keys that have ended. Answers whether that was all.
    pub fn sweep(&mut self, now: u64, budget: usize) -> bool {
        for _ in 0..budget {
            let Some(key) = self.deadlines.passed(now) else { return true };
            match self.entries.get_index_of(key.as_slice()) {
                Some(index) => self.expire(index),
                // The two are changed together, so this does not happen; a sweep must not hang on it.
                None => return true,
            }
        }
        self.deadlines.passed(now).is_none()
    }

    /// Where a key that has not ended is.
    #[inline]
    fn find(&mut self, key: &[u8], now: u64) -> Option<usize> {
        let index = self.entries.get_index_of(key)?;
        if self.entries[index].deadline.has_passed(now) {
            self.expire(index);
            return None;
        }
        Some(index)
    }

    fn expire(&mut self, index: usize) {
        self.expired += 1;
        self.remove(index);
    }

    fn remove(&mut self, index: usize) {
        if let Some((key, entry)) = self.entries.swap_remove_index(index) {
            self.deadlines.moved(&key, entry.deadline, Deadline::NEVER);
        }
        // Memory goes back once three quarters of it are unused.
        if self.entries.capacity() > 1_024 && self.entries.len() < self.entries.capacity() / 4 {
            self.entries.shrink_to(self.entries.len() * 2);
        }
    }
}

impl Keyspace for Store {
    fn read<R>(&mut self, key: &[u8], now: u64, look: impl FnOnce(Option<&Entry>) -> R) -> R {
        match self.find(key, now) {
            Some(index) => {
                self.hits += 1;
                look(Some(&self.entries[index]))
            }
            None => {
                self.misses += 1;
                look(None)
            }
        }
    }

    fn update<R>(&mut self, key: &[u8], now: u64, change: impl FnOnce(Option<&mut Entry>) -> (Change, R)) -> R {
        let Some(index) = self.find(key, now) else {
            let (change, result) = change(None);
            if let Change::Put(entry) = change {
                let key = Blob::copy_from(key);
                self.deadlines.moved(&key, Deadline::NEVER, entry.deadline);
                self.entries.insert(key, entry);
            }
            return result;
        };
        let Some((key, entry)) = self.entries.get_index_mut(index) else { return change(None).1 };
        let old = entry.deadline;
        let (change, result) = change(Some(entry));
        match change {
            Change::Keep => self.deadlines.moved(key, old, entry.deadline),
            Change::Put(new) => {
                self.deadlines.moved(key, old, new.deadline);
                *entry = new;
            }
            Change::Remove => {
                // What is removed leaves the index by the end that the entry has, so it must have the indexed one.
                entry.deadline = old;
                self.remove(index);
            }
        }
        result
    }

    fn scan(&mut self, position: u64, count: usize, now: u64, mut visit: impl FnMut(&Blob)) -> u64 {
        let len = self.entries.len();
        let ahead = if position == 0 { len } else { len.min(usize::try_from(position).unwrap_or(usize::MAX)) };
        let rest = ahead.saturating_sub(count.max(1));
        for index in (rest..ahead).rev() {
            if let Some((key, entry)) = self.entries.get_index(index)
                && !entry.deadline.has_passed(now)
            {
                visit(key);
            }
        }
        rest as u64
    }

    fn for_each(&mut self, now: u64, mut visit: impl FnMut(&Blob)) {
        self.entries.iter().filter(|(_, entry)| !entry.deadline.has_passed(now)).for_each(|(key, _)| visit(key));
    }

    fn clear(&mut self) {
        self.entries = IndexMap::default();
        self.deadlines.clear();
    }

    fn len(&self) -> usize {
        self.entries.len()
    }

    fn stats(&self) -> Stats {
        Stats {
            keys: self.entries.len(),
            expiring: self.deadlines.len(),
            expired: self.expired,
            hits: self.hits,
            misses: self.misses,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn put(store: &mut Store, key: &str, deadline: Deadline) {
        store.update(key.as_bytes(), 0, |_| (Change::Put(Entry { value: Blob::copy_from(b"v"), deadline }), ()));
    }

    fn remove(store: &mut Store, key: &str) {
        store.update(key.as_bytes(), 0, |_| (Change::Remove, ()));
    }

    fn has(store: &mut Store, key: &str, now: u64) -> bool {
        store.read(key.as_bytes(), now, |entry| entry.is_some())
    }

    #[test]
    fn a_key_that_ended_is_gone_for_who_looks_and_for_who_does_not() {
        let mut store = Store::new();
        for (key, end) in [("a", 10), ("b", 20), ("c", 20), ("d", 30)] {
            put(&mut store, key, Deadline::at(end));
        }
        put(&mut store, "e", Deadline::NEVER);
        assert!(has(&mut store, "a", 10), "its last millisecond");
        assert!(!has(&mut store, "a", 11));
        assert_eq!(store.len(), 4);
        assert!(!store.sweep(21, 1), "the budget ends before the work");
        assert!(store.sweep(21, 10));
        assert_eq!((store.len(), store.stats().expiring, store.stats().expired), (2, 1, 3));
        assert!(store.sweep(u64::MAX, 10));
        assert_eq!((store.len(), store.stats().expiring), (1, 0));
    }

    #[test]
    fn the_index_follows_every_change_of_an_end() {
        let mut store = Store::new();
        put(&mut store, "a", Deadline::at(10));
        store.update(b"a", 0, |entry| {
            entry.unwrap().deadline = Deadline::NEVER;
            (Change::Keep, ())
        });
        assert!(store.deadlines.is_empty());
        put(&mut store, "a", Deadline::at(5));
        put(&mut store, "a", Deadline::at(7));
        assert_eq!(store.deadlines.len(), 1);
        store.update(b"a", 0, |entry| {
            entry.unwrap().deadline = Deadline::at(9);
            (Change::Remove, ())
        });
        assert!(store.deadlines.is_empty() && store.is_empty());
        put(&mut store, "a", Deadline::at(5));
        store.clear();
        assert!(store.sweep(100, 1) && store.deadlines.is_empty());
    }

    #[test]
    fn a_walk_visits_what_stays_while_others_come_and_go() {
        // A fixed sequence that stirs well enough.
        let mut state = 1_u32;
        let mut next = move |below: usize| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as usize % below
        };
        for round in 0..50 {
            let mut store = Store::new();
            for key in 0..200 {
                put(&mut store, &format!("stays{key}"), Deadline::NEVER);
                put(&mut store, &format!("goes{key}"), Deadline::NEVER);
            }
            let mut seen = BTreeSet::new();
            let (mut position, mut steps) = (0, 0);
            loop {
                position = store.scan(position, 1 + next(7), 0, |key| {
                    seen.insert(String::from_utf8(key.as_slice().to_vec()).unwrap());
                });
                if position == 0 {
                    break;
                }
                for _ in 0..next(8) {
                    remove(&mut store, &format!("goes{}", next(200)));
                }
                for _ in 0..next(3) {
                    put(&mut store, &format!("new{}", next(1_000)), Deadline::NEVER);
                }
                steps += 1;
                assert!(steps < 10_000, "the walk ends");
            }
            for key in 0..200 {
                assert!(seen.contains(&format!("stays{key}")), "round {round}, key {key}");
            }
        }
    }
}
