//! What every ring promises.

use super::{Mark, Ready};

/// Who pushes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Producer {
    /// The shard that holds the port of this number.
    Shard(u16),
    /// Any other thread.
    Outside,
}

/// A bounded queue for many producers and one consumer.
///
/// # Ordering contract
///
/// * What a producer wrote before [`push`](Self::push) is visible to the consumer after the [`pop`](Self::pop) that
///   returns the value.
/// * The values of one [`Producer`] come out in the order in which they were pushed, where one push happens before the
///   other. All threads outside are one producer. Nothing is promised between two producers.
/// * `pop` may return `None` although a push has returned: another producer may have claimed an older place and not yet
///   filled it, or the ring may not know yet that this producer's lane is in use. So a producer that does not go on to
///   push must [settle](Ready::settle) its mark, and then look at the consumer's doorbell, whatever others saw.
/// * Nothing blocks but for the time of a few instructions of others.
pub trait Ring<T>: Sized + Send + Sync
where
    T: Send,
{
    /// A ring for about `capacity` values, which is at least 1. Each ring says how it rounds; each producer finds room for
    /// at least one value in an empty ring.
    fn new(capacity: usize) -> Self;

    /// Appends `value`, or gives it back when there is no room. Never waits. A ring that the consumer has found empty since
    /// the last push has room again for as many as at first; before that, what was popped need not count yet.
    ///
    /// # Errors
    ///
    /// The value, when there is no room for it.
    ///
    /// # Safety
    ///
    /// Only one thread at a time pushes as one [`Producer::Shard`], and what one such thread did happens before the next
    /// one's push.
    unsafe fn push(&self, ready: &Ready, from: Producer, value: T) -> Result<Mark, T>;

    /// Takes a value, if one is published. `ready` is the same as the producers'.
    ///
    /// # Safety
    ///
    /// Only one thread at a time is the consumer, and what one such thread did happens before the next one's call.
    unsafe fn pop(&self, ready: &Ready) -> Option<T>;

    /// Whether `pop` would return a value now. For the consumer's second look before it sleeps.
    ///
    /// # Safety
    ///
    /// As for [`pop`](Self::pop).
    unsafe fn is_ready(&self, ready: &Ready) -> bool;

    /// Whether nothing is left of all pushes that happen before this call.
    ///
    /// # Safety
    ///
    /// As for [`pop`](Self::pop).
    unsafe fn is_drained(&self) -> bool;

    /// Panics in a model if another thread's use of the ring does not happen before this.
    #[cfg(loom)]
    fn assert_unshared(&mut self);
}
