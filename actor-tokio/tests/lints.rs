//! Expansions under lints: `cargo clippy --tests` looks at this one. What a crate exports is looked at in
//! `tests/renamed`.
#![deny(
    missing_docs,
    nonstandard_style,
    rust_2018_idioms,
    unused,
    warnings,
    clippy::all,
    clippy::nursery,
    clippy::pedantic,
    clippy::undocumented_unsafe_blocks,
    clippy::unwrap_used,
    clippy::absolute_paths,
    clippy::allow_attributes,
    clippy::missing_inline_in_public_items,
    clippy::pattern_type_mismatch,
    clippy::min_ident_chars,
    let_underscore_drop,
    missing_debug_implementations,
    redundant_lifetimes,
    single_use_lifetimes,
    unnameable_types,
    unused_lifetimes,
    unused_qualifications,
    unused_results
)]
#![forbid(unsafe_code)]

use actor_tokio::prelude::*;

#[actor(mailbox = 4)]
struct Counter {
    total: u64,
}

#[actor]
impl Counter {
    pub async fn add(&mut self, by: u64, _why: String) -> u64 {
        self.total += by;
        self.total
    }

    pub fn checked(&mut self, by: u64) -> Result<u64, String> {
        self.total.checked_add(by).ok_or_else(|| "overflow".into())
    }

    pub async fn own(&self, cx: &mut Cx<Self>) -> Option<Self> {
        assert!(!cx.handle().is_closed(), "it runs");
        None
    }

    pub fn never_sent(&self, (_a, _b): (u64, u64)) {}

    #[actor(on_start)]
    async fn begin(&mut self) {}

    #[actor(on_stop)]
    fn end(&mut self, _reason: &ExitReason) {}
}

#[actor]
struct Holder<T>(T);

#[actor]
impl<T: Clone + Send> Holder<T> {
    pub fn get(&self) -> T {
        self.0.clone()
    }
}

#[actor_tokio::main(cores = 1)]
async fn run() -> Result<u64, actor_tokio::Error> {
    let runtime = RuntimeHandle::current();
    let counter = runtime.spawn(|| Counter { total: 1 }).await?;
    let holder = runtime.spawn(|| Holder(2)).await?;
    assert!(counter.own().await?.is_none(), "none");
    let total = counter.add(holder.get().await?, String::new()).await?;
    Ok(counter.checked(1).await? + total)
}

#[test]
fn expansions_have_no_lints() {
    assert!(matches!(run(), Ok(7)), "1 + 2, and 1 more");
}
