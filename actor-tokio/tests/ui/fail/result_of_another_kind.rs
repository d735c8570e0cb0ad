use actor_tokio::prelude::*;

pub struct Result<T>(pub T);

#[actor]
struct Shop;

#[actor]
impl Shop {
    pub fn buy(&self) -> Result<u64> {
        Result(1)
    }
    #[actor(result)]
    pub fn count(&self) -> u64 {
        1
    }
}

fn main() {}
