use actor_tokio::prelude::*;

#[actor(mailbox = 0)]
struct Zero;

#[actor(mailbox = "x")]
struct Text;

#[actor(mailbox = -1)]
struct Negative;

#[actor(mailbox = 8_u8)]
struct Short;

fn main() {}
