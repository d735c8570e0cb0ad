//! A small TCP service: a client sends words, one a line, and hears how often each has been said.
//!
//! ```text
//! cargo run -p book --bin tally
//! ```
//!
//! The chapter "Your first service" shows this file part by part.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
    io,
    net::SocketAddr,
    sync::Arc,
    time::Duration,
};

use actor_tokio::prelude::*;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    sync::watch,
    task::{JoinHandle, JoinSet, spawn_local},
    time::{sleep, timeout},
};

/// The longest line, with its end, in bytes.
const LINE_LIMIT: u64 = 64;
/// How long an answer may take before the client hears `busy`.
const PATIENCE: Duration = Duration::from_millis(500);
/// How long connections have to end at a stop.
const DRAIN_LIMIT: Duration = Duration::from_secs(5);

// ANCHOR: tally
/// Why a line is not counted.
#[derive(Debug, PartialEq)]
pub enum Refused {
    NotAWord,
}

/// Counts one part of all words. No lock: only its own shard touches it.
#[actor]
pub struct Tally {
    counts: HashMap<String, u64>,
    best: BestHandle,
}

#[actor]
impl Tally {
    /// Counts a word and says how often it has been said.
    pub fn say(&mut self, word: String) -> Result<u64, Refused> {
        if word.is_empty() || !word.chars().all(char::is_alphabetic) {
            return Err(Refused::NotAWord);
        }
        let times = self.counts.entry(word.clone()).or_default();
        *times += 1;
        // Answering comes first. When `Best` is behind, this word is left out; the next one brings it up to date.
        _ = self.best.heard(word, *times).try_tell();
        Ok(*times)
    }
}
// ANCHOR_END: tally

// ANCHOR: best
/// Knows the word that has been said most often.
#[actor(mailbox = 1024)]
#[derive(Default)]
pub struct Best {
    word: String,
    times: u64,
}

#[actor]
impl Best {
    pub fn heard(&mut self, word: String, times: u64) {
        if times > self.times {
            *self = Self { word, times };
        }
    }

    pub fn best(&self) -> (String, u64) {
        (self.word.clone(), self.times)
    }
}
// ANCHOR_END: best

// ANCHOR: front
/// Accepts connections on one shard and serves them there.
#[actor]
pub struct Front {
    stop: watch::Sender<()>,
    accepting: JoinHandle<()>,
}

#[actor]
impl Front {
    fn open(listener: std::net::TcpListener, guests: Guests) -> io::Result<Self> {
        // Registered with this shard's own reactor: I/O belongs to the shard that uses it.
        let listener = TcpListener::from_std(listener)?;
        let (stop, stopping) = watch::channel(());
        Ok(Self { stop, accepting: spawn_local(accept(listener, guests, stopping)) })
    }

    #[actor(on_stop)]
    async fn close(&mut self, _reason: &ExitReason) {
        _ = self.stop.send(());
        _ = (&mut self.accepting).await;
    }
}

async fn accept(listener: TcpListener, guests: Guests, mut stopping: watch::Receiver<()>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => _ = connections.spawn_local(serve(stream, guests.clone(), stopping.clone())),
                Err(error) => {
                    // Out of descriptors, most likely: they come back when connections end.
                    eprintln!("tally: no connection accepted: {error}");
                    sleep(Duration::from_millis(100)).await;
                }
            },
            Some(_) = connections.join_next() => {}
            // The stop hook; or, if `Front` was killed, the end of its sender.
            _ = stopping.changed() => break,
        }
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}
// ANCHOR_END: front

// ANCHOR: serve
/// What connections need: handles, which are cheap to clone and work from every shard.
#[derive(Clone)]
pub struct Guests {
    parts: Arc<[TallyHandle]>,
    best: BestHandle,
}

