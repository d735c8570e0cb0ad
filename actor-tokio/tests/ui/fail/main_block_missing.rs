use actor_tokio::prelude::*;

#[actor]
struct Shop;

#[actor(more)]
impl Shop {
    pub fn open(&self) {}
    pub fn close(&mut self, now: bool) {
        _ = now;
    }
}

fn main() {}
