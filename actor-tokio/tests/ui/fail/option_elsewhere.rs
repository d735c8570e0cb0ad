use actor_tokio::prelude::*;

#[actor(more)]
struct Shop;

#[actor(mailbox = 8)]
impl Shop {
    pub fn open(&self) {}
}

fn main() {}