/// One connection, until the client is done or the service stops.
async fn serve(mut stream: TcpStream, guests: Guests, mut stopping: watch::Receiver<()>) -> io::Result<()> {
    let (read, mut write) = stream.split();
    let mut read = BufReader::new(read);
    let mut line = String::new();
    loop {
        line.clear();
        let mut limited = (&mut read).take(LINE_LIMIT);
        let length = tokio::select! {
            length = limited.read_line(&mut line) => length?,
            _ = stopping.changed() => return Ok(()),
        };
        if length == 0 {
            return Ok(());
        }
        if !line.ends_with('\n') {
            return write.write_all(b"error: the line is too long or has no end\n").await;
        }
        let answer = guests.answer(line.trim_end()).await;
        write.write_all(answer.as_bytes()).await?;
    }
}
// ANCHOR_END: serve

// ANCHOR: answer
impl Guests {
    async fn answer(&self, line: &str) -> String {
        if line == "?" {
            return match self.best.best().timeout(PATIENCE).await {
                Ok((word, times)) => format!("{word} {times}\n"),
                Err(error) => format!("error: {error}\n"),
            };
        }
        match self.part(line).say(line.to_owned()).timeout(PATIENCE).await {
            Ok(times) => format!("{times}\n"),
            // The handler's own error, with its own type.
            Err(AskError::Handler(Refused::NotAWord)) => "error: not a word\n".to_owned(),
            // Not handled and never will be: the client may send it again.
            Err(error) if !error.was_delivered() => format!("busy: {error}\n"),
            // Perhaps counted, perhaps not.
            Err(error) => format!("error: {error}\n"),
        }
    }

    /// The part that counts this word: the same for the same word.
    fn part(&self, word: &str) -> &TallyHandle {
        let mut hasher = DefaultHasher::new();
        word.hash(&mut hasher);
        &self.parts[(hasher.finish() % self.parts.len() as u64) as usize]
    }
}
// ANCHOR_END: answer

// ANCHOR: service
/// The whole service.
pub struct Service {
    address: SocketAddr,
    fronts: Vec<FrontHandle>,
}

impl Service {
    /// Starts a tally and a front on each shard of `rt`.
    async fn start(rt: &RuntimeHandle, address: &str) -> Result<Self, actor_tokio::Error> {
        // One socket for all shards: whichever has time accepts.
        let listener = std::net::TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let best = rt.spawn(Best::default).await?;
        let mut parts = Vec::new();
        for shard in rt.shard_ids() {
            let best = best.clone();
            parts.push(rt.spawn(move || Tally { counts: HashMap::new(), best }).on(shard).await?);
        }
        let guests = Guests { parts: parts.into(), best };
        let mut fronts = Vec::new();
        for shard in rt.shard_ids() {
            let (listener, guests) = (listener.try_clone()?, guests.clone());
            fronts.push(rt.spawn(move || Front::open(listener, guests)).on(shard).await?);
        }
        Ok(Self { address, fronts })
    }

    /// Accepts no more, and lets each connection have the answer that it waits for.
    async fn stop(self) {
        let ends: Vec<_> = self.fronts.iter().map(|front| front.stop()).collect();
        let all = async {
            for end in ends {
                end.await;
            }
        };
        // A client that reads nothing would hold a connection for ever; the shutdown that follows ends it.
        if timeout(DRAIN_LIMIT, all).await.is_err() {
            eprintln!("tally: connections were still open after {DRAIN_LIMIT:?}");
            self.fronts.iter().for_each(|front| drop(front.kill()));
        }
    }
}
// ANCHOR_END: service

