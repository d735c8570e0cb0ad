use actor_tokio::prelude::*;

#[actor]
struct Shop;

#[actor]
impl Shop {
    pub fn items(&self) -> impl Iterator<Item = u8> {
        std::iter::empty()
    }
}

fn main() {}
