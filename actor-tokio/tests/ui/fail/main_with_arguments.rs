#[actor_tokio::main]
async fn main(words: Vec<String>) {
    drop(words);
}
