//! What expansions do when they run, beyond the documentation's example in `api.rs`.

mod handles;
mod hooks;
mod results;
mod signatures;

use actor_tokio::prelude::*;

/// Runs a test on a runtime of one shard.
fn on_a_runtime<T>(test: impl AsyncFnOnce(&ShardedRuntime) -> T) -> T {
    let runtime = ShardedRuntime::builder().cores(1).pin(Pin::Never).build().expect("runtime");
    runtime.block_on(test(&runtime))
}
