use actor_tokio::prelude::*;

pub struct ExitReason;

#[actor]
struct Shop;

#[actor]
impl Shop {
    #[actor(on_stop)]
    async fn end(&mut self, reason: &ExitReason) {
        _ = reason;
    }
}

fn main() {}
