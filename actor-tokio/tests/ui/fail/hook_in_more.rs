use actor_tokio::prelude::*;

#[actor]
struct Shop;

#[actor(more)]
impl Shop {
    #[actor(on_start)]
    fn begin(&mut self) {}
}

#[actor]
impl Shop {}

fn main() {}
