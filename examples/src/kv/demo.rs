//! `kv --demo`: clients that measure the server they are in one process with, over TCP like any other client.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime;
use tokio::task::JoinSet;

const CLIENTS: usize = 50;
const KEYS: u64 = 100_000;
const PHASE: Duration = Duration::from_millis(1_000);

/// One line of the table: what is asked, and how many requests are sent at once.
const PHASES: [(&str, usize); 4] = [("SET", 1), ("GET", 1), ("SET", 16), ("GET", 16)];

/// Drives the server at `address` for about four seconds and writes a table to `out`.
///
/// # Errors
///
/// A connection broke, or `out` did.
pub fn run(address: SocketAddr, out: &mut impl Write) -> io::Result<()> {
    // A thread and a runtime of its own, so that the clients take no turns of the shards.
    let measured = thread::spawn(move || {
        let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(measure(address))
    });
    let (lines, shards) = measured.join().map_err(|_| io::Error::other("the clients panicked"))??;
    writeln!(out, "{CLIENTS} clients, values of 16 bytes, {KEYS} keys, latency in microseconds")?;
    writeln!(out, "{:<10}{:>10}{:>12}{:>9}{:>9}{:>9}", "command", "pipeline", "requests/s", "p50", "p99", "p99.9")?;
    for line in lines {
        writeln!(out, "{line}")?;
    }
    for line in shards {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

async fn measure(address: SocketAddr) -> io::Result<(Vec<String>, Vec<String>)> {
    let mut lines = Vec::new();
    for (command, pipeline) in PHASES {
        let mut requests = 0;
        let started = Instant::now();
        let mut clients = JoinSet::new();
        for client in 0..CLIENTS {
            clients.spawn(drive(address, command, pipeline, client as u64));
        }
        let mut latencies = new_histogram();
        while let Some(client) = clients.join_next().await {
            let of_client = client.map_err(io::Error::other)??;
            requests += of_client.len() * pipeline as u64;
            latencies.add(&of_client).map_err(io::Error::other)?;
        }
        let per_second = requests as f64 / started.elapsed().as_secs_f64();
        let [p50, p99, p999] = [0.5, 0.99, 0.999].map(|quantile| latencies.value_at_quantile(quantile));
        lines.push(format!("{command:<10}{pipeline:>10}{per_second:>12.0}{p50:>9}{p99:>9}{p999:>9}"));
    }
    Ok((lines, shares(address).await?))
}

/// One client, for one phase. Each value of the histogram is the time of one round of `pipeline` requests.
async fn drive(address: SocketAddr, command: &str, pipeline: usize, seed: u64) -> io::Result<Histogram<u64>> {
    let mut stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let mut latencies = new_histogram();
    let mut key = Keys(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let (mut request, mut replies) = (Vec::new(), Replies::default());
    let until = Instant::now() + PHASE;
    while Instant::now() < until {
        request.clear();
        for _ in 0..pipeline {
            let key = key.next();
            match command {
                "SET" => write!(request, "*3\r\n$3\r\nSET\r\n$16\r\nkey:{key:012}\r\n$16\r\nvalue:{key:010}\r\n")?,
                _ => write!(request, "*2\r\n$3\r\nGET\r\n$16\r\nkey:{key:012}\r\n")?,
            }
        }
        let sent = Instant::now();
        stream.write_all(&request).await?;
        replies.take(&mut stream, pipeline).await?;
        latencies.saturating_record(sent.elapsed().as_micros() as u64);
    }
    Ok(latencies)
}

/// How the connections, commands and keys are spread, by what the server itself says.
async fn shares(address: SocketAddr) -> io::Result<Vec<String>> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(b"INFO shards\r\nQUIT\r\n").await?;
    let mut text = String::new();
    stream.read_to_string(&mut text).await?;
    let shards: Vec<_> = text.lines().filter(|line| line.starts_with("shard")).map(figures).collect();
    let total = |figure: usize| shards.iter().map(|shard| shard[figure]).sum::<u64>().max(1) as f64;
    let totals = [total(0), total(1), total(2)];
    let lines = shards.iter().enumerate().map(|(index, shard)| {
        let [connections, commands, keys] = [0, 1, 2].map(|figure| 100.0 * shard[figure] as f64 / totals[figure]);
        format!("shard {index}: {connections:.0} % of the connections, {commands:.0} % of the commands, {keys:.0} % of the keys")
    });
    Ok(lines.collect())
}

/// The numbers of a line such as `shard0:connections=1,commands=2,keys=3`.
fn figures(line: &str) -> [u64; 3] {
    let mut values = line.split('=').skip(1).map(|part| {
        let digits = part.split(',').next().unwrap_or_default();
        digits.parse().unwrap_or(0)
    });
    [(); 3].map(|()| values.next().unwrap_or(0))
}

/// Counts replies: `+..`, `$-1` and `$<len>` with its content.
#[derive(Default)]
struct Replies {
    buffer: Vec<u8>,
}

impl Replies {
    async fn take(&mut self, stream: &mut TcpStream, wanted: usize) -> io::Result<()> {
        let (mut seen, mut at) = (0, 0);
        loop {
            while seen < wanted
                && let Some(end) = self.reply_end(at)?
            {
                (seen, at) = (seen + 1, end);
            }
            if seen == wanted {
                self.buffer.drain(..at);
                return Ok(());
            }
            if stream.read_buf(&mut self.buffer).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }

    fn reply_end(&self, at: usize) -> io::Result<Option<usize>> {
        let rest = &self.buffer[at..];
        let Some(line) = rest.iter().position(|byte| *byte == b'\n') else { return Ok(None) };
        let content = match rest[0] {
            b'+' => 0,
            b'$' if rest[1] == b'-' => 0,
            b'$' => {
                let digits = std::str::from_utf8(&rest[1..line]).map_err(io::Error::other)?;
                digits.trim_end().parse::<usize>().map_err(io::Error::other)? + 2
            }
            _ => return Err(io::Error::other(String::from_utf8_lossy(&rest[..line]).into_owned())),
        };
        let end = at + line + 1 + content;
        Ok((end <= self.buffer.len()).then_some(end))
    }
}

/// Keys in no order.
struct Keys(u64);

impl Keys {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % KEYS
    }
}

fn new_histogram() -> Histogram<u64> {
    Histogram::new_with_max(60_000_000, 3).expect("a minute and three digits are valid bounds")
}
