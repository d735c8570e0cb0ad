use actor_tokio::prelude::*;

#[actor]
struct Shop;

#[actor]
impl Shop {
    pub fn into(&self) -> u64 {
        1
    }
    pub fn try_into(&self) -> u64 {
        1
    }
}

fn main() {}
