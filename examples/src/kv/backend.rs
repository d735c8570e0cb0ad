//! What runs the commands behind the front. The front (parsing, planning, replies, the connection itself) is the same for
//! `kv` and for the server that `kv` is measured against; this is where they differ.

use super::batch::Batch;

/// The way to the partitions of a server.
pub trait Backend: Clone + 'static {
    /// The answer: the batch, run as far as its answers are enough; `None` if it is lost.
    type Execute: Future<Output = Option<Box<Batch>>> + Unpin;

    /// Hands a batch to a partition. Batches handed over one after the other by one connection are run in that order.
    fn execute(&self, partition: usize, batch: Box<Batch>) -> Self::Execute;
}
