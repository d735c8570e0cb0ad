use actor_tokio::prelude::*;

#[actor(mailbox(8))]
struct Shop;

#[actor("more")]
impl Shop {
    #[actor]
    pub fn open(&self) {}
    #[actor(skip = true)]
    pub fn closed(&self) {}
    #[actor(result plain)]
    pub fn asked(&self) {}
    #[cfg_attr(all(), actor(skip))]
    pub fn chosen(&self) {}
}

#[actor(mailbox)]
struct Second;

#[actor(more = 1, crate = "actor_tokio")]
impl Second {}

fn main() {}
