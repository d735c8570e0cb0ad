use actor_tokio::prelude::*;

struct Plain;

async fn start(runtime: &RuntimeHandle) {
    _ = runtime.spawn(|| Ok::<Plain, std::io::Error>(Plain)).await;
}

fn main() {}