// ANCHOR: main
#[actor_tokio::main]
async fn main() -> Result<(), actor_tokio::Error> {
    let service = Service::start(&RuntimeHandle::current(), "127.0.0.1:7077").await?;
    println!("tally listens at {}", service.address);
    tokio::signal::ctrl_c().await?;
    service.stop().await;
    Ok(()) // here `main` shuts the runtime down
}
// ANCHOR_END: main

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::{io::Lines, net::tcp, sync::oneshot};

    const LIMIT: Duration = Duration::from_secs(30);

    struct Client {
        lines: Lines<BufReader<tcp::OwnedReadHalf>>,
        write: tcp::OwnedWriteHalf,
    }

    impl Client {
        async fn connect(address: SocketAddr) -> Self {
            let (read, write) = TcpStream::connect(address).await.expect("connected").into_split();
            Self { lines: BufReader::new(read).lines(), write }
        }

        async fn ask(&mut self, line: &str) -> String {
            self.write.write_all(format!("{line}\n").as_bytes()).await.expect("sent");
            self.line().await.expect("answered")
        }

        async fn line(&mut self) -> Option<String> {
            timeout(LIMIT, self.lines.next_line()).await.expect("in time").expect("read")
        }
    }

    fn runtime(shards: usize) -> ShardedRuntime {
        ShardedRuntime::builder().cores(shards).pin(Pin::Never).build().expect("runtime")
    }

    // ANCHOR: test
    #[test]
    fn clients_share_one_tally() -> Result<(), actor_tokio::Error> {
        let rt = runtime(2);
        rt.block_on(async {
            let service = Service::start(&rt.handle(), "127.0.0.1:0").await?;
            let mut one = Client::connect(service.address).await;
            let mut two = Client::connect(service.address).await;
            assert_eq!(one.ask("actor").await, "1");
            assert_eq!(two.ask("actor").await, "2");
            assert_eq!(two.ask("shard").await, "1");
            assert_eq!(one.ask("no word").await, "error: not a word");
            assert_eq!(one.ask("actor").await, "3");
            service.stop().await;
            assert_eq!(one.line().await, None); // the connection has ended
            assert!(rt.shutdown().await.is_clean());
            Ok(())
        })
    }
    // ANCHOR_END: test

    #[test]
    fn the_best_word_is_known_to_all() {
        let rt = runtime(2);
        rt.block_on(async {
            let service = Service::start(&rt.handle(), "127.0.0.1:0").await.expect("started");
            let mut client = Client::connect(service.address).await;
            for word in ["actor", "shard", "shard"] {
                client.ask(word).await;
            }
            // The tells come from two shards; nothing orders them but their counts, so ask until both are there.
            let heard = timeout(LIMIT, async { while client.ask("?").await != "shard 2" {} });
            heard.await.expect("the tells arrive");
            service.stop().await;
        });
    }

    #[test]
    fn a_line_that_is_too_long_ends_the_connection() {
        let rt = runtime(1);
        rt.block_on(async {
            let service = Service::start(&rt.handle(), "127.0.0.1:0").await.expect("started");
            let mut client = Client::connect(service.address).await;
            let longest = "a".repeat(LINE_LIMIT as usize - 1);
            assert_eq!(client.ask(&longest).await, "1");
            client.write.write_all(&[b'a'; LINE_LIMIT as usize]).await.expect("sent");
            assert_eq!(client.line().await.as_deref(), Some("error: the line is too long or has no end"));
            assert_eq!(client.line().await, None);
            service.stop().await;
        });
    }

    #[test]
    fn a_full_mailbox_gives_the_message_back() -> Result<(), actor_tokio::Error> {
        let rt = runtime(1);
        rt.block_on(async {
            // ANCHOR: backpressure
            // An actor with room for one message, which begins to receive when it is told to.
            let (go, gone) = oneshot::channel::<()>();
            let slow = rt
                .spawn_fn(|mut inbox: Inbox<String>, _cx| async move {
                    _ = gone.await;
                    while let Some(_word) = inbox.recv().await {}
                })
                .mailbox(1)
                .await?;

            slow.send("first".to_owned()).try_tell()?;
            let refused = slow.send("second".to_owned()).try_tell().unwrap_err();
            assert!(refused.is_full());
            let (word,) = refused.into_args(); // nothing was copied, nothing is lost

            // `tell` waits for room instead, here at most 10 ms.
            let late = slow.send(word).timeout(Duration::from_millis(10)).tell().await.unwrap_err();
            assert!(matches!(late, TellError::Timeout(_)));
            let (word,) = late.into_args();

            _ = go.send(());
            slow.send(word).tell().await?; // there is room now, or will be
            // ANCHOR_END: backpressure
            assert_eq!(slow.stop().await, ExitReason::Stopped);
            Ok(())
        })
    }
}
