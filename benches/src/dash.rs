//! The null hypothesis of `kv`: the same commands on one concurrent map that all threads share.

use std::sync::Arc;

use dashmap::{DashMap, Entry as Slot};
use examples::kv::backend::Backend;
use examples::kv::batch::Batch;
use examples::kv::blob::Blob;
use examples::kv::keyspace::{Change, Entry, Keyspace};
use examples::kv::reply::Stats;
use foldhash::quality::RandomState;

/// Keys in a map that all threads share. Keys that have ended go when somebody looks at them; nothing sweeps.
#[derive(Clone, Debug, Default)]
pub struct Dash(Arc<DashMap<Blob, Entry, RandomState>>);

impl Backend for Dash {
    type Execute = std::future::Ready<Option<Box<Batch>>>;

    fn execute(&self, _partition: usize, mut batch: Box<Batch>) -> Self::Execute {
        batch.run(&mut self.clone());
        std::future::ready(Some(batch))
    }
}

impl Keyspace for Dash {
    fn read<R>(&mut self, key: &[u8], now: u64, look: impl FnOnce(Option<&Entry>) -> R) -> R {
        if let Some(entry) = self.0.get(key) {
            if !entry.deadline.has_passed(now) {
                return look(Some(&entry));
            }
            drop(entry);
            self.0.remove_if(key, |_, entry| entry.deadline.has_passed(now));
        }
        look(None)
    }

    fn update<R>(&mut self, key: &[u8], now: u64, change: impl FnOnce(Option<&mut Entry>) -> (Change, R)) -> R {
        match self.0.entry(Blob::copy_from(key)) {
            Slot::Occupied(mut slot) if !slot.get().deadline.has_passed(now) => {
                let (change, result) = change(Some(slot.get_mut()));
                match change {
                    Change::Keep => {}
                    Change::Put(entry) => drop(slot.insert(entry)),
                    Change::Remove => drop(slot.remove()),
                }
                result
            }
            slot => {
                let (change, result) = change(None);
                match (slot, change) {
                    (slot, Change::Put(entry)) => drop(slot.insert(entry)),
                    (Slot::Occupied(ended), _) => drop(ended.remove()),
                    _ => {}
                }
                result
            }
        }
    }

    /// A step is one of the map's own parts, whatever the count: a key never changes its part.
    fn scan(&mut self, position: u64, _count: usize, now: u64, mut visit: impl FnMut(&Blob)) -> u64 {
        let part = position as usize;
        for item in self.0.iter().filter(|item| self.0.determine_map(item.key()) == part) {
            if !item.deadline.has_passed(now) {
                visit(item.key());
            }
        }
        if part + 1 < self.0.shards().len() { position + 1 } else { 0 }
    }

    fn for_each(&mut self, now: u64, mut visit: impl FnMut(&Blob)) {
        self.0.iter().filter(|item| !item.deadline.has_passed(now)).for_each(|item| visit(item.key()));
    }

    fn clear(&mut self) {
        self.0.clear();
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn stats(&self) -> Stats {
        Stats { keys: self.0.len(), ..Stats::default() }
    }
}
