//! What the server knows about one connection.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use super::info::ServerInfo;
use super::resp::Version;

/// The state that commands such as `HELLO` and `CLIENT SETNAME` change.
pub struct Session {
    /// The server that it is a connection of.
    pub server: Arc<ServerInfo>,
    /// The shard that serves it.
    pub shard: usize,
    /// Its number; no other connection of this server ever has it.
    pub id: u64,
    /// The client's address.
    pub peer: SocketAddr,
    /// The server's address.
    pub local: SocketAddr,
    /// When it was accepted.
    pub since: Instant,
    /// The protocol of its answers from here on.
    pub version: Version,
    /// `CLIENT SETNAME`.
    pub name: Vec<u8>,
    /// `CLIENT SETINFO LIB-NAME`.
    pub library: Vec<u8>,
    /// `CLIENT SETINFO LIB-VER`.
    pub library_version: Vec<u8>,
    /// `CLIENT NO-EVICT`.
    pub no_evict: bool,
    /// The latest command and its subcommand.
    pub last_command: (&'static str, &'static str),
}

impl Session {
    /// A new connection, and with it a new number.
    pub fn new(server: Arc<ServerInfo>, shard: usize, peer: SocketAddr, local: SocketAddr) -> Self {
        Self {
            id: server.connected(shard),
            server,
            shard,
            peer,
            local,
            since: Instant::now(),
            version: Version::Resp2,
            name: Vec::new(),
            library: Vec::new(),
            library_version: Vec::new(),
            no_evict: false,
            last_command: ("NULL", ""),
        }
    }

    /// Its line in `CLIENT LIST`.
    pub fn describe(&self) -> String {
        let (command, subcommand) = self.last_command;
        format!(
            "id={} addr={} laddr={} fd=-1 name={} age={} idle=0 flags={} db=0 sub=0 psub=0 ssub=0 multi=-1 cmd={}{}{} \
             user=default redir=-1 resp={} lib-name={} lib-ver={} shard={}\n",
            self.id,
            self.peer,
            self.local,
            self.name.escape_ascii(),
            self.since.elapsed().as_secs(),
            if self.no_evict { "e" } else { "N" },
            command,
            if subcommand.is_empty() { "" } else { "|" },
            subcommand,
            self.version.number(),
            self.library.escape_ascii(),
            self.library_version.escape_ascii(),
            self.shard,
        )
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.server.disconnected(self.shard);
    }
}
