use actor_tokio::prelude::*;

struct Shop;

#[actor]
impl Shop {
    pub fn open(&self) {}
    pub fn close(&mut self, _: &mut Cx<Self>) {}
}

fn main() {}
