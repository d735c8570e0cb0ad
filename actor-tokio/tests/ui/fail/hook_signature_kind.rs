use actor_tokio::prelude::*;

#[actor]
struct Shop;

#[actor]
impl Shop {
    #[actor(on_start)]
    unsafe fn begin(&mut self) {}
    #[actor(on_stop)]
    fn end<T>(&mut self) {}
    #[actor(on_error)]
    async fn failed(&mut self, failure: &TellFailure<'_>) {
        _ = failure;
    }
}

fn main() {}
