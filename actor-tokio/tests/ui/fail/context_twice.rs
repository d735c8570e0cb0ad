use actor_tokio::prelude::*;

#[actor]
struct Shop;

#[actor]
impl Shop {
    pub fn leave(&self, cx: &mut Cx<Self>, again: &Cx<Self>) {
        _ = (cx, again);
    }
}

fn main() {}
