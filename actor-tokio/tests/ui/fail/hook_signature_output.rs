use actor_tokio::prelude::*;

#[actor]
struct Shop;

#[actor]
impl Shop {
    #[actor(on_start)]
    extern "C" fn begin(&mut self) {}
    #[actor(on_stop)]
    fn end(&mut self) -> bool {
        true
    }
    #[actor(on_error)]
    fn failed(&mut self, cx: &mut Cx<Self>) {
        _ = cx;
    }
}

fn main() {}
