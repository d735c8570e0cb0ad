use actor_tokio::prelude::*;

#[actor]
struct Shop;

#[actor]
impl Shop {
    pub fn leave(&self) -> ! {
        panic!()
    }
}

fn main() {}
