//! The server as a whole: a partition and an acceptor on each shard, and the end of them.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use actor_tokio::{RuntimeHandle, SpawnError};
use thiserror::Error;

use super::acceptor::{Acceptor, AcceptorHandle, Service};
use super::info::ServerInfo;
use super::listener::{self, BindError};
use super::partition::Partition;
use super::router::Router;

/// Where and how to serve.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where to listen; port 0 is any free port.
    pub address: SocketAddr,
    /// Whether to share the port with other servers.
    pub reuse_port: bool,
    /// How long a client may take nothing of what it asked for.
    pub write_timeout: Duration,
}

/// The server could not start.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StartError {
    /// It cannot listen.
    #[error(transparent)]
    Bind(#[from] BindError),
    /// The runtime does not start its actors.
    #[error("cannot start an actor: {0}")]
    Spawn(#[from] SpawnError),
}

/// A running server.
pub struct Server {
    address: SocketAddr,
    acceptors: Vec<AcceptorHandle>,
}

impl Server {
    /// Starts a server on all shards of `runtime`.
    ///
    /// # Errors
    ///
    /// The address is in use, or the runtime is shutting down. What was started ends.
    pub async fn start(runtime: &RuntimeHandle, settings: &Settings) -> Result<Self, StartError> {
        let shards: Vec<_> = runtime.shard_ids().collect();
        let listeners = listener::bind(settings.address, shards.len(), settings.reuse_port)?;
        let address = listeners.iter().find_map(|listener| listener.local_addr().ok()).unwrap_or(settings.address);
        let mut partitions = Vec::with_capacity(shards.len());
        for shard in &shards {
            partitions.push(runtime.spawn(Partition::new).on(*shard).await?);
        }
        let service = Service {
            server: Arc::new(ServerInfo::new(address, shards.len(), settings.write_timeout)),
            router: Router::new(shards.len()),
            partitions: partitions.into(),
        };
        let mut acceptors = Vec::with_capacity(shards.len());
        for (shard, listener) in shards.iter().zip(listeners) {
            let (service, index) = (service.clone(), shard.index());
            acceptors.push(runtime.spawn(move || Acceptor::new(listener, index, service)).on(*shard).await?);
        }
        Ok(Self { address, acceptors })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes no more connections, answers what was asked, and ends all connections. Clients that do not take their replies
    /// are waited for a few seconds at most; they end with the runtime.
    pub async fn drain(&self) {
        let drains: Vec<_> = self.acceptors.iter().map(|acceptor| tokio::spawn(acceptor.drain())).collect();
        for drain in drains {
            // A shard that does not answer has no connections left that could be waited for.
            let _ = drain.await;
        }
    }
}
