use actor_tokio::prelude::*;

#[actor]
struct Shop;

#[actor]
impl Shop {
    #[actor(on_start)]
    fn begin(&mut self, reason: &ExitReason) {
        _ = reason;
    }
    #[actor(on_stop)]
    fn end(&mut self, cx: &mut Cx<Self>, again: &mut Cx<Self>) {
        _ = (cx, again);
    }
    #[actor(on_error)]
    fn failed(&mut self, failure: TellFailure<'_>) {
        _ = failure;
    }
}

fn main() {}
