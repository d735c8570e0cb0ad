#![deny(unused)]

use std::time::Duration;

use actor_tokio::prelude::*;

/// Documented.
#[actor_tokio::main(
    cores = 1,
    pin = Pin::Never,
    mailbox_capacity = 8,
    ring_capacity = 64,
    ask_timeout = Duration::from_secs(5),
    max_blocking_threads = 2,
    slice = Duration::from_micros(50),
    thread_name = "shop",
)]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runtime = RuntimeHandle::current();
    assert_eq!(runtime.shards(), 1);
    let number: u8 = "1".parse()?;
    if number == 2 {
        return Err("two".into());
    }
    assert_eq!(helper(3), 3);
    Ok(())
}

#[actor_tokio::main(core_ids = [0])]
async fn helper_with_core() {}

fn helper(number: u8) -> u8 {
    let _ = helper_with_core;
    number
}
