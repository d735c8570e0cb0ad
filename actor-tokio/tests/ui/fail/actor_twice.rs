use actor_tokio::prelude::*;

#[actor]
#[actor(mailbox = 8)]
struct Shop;

#[actor]
struct Other;

#[actor]
#[actor]
impl Other {
    pub fn open(&self) {}
}

fn main() {}
