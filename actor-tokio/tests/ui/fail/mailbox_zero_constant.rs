use actor_tokio::prelude::*;

const NOTHING: usize = 0;

#[actor(mailbox = NOTHING)]
struct Shop;

fn main() {}
