#[actor_tokio::main(cores = 1)]
fn main() {}
