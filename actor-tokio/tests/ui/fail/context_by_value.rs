use actor_tokio::prelude::*;

#[actor]
struct Shop;

#[actor]
impl Shop {
    pub fn leave(&self, cx: Cx<Self>) {
        cx.stop();
    }
}

fn main() {}
