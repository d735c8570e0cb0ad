//! What becomes of a message for a mailbox that is full.

use std::fmt;

/// What becomes of a message for a mailbox that is full: `#[actor(overflow = DropOldest)]` on the struct, or
/// `.overflow(..)` on the spawn, which wins.
///
/// | policy | ask | `.tell()` | `.try_tell()` | what is lost |
/// |---|---|---|---|---|
/// | `Wait` (default) | waits for room | waits for room | `Full` | nothing |
/// | `Reject` | `Full` at once | `Full` at once | `Full` | nothing: the arguments of a tell come back |
/// | `DropOldest` | accepted | accepted | accepted | the oldest message in the mailbox |
/// | `DropNewest` | accepted | accepted | accepted | the message that arrives |
///
/// [`reserve`](crate::Handle::reserve) waits for room under each of them: it asks for that by name.
///
/// # Mailboxes that drop
///
/// Which message is dropped is decided on the actor's shard when one arrives, whatever the actor is doing: starting, in
/// a handler, stopping. An asker whose message is dropped gets [`AskError::Evicted`](crate::AskError::Evicted); a tell
/// is dropped without a word to its sender. Stops, kills and ends are no messages, and are never dropped. Each loss is
/// counted, in [`Handle::evicted`](crate::Handle::evicted) and [`Stats::evicted`](crate::Stats::evicted), and reported
/// once a turn: with `actor-tokio`, as a `tracing` warning.
///
/// Senders never wait for such an actor. They can be ahead of its *shard*, though, by 1,024 messages beyond the
/// capacity, so that memory stays bounded: then an ask and a tell wait until the shard has looked at what it was sent,
/// and `try_tell` answers `Full`.
///
/// A [`Permit`](crate::Permit) is a place before the mailbox, not in it: a message that is sent by one may be dropped
/// as any other.
///
/// # Examples
///
/// ```
/// use actor_tokio::prelude::*;
///
/// /// Shows the latest temperatures; those that it can't keep up with are of no use to anybody.
/// #[actor(mailbox = 4, overflow = DropOldest)]
/// struct Display {
///     shown: u64,
/// }
///
/// #[actor]
/// impl Display {
///     pub async fn show(&mut self, _celsius: f64) {
///         self.shown += 1;
///     }
/// }
///
/// # fn main() -> Result<(), actor_tokio::Error> {
/// # let rt = ShardedRuntime::builder().cores(1).build()?;
/// # rt.block_on(async {
/// let display = rt.spawn(|| Display { shown: 0 }).await?;
/// for celsius in 0..100 {
///     display.show(f64::from(celsius)).tell().await?; // never waits for the display
/// }
/// assert_eq!(display.overflow(), Overflow::DropOldest);
/// let strict = rt.spawn(|| Display { shown: 0 }).overflow(Overflow::Reject).await?;
/// assert_eq!(strict.overflow(), Overflow::Reject);
/// # Ok(()) }) }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Overflow {
    /// Its sender waits for room, in the order of arrival.
    #[default]
    Wait,
    /// It is refused, and its sender told so.
    Reject,
    /// It takes the place of the oldest message in the mailbox, which is dropped.
    DropOldest,
    /// It is dropped.
    DropNewest,
}

impl fmt::Display for Overflow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}
