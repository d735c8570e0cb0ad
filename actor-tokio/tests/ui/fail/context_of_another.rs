use actor_tokio::prelude::*;

#[actor]
struct Shop;

#[actor]
impl Shop {
    pub fn leave(&self, cx: &mut Cx<Other>) {
        cx.stop();
    }
}

#[actor]
struct Other;

#[actor]
impl Other {}

fn main() {}
