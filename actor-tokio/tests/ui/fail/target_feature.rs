use actor_tokio::prelude::*;

#[actor]
struct Shop;

#[actor]
impl Shop {
    #[target_feature(enable = "sse2")]
    pub fn fast(&self) {}
}

fn main() {}
