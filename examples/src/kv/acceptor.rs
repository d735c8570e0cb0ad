//! The actor that accepts the connections of one shard and knows when all of them have ended.

use std::io;
use std::net::TcpListener as StdListener;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use actor_tokio::prelude::*;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, spawn_local};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::backend::Backend;
use super::batch::Batch;
use super::connection::Connection;
use super::info::ServerInfo;
use super::listener::stop_handshakes;
use super::partition::PartitionHandle;
use super::router::Router;
use super::session::Session;

/// How long no connection may arrive before a listener that starts no handshakes counts as quiet: the time that the last
/// segment of a handshake may take from a client.
const QUIET: Duration = Duration::from_millis(100);
/// How long the settling may take in all.
const SETTLE: Duration = Duration::from_secs(1);
/// How long the clients have to take their last replies when the server ends.
const DRAIN_LIMIT: Duration = Duration::from_secs(5);
/// How long to wait when the process has no file descriptor left for a connection.
const EXHAUSTED: Duration = Duration::from_millis(50);

/// What the connections of a shard need.
#[derive(Clone)]
pub struct Service {
    /// The server.
    pub server: Arc<ServerInfo>,
    /// The way from a key to its partition.
    pub router: Router,
    /// The partitions.
    pub partitions: Arc<[PartitionHandle]>,
}

/// Accepts connections on its shard, and serves them there.
#[actor]
pub struct Acceptor {
    listener: Option<StdListener>,
    shard: usize,
    service: Service,
    drain: CancellationToken,
    connections: TaskTracker,
    accepting: Option<JoinHandle<()>>,
}

#[actor]
impl Acceptor {
    /// Accepts from `listener` as soon as it has been started.
    pub fn new(listener: StdListener, shard: usize, service: Service) -> Self {
        Self {
            listener: Some(listener),
            shard,
            service,
            drain: CancellationToken::new(),
            connections: TaskTracker::new(),
            accepting: None,
        }
    }

    /// Takes no more connections and ends those that there are, as soon as everything is answered that was asked: returns
    /// when the last one has ended. Clients that do not take their replies are waited for a few seconds; they end with the
    /// shard.
    pub async fn drain(&mut self) {
        self.drain.cancel();
        if let Some(accepting) = self.accepting.take() {
            // It ends by itself; if it panicked, there is nothing to wait for.
            let _ = accepting.await;
        }
        self.connections.close();
        let _ = timeout(DRAIN_LIMIT, self.connections.wait()).await;
    }

    #[actor(on_start)]
    fn begin(&mut self) -> io::Result<()> {
        let Some(listener) = self.listener.take() else { return Ok(()) };
        let listener = TcpListener::from_std(listener)?;
        let clients = Clients {
            shard: self.shard,
            service: self.service.clone(),
            drain: self.drain.clone(),
            tasks: self.connections.clone(),
        };
        self.accepting = Some(spawn_local(accept(listener, clients)));
        Ok(())
    }
}

/// What it takes to serve a connection that has been accepted.
struct Clients {
    shard: usize,
    service: Service,
    drain: CancellationToken,
    tasks: TaskTracker,
}

impl Clients {
    fn serve(&self, stream: TcpStream) {
        // A client that has gone again already is none.
        let (Ok(peer), Ok(local)) = (stream.peer_addr(), stream.local_addr()) else { return };
        let session = Session::new(self.service.server.clone(), self.shard, peer, local);
        let backend = Partitions(self.service.partitions.clone());
        let connection = Connection::new(stream, session, self.service.router.clone(), backend);
        let drain = self.drain.clone();
        spawn_local(self.tasks.track_future(async move {
            // A connection that broke concerns nobody but its client, who knows.
            let _ = connection.serve(&drain).await;
        }));
    }
}

async fn accept(listener: TcpListener, clients: Clients) {
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => clients.serve(stream),
                Err(error) => recover(&error).await,
            },
            () = clients.drain.cancelled() => break,
        }
    }
    // Where there are no filters, what arrives from here on is reset, as it would be by any server.
    let _ = stop_handshakes(&listener);
    let until = Instant::now() + SETTLE;
    while Instant::now() < until {
        match timeout(QUIET, listener.accept()).await {
            Ok(Ok((stream, _))) => clients.serve(stream),
            Ok(Err(error)) => recover(&error).await,
            Err(_quiet) => break,
        }
    }
}

/// A connection that failed while it waited is passed over at once; without file descriptors, trying again at once is of
/// no use.
async fn recover(error: &io::Error) {
    if !matches!(error.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset) {
        sleep(EXHAUSTED).await;
    }
}

/// The partitions as a connection sees them.
#[derive(Clone)]
struct Partitions(Arc<[PartitionHandle]>);

impl Backend for Partitions {
    type Execute = Execute;

    fn execute(&self, partition: usize, batch: Box<Batch>) -> Execute {
        Execute(self.0[partition].run(batch))
    }
}

/// A batch at its partition.
struct Execute(Call<(Box<Batch>,), Box<Batch>>);

impl Future for Execute {
    type Output = Option<Box<Batch>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(cx).map(Result::ok)
    }
}
