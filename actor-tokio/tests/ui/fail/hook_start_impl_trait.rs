use actor_tokio::prelude::*;

#[actor]
struct Shop;

#[actor]
impl Shop {
    #[actor(on_start)]
    fn begin(&mut self) -> impl Sized {}
}

fn main() {}
