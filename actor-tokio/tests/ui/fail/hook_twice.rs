use actor_tokio::prelude::*;

#[actor]
struct Shop;

#[actor]
impl Shop {
    #[actor(on_start)]
    fn begin(&mut self) {}
    #[actor(on_start)]
    fn start(&mut self) {}
    #[actor(on_stop)]
    fn end(&mut self) {}
    #[cfg(all())]
    #[actor(on_stop)]
    fn stop(&mut self) {}
}

fn main() {}
