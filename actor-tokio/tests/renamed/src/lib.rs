//! What a strict user exports, under lints that all but a few users leave off.
#![deny(
    missing_docs,
    nonstandard_style,
    rust_2018_idioms,
    rust_2021_compatibility,
    rustdoc::all,
    unused,
    warnings,
    clippy::all,
    clippy::nursery,
    clippy::pedantic,
    missing_copy_implementations,
    missing_debug_implementations,
    single_use_lifetimes,
    trivial_casts,
    trivial_numeric_casts,
    unreachable_pub,
    unused_import_braces,
    unused_lifetimes,
    unused_qualifications,
    unused_results,
    variant_size_differences
)]
#![forbid(unsafe_code)]

use std::{cell::RefCell, collections::HashMap, fmt::Debug, hash::Hash, rc::Rc};

use system::prelude::*;

/// There is not enough.
#[derive(Clone, Copy, Debug)]
pub struct SoldOut;

/// A shop, whose state is not `Send`.
#[actor(mailbox = 16)]
#[derive(Debug)]
pub struct Shop {
    name: String,
    sold: Rc<RefCell<u64>>,
}

#[actor]
impl Shop {
    /// A shop that is open.
    #[must_use]
    pub fn new(name: String) -> Self {
        Self { name, sold: Rc::default() }
    }

    /// Its name.
    pub fn name(&self) -> String {
        self.name.clone()
    }

    /// Sells some and [counts](Self::count) them; see [`Self::checked`] and [`SoldOut`]. Need not be `async`.
    pub async fn sell(&mut self, count: u64) -> u64 {
        *self.sold.borrow_mut() += count;
        self.count()
    }

    /// Awaits, with a state that stays on its shard.
    ///
    /// # Errors
    ///
    /// If that shop can't be reached.
    pub async fn follow(&mut self, other: ShopHandle, cx: &mut Cx<Self>) -> Result<u64, AskError> {
        if cx.id() == other.id() {
            return Ok(0);
        }
        let sold = Rc::clone(&self.sold);
        let answer = other.sell(1).await;
        drop(sold);
        answer
    }

    /// Takes words that it does not keep.
    pub fn greet(&self, name: String, _unused: u8) -> usize {
        name.len()
    }

    /// Never changes anything.
    pub const fn constant(&mut self) -> u8 {
        1
    }

    /// Sells some, if there are.
    ///
    /// # Errors
    ///
    /// There is never enough.
    pub fn checked(&self, (_count, _more): (u64, u64)) -> Result<u64, SoldOut> {
        Err(SoldOut)
    }

    /// Of old.
    #[deprecated = "use `sell`"]
    pub fn old(&self) {}

    /// What was sold. No message.
    #[actor(skip)]
    #[must_use]
    pub fn count(&self) -> u64 {
        *self.sold.borrow()
    }

    #[actor(on_start)]
    async fn begin(&mut self, cx: &mut Cx<Self>) -> Result<(), std::fmt::Error> {
        assert!(!cx.handle().is_closed(), "it starts");
        if self.name.is_empty() {
            Err(std::fmt::Error)
        } else {
            Ok(())
        }
    }

    #[actor(on_stop)]
    async fn end(&mut self, reason: &ExitReason) {
        assert_eq!(*reason, ExitReason::Stopped);
    }

    #[actor(on_error)]
    fn failed(&mut self, failure: &TellFailure<'_>) {
        assert_eq!(failure.method(), "checked");
    }
}

#[actor(more)]
impl Shop {
    /// More.
    pub fn more(&self) {}
}

/// Holds anything.
#[actor]
#[derive(Debug)]
pub struct Store<K, V = String>
where
    K: Hash + Eq,
{
    items: HashMap<K, V>,
}

#[actor]
impl<K, V> Store<K, V>
where
    K: Hash + Eq + Send + Debug,
    V: Clone + Send,
{
    /// Keeps an item.
    pub fn put(&mut self, key: K, item: V) -> Option<V> {
        self.items.insert(key, item)
    }
}

/// A private one inside.
///
/// # Errors
///
/// If the runtime has ended.
pub async fn run(runtime: &RuntimeHandle) -> Result<(), system::Error> {
    #[actor]
    struct Inner;

    #[actor]
    impl Inner {
        pub(crate) fn never_sent(&self) {}
        pub(crate) async fn sent(&self) {}
    }

    let inner = runtime.spawn(|| Inner).await?;
    inner.sent().await?;
    Ok(())
}
