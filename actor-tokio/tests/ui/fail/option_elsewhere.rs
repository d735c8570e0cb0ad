use actor_tokio::prelude::*;

#[actor(more)]
struct Shop;

#[actor(mailbox = 8)]
impl Shop {
    pub fn open(&self) {}
}

#[actor(overflow = Reject)]
impl Other {}

#[actor]
struct Other;

fn main() {}
