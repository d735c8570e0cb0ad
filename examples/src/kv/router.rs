//! The way from a key to its partition.

use std::hash::BuildHasher;

use foldhash::quality::RandomState;

/// Finds the partition of a key.
#[derive(Clone, Debug)]
pub struct Router {
    hash: RandomState,
    partitions: usize,
}

impl Router {
    /// For so many partitions, at least one. All connections of a server need clones of one router.
    pub fn new(partitions: usize) -> Self {
        Self { hash: RandomState::default(), partitions: partitions.max(1) }
    }

    /// How many there are.
    pub fn partitions(&self) -> usize {
        self.partitions
    }

    /// The partition that owns `key`.
    #[inline]
    pub fn partition_of(&self, key: &[u8]) -> u16 {
        if self.partitions == 1 {
            return 0;
        }
        ((u128::from(self.hash.hash_one(key)) * self.partitions as u128) >> 64) as u16
    }
}

#[cfg(test)]
mod tests {
    use super::Router;

    #[test]
    fn each_partition_gets_its_share_and_a_key_stays_where_it_is() {
        for partitions in [1, 2, 3, 64] {
            let router = Router::new(partitions);
            let mut keys = vec![0; partitions];
            for key in 0..10_000 {
                let key = format!("key:{key:012}");
                let partition = router.partition_of(key.as_bytes());
                assert_eq!(partition, router.clone().partition_of(key.as_bytes()));
                keys[usize::from(partition)] += 1;
            }
            let fair = 10_000 / partitions;
            assert!(keys.iter().all(|keys| (fair / 2..=fair * 2).contains(keys)), "{keys:?}");
        }
    }
}
