#[actor_tokio::main]
async fn main<T>() {}
