use actor_tokio::prelude::*;

#[actor]
struct Shop;

#[actor]
impl Shop {
    pub fn open(&self) {}
}

#[actor]
impl Shop {
    pub fn close(&self) {}
}

fn main() {}
