//! What a partition answers.

use super::blob::Blob;

/// The answer to an [`Op`](super::op::Op).
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
    pub fn size(&self) -> usize {
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
    use super::Reply;

    #[test]
    fn small_enough_for_a_batch_of_many() {
        assert!(size_of::<Reply>() <= 48, "{}", size_of::<Reply>());
    }
}
