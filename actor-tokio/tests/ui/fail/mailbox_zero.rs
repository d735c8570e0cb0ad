use actor_tokio::prelude::*;

#[actor(mailbox = 0)]
struct Shop;

#[actor]
impl Shop {}

fn main() {}
