//! Counters behind HTTP: a plain `axum` service on Tokio's multi-thread runtime, with a `ShardedRuntime` beside it.
//!
//! ```text
//! cargo run --release -p examples --bin web_counter -- 127.0.0.1:3000
//! curl -X POST 'http://127.0.0.1:3000/counters/visits/add?by=2'
//! curl http://127.0.0.1:3000/counters/visits
//! ```

use actor_tokio::ShardedRuntime;
use examples::web_counter::{Counters, router};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:3000".to_owned());
    let runtime = ShardedRuntime::builder().build()?;
    let counters = Counters::start(&runtime.handle()).await?;
    let listener = TcpListener::bind(&address).await?;
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    println!("web_counter listens at {}", listener.local_addr()?);
    axum::serve(listener, router(counters))
        .with_graceful_shutdown(async move {
            tokio::select! { _ = terminate.recv() => {}, _ = interrupt.recv() => {} }
        })
        .await?;
    runtime.shutdown().await;
    Ok(())
}
