use actor_tokio::prelude::*;

#[actor]
struct Shop;

#[actor]
impl Shop {
    pub fn argument(&self, _: Vec<_>) {}
    pub fn reply(&self) -> _ {
        1
    }
}

fn main() {}
