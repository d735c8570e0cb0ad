//! What the server tells about itself: `INFO`, `CONFIG GET`, and the counters behind them.

use std::fmt::Write;
use std::net::SocketAddr;
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::reply::Stats;

/// The version of Redis whose commands and errors these are.
pub const REDIS_VERSION: &str = "7.0.15";

/// What all connections of a server share; nothing of it is on the road of a command but two counters of the own shard.
#[derive(Debug)]
pub struct ServerInfo {
    address: SocketAddr,
    write_timeout: Duration,
    started: Instant,
    next_id: AtomicU64,
    shards: Box<[Counters]>,
}

/// The counters of one shard, on cache lines of their own.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Counters {
    accepted: AtomicU64,
    closed: AtomicU64,
    commands: AtomicU64,
}

impl ServerInfo {
    /// A server that listens at `address` with so many shards.
    pub fn new(address: SocketAddr, shards: usize, write_timeout: Duration) -> Self {
        Self {
            address,
            write_timeout,
            started: Instant::now(),
            next_id: AtomicU64::new(0),
            shards: (0..shards).map(|_| Counters::default()).collect(),
        }
    }

    /// How long a client may take nothing of what it asked for.
    pub fn write_timeout(&self) -> Duration {
        self.write_timeout
    }

    /// Counts a connection and gives it a number.
    pub fn connected(&self, shard: usize) -> u64 {
        self.shards[shard].accepted.fetch_add(1, Ordering::Relaxed);
        self.next_id.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Counts the end of a connection.
    pub fn disconnected(&self, shard: usize) {
        self.shards[shard].closed.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts commands.
    pub fn processed(&self, shard: usize, commands: u64) {
        self.shards[shard].commands.fetch_add(commands, Ordering::Relaxed);
    }

    /// What `CONFIG GET` knows.
    pub fn settings(&self) -> Vec<(&'static str, String)> {
        let text = str::to_owned;
        vec![
            ("appendonly", text("no")),
            ("bind", self.address.ip().to_string()),
            ("client-query-buffer-limit", text("1073741824")),
            ("databases", text("1")),
            ("io-threads", self.shards.len().to_string()),
            ("maxmemory", text("0")),
            ("maxmemory-policy", text("noeviction")),
            ("port", self.address.port().to_string()),
            ("proto-max-bulk-len", text("536870912")),
            ("requirepass", String::new()),
            ("save", String::new()),
            ("timeout", text("0")),
        ]
    }

    /// The text of `INFO`, from the figures of all partitions.
    pub fn describe(&self, sections: Sections, partitions: &[Stats]) -> String {
        let mut out = String::new();
        for (section, title) in SECTIONS.iter().enumerate().filter(|(section, _)| sections.has(*section)) {
            if !out.is_empty() {
                out.push_str("\r\n");
            }
            let mut title_case = title.to_string();
            title_case[..1].make_ascii_uppercase();
            let _ = write!(out, "# {title_case}\r\n");
            for (name, value) in self.section(SECTIONS[section], partitions) {
                let _ = write!(out, "{name}:{value}\r\n");
            }
        }
        out
    }

    fn section(&self, section: &str, partitions: &[Stats]) -> Vec<(String, String)> {
        let sum = |figure: fn(&Stats) -> u64| partitions.iter().map(figure).sum::<u64>();
        let total = |counter: fn(&Counters) -> &AtomicU64| {
            self.shards.iter().map(|shard| counter(shard).load(Ordering::Relaxed)).sum::<u64>()
        };
        let lines: Vec<(&str, String)> = match section {
            "server" => vec![
                ("redis_version", REDIS_VERSION.to_owned()),
                ("redis_mode", "standalone".to_owned()),
                ("server_name", "kv".to_owned()),
                ("os", std::env::consts::OS.to_owned()),
                ("arch_bits", usize::BITS.to_string()),
                ("process_id", process::id().to_string()),
                ("tcp_port", self.address.port().to_string()),
                ("uptime_in_seconds", self.started.elapsed().as_secs().to_string()),
                ("uptime_in_days", (self.started.elapsed().as_secs() / 86_400).to_string()),
                ("shards", self.shards.len().to_string()),
            ],
            "clients" => {
                let (accepted, closed) = (total(|shard| &shard.accepted), total(|shard| &shard.closed));
                vec![("connected_clients", accepted.saturating_sub(closed).to_string())]
            }
            "memory" => {
                let resident = resident_bytes();
                vec![
                    ("used_memory", resident.to_string()),
                    ("used_memory_rss", resident.to_string()),
                    ("maxmemory", "0".to_owned()),
                ]
            }
            "stats" => vec![
                ("total_connections_received", total(|shard| &shard.accepted).to_string()),
                ("total_commands_processed", total(|shard| &shard.commands).to_string()),
                ("expired_keys", sum(|stats| stats.expired).to_string()),
                ("keyspace_hits", sum(|stats| stats.hits).to_string()),
                ("keyspace_misses", sum(|stats| stats.misses).to_string()),
            ],
            "replication" => vec![("role", "master".to_owned()), ("connected_slaves", "0".to_owned())],
            "shards" => return self.shard_lines(partitions),
            "keyspace" => {
                let (keys, expires) = (sum(|stats| stats.keys as u64), sum(|stats| stats.expiring as u64));
                if keys == 0 { vec![] } else { vec![("db0", format!("keys={keys},expires={expires},avg_ttl=0"))] }
            }
            _ => vec![],
        };
        lines.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    fn shard_lines(&self, partitions: &[Stats]) -> Vec<(String, String)> {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let lines = self.shards.iter().enumerate().map(|(index, shard)| {
            let keys = partitions.get(index).map_or(0, |stats| stats.keys);
            let (connections, commands) = (load(&shard.accepted), load(&shard.commands));
            (format!("shard{index}"), format!("connections={connections},commands={commands},keys={keys}"))
        });
        lines.collect()
    }
}

const SECTIONS: [&str; 7] = ["server", "clients", "memory", "stats", "replication", "shards", "keyspace"];

/// Which parts of `INFO` are asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sections(u8);

impl Sections {
    /// All of them.
    pub fn all() -> Self {
        Self((1 << SECTIONS.len()) - 1)
    }

    /// Those that are named; names of none are passed over.
    pub fn named<'a>(names: impl Iterator<Item = &'a [u8]>) -> Self {
        let mut wanted = 0;
        for name in names {
            let name = name.to_ascii_lowercase();
            if matches!(&name[..], b"all" | b"default" | b"everything") {
                return Self::all();
            }
            wanted |= SECTIONS.iter().position(|section| section.as_bytes() == name).map_or(0, |section| 1 << section);
        }
        Self(wanted)
    }

    fn has(self, section: usize) -> bool {
        self.0 & (1 << section) != 0
    }
}

/// The memory of this process that is in RAM; 0 where the system does not tell.
pub fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()).unwrap_or(0) * 1024
}
