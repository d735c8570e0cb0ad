#[actor_tokio::main(threads = 2)]
async fn main() {
    std::future::ready(()).await;
}
