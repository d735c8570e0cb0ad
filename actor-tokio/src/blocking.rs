//! How the process's cap on blocking threads is shared out.
//!
//! Each shard has a Tokio runtime, and each runtime a blocking pool of its own, with Tokio's default of 512 threads: on
//! 64 shards that would be 32,768. The cap of the builder is for all of them together.

/// The threads that each shard's blocking pool may have, summing up to `cap`.
///
/// A Tokio runtime cannot have fewer than one, so a `cap` below the number of shards gives one to each; the sum is then
/// the number of shards.
pub(crate) fn shares(cap: usize, shards: usize) -> impl Iterator<Item = usize> {
    let (each, rest) = (cap / shards.max(1), cap % shards.max(1));
    (0..shards).map(move |shard| (each + usize::from(shard < rest)).max(1))
}

#[cfg(test)]
mod tests {
    use super::shares;

    #[test]
    fn the_cap_is_the_process_s() {
        for (cap, shards, expected) in [
            (512, 1, &[512][..]),
            (512, 2, &[256, 256]),
            (7, 3, &[3, 2, 2]),
            (3, 3, &[1, 1, 1]),
            (2, 3, &[1, 1, 1]),
            (0, 2, &[1, 1]),
            (5, 0, &[]),
        ] {
            assert_eq!(shares(cap, shards).collect::<Vec<_>>(), expected, "{cap} over {shards}");
        }
        for shards in 1..=1_024 {
            assert_eq!(shares(4_096, shards).sum::<usize>(), 4_096);
        }
    }
}
