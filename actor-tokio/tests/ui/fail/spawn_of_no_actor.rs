use actor_tokio::prelude::*;

struct Plain;

async fn start(runtime: &RuntimeHandle) {
    _ = runtime.spawn(|| Plain).await;
}

fn main() {}
