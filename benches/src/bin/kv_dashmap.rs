//! `kv`'s front on a plain multi-thread Tokio runtime with a `DashMap`: what `kv` has to beat.
//!
//! ```text
//! cargo run --release -p benches --bin kv_dashmap -- --port 6398 --workers 2
//! ```

use std::error::Error;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use benches::dash::Dash;
use examples::kv::connection::Connection;
use examples::kv::info::ServerInfo;
use examples::kv::router::Router;
use examples::kv::session::Session;
use lexopt::prelude::*;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

fn main() -> Result<(), Box<dyn Error>> {
    let (mut port, mut workers) = (6398, 2);
    let mut parser = lexopt::Parser::from_env();
    while let Some(arg) = parser.next()? {
        match arg {
            Long("port") => port = parser.value()?.parse()?,
            Long("workers") => workers = parser.value()?.parse()?,
            other => return Err(other.unexpected().into()),
        }
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(workers).enable_all().build()?;
    runtime.block_on(serve(SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port)))?;
    Ok(())
}

async fn serve(address: SocketAddr) -> io::Result<()> {
    let listener = TcpListener::bind(address).await?;
    let address = listener.local_addr()?;
    let server = Arc::new(ServerInfo::new(address, 1, Duration::from_secs(30)));
    let (router, dash) = (Router::new(1), Dash::default());
    let (drain, connections) = (CancellationToken::new(), TaskTracker::new());
    let mut terminate = signal(SignalKind::terminate())?;
    println!("kv_dashmap listens at {address}");
    loop {
        let (stream, peer) = tokio::select! {
            accepted = listener.accept() => accepted?,
            _ = terminate.recv() => break,
        };
        let session = Session::new(server.clone(), 0, peer, address);
        let connection = Connection::new(stream, session, router.clone(), dash.clone());
        let drain = drain.clone();
        connections.spawn(async move { connection.serve(&drain).await });
    }
    drain.cancel();
    connections.close();
    connections.wait().await;
    Ok(())
}
