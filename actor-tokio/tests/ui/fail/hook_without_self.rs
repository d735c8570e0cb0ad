use actor_tokio::prelude::*;

#[actor]
struct Shop;

#[actor]
impl Shop {
    #[actor(on_start)]
    fn begin() {}
    #[actor(on_stop)]
    async fn end(reason: &ExitReason) {
        _ = reason;
    }
    #[actor(on_error)]
    fn failed(failure: &TellFailure<'_>) {
        _ = failure;
    }
}

fn main() {}
