use actor_tokio::prelude::*;

use std::rc::Rc;

#[actor]
struct Shop(Rc<u64>);

#[actor]
impl Shop {}

async fn start(runtime: &RuntimeHandle) {
    let shared = Rc::new(1);
    _ = runtime.spawn(move || Shop(shared)).await;
}

fn main() {}
