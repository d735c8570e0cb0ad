use actor_tokio::prelude::*;

#[actor]
struct Shop;

impl Shop {
    pub fn open(&self) {}
}

async fn call(runtime: &RuntimeHandle) {
    _ = runtime.spawn(|| Shop).await;
}

fn main() {}
