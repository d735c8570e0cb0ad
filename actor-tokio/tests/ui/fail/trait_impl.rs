use actor_tokio::prelude::*;

#[actor]
struct Shop;

#[actor]
impl Count for Shop {
    fn count(&self) -> usize {
        0
    }
}

trait Count {
    fn count(&self) -> usize;
}

fn main() {}
