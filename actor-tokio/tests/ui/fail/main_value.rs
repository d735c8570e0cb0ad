#[actor_tokio::main(cores = "two")]
async fn main() {}
