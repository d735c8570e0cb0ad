//! Servers to test against, and a client that sends and receives bytes as they are.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// Nothing in these tests takes this long unless it hangs.
pub const LIMIT: Duration = Duration::from_secs(30);

/// A server process; killed when dropped.
pub struct Server {
    child: Child,
    pub port: u16,
}

impl Server {
    /// `kv` on two shards and a free port.
    pub fn kv() -> Self {
        Self::kv_with(&["--port", "0"])
    }

    /// `kv` on two shards with these options.
    pub fn kv_with(options: &[&str]) -> Self {
        let mut child =
            kv_command(options).stdout(Stdio::piped()).spawn().expect("the binary was built with this test");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("it is piped");
        BufReader::new(stdout).read_line(&mut line).expect("it is text");
        let port = line.trim().rsplit(':').next().and_then(|port| port.parse().ok());
        Self { child, port: port.unwrap_or_else(|| panic!("no port in {line:?}")) }
    }

    /// `redis-server`, if it is installed.
    pub fn redis() -> Option<Self> {
        // A port that was free a moment ago: another may have taken it since, so try again.
        for _ in 0..5 {
            let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            let mut command = Command::new("redis-server");
            command.args(["--port", &port.to_string(), "--save", "", "--appendonly", "no", "--databases", "1"]);
            let Ok(child) = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn() else {
                println!("skipped: redis-server is not installed");
                return None;
            };
            let mut server = Self { child, port };
            if server.comes_up() {
                return Some(server);
            }
        }
        panic!("redis-server does not start");
    }

    fn comes_up(&mut self) -> bool {
        let until = Instant::now() + LIMIT;
        while Instant::now() < until && self.child.try_wait().unwrap().is_none() {
            if TcpStream::connect(("127.0.0.1", self.port)).is_ok() {
                return true;
            }
            thread::yield_now();
        }
        false
    }

    pub fn connect(&self) -> Client {
        Client::connect(self.port)
    }

    pub async fn redis_connection(&self) -> redis::aio::MultiplexedConnection {
        let client = redis::Client::open(format!("redis://127.0.0.1:{}/", self.port)).unwrap();
        // Its own limit is half a second, and the machine that runs the tests may be slower than that.
        let config = redis::AsyncConnectionConfig::new().set_response_timeout(Some(LIMIT));
        client.get_multiplexed_async_connection_with_config(&config).await.unwrap()
    }

    pub fn terminate(&self) {
        let pid = Pid::from_raw(self.child.id() as i32).expect("a child has a pid");
        kill_process(pid, Signal::TERM).unwrap();
    }

    /// Waits for the end.
    pub fn ended(&mut self) -> ExitStatus {
        let until = Instant::now() + LIMIT;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < until, "the server does not end");
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Bytes of the server's memory that are in RAM.
    pub fn resident(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches("kB").trim().parse::<u64>().unwrap() * 1024
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `kv` on two shards, not started yet.
pub fn kv_command(options: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kv"));
    command.args(["--cores", "2"]).args(options);
    command
}

/// Bytes in, bytes out.
pub struct Client(pub TcpStream);

impl Client {
    pub fn connect(port: u16) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        stream.set_write_timeout(Some(LIMIT)).unwrap();
        Self(stream)
    }

    pub fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.0.write_all(bytes.as_ref()).unwrap();
    }

    /// Reads as many bytes as `expected` has, and compares.
    pub fn expect(&mut self, expected: impl AsRef<[u8]>) {
        let expected = expected.as_ref();
        let mut got = vec![0; expected.len()];
        self.0.read_exact(&mut got).unwrap();
        let shown = |bytes: &[u8]| bytes[..bytes.len().min(300)].escape_ascii().to_string();
        assert!(got == expected, "expected {} but got {}", shown(expected), shown(&got));
    }

    /// Sends inline commands and compares what is answered.
    pub fn ask(&mut self, commands: &str, expected: &str) {
        self.send(commands.replace('\n', "\r\n"));
        self.expect(expected.replace('\n', "\r\n"));
    }

    /// Sends `bytes` and a command whose answer is known, and returns what is answered before that.
    pub fn answers(&mut self, bytes: &[u8]) -> Vec<u8> {
        const MARK: &[u8] = b"*2\r\n$4\r\nECHO\r\n$12\r\n<<the mark>>\r\n";
        const ANSWER: &[u8] = b"$12\r\n<<the mark>>\r\n";
        self.send(bytes);
        self.send(MARK);
        let mut got = Vec::new();
        while !got.ends_with(ANSWER) {
            let mut part = [0; 4096];
            let count = self.0.read(&mut part).unwrap();
            assert!(count > 0, "closed after {}", got.escape_ascii());
            got.extend_from_slice(&part[..count]);
        }
        got.truncate(got.len() - ANSWER.len());
        got
    }

    /// Reads to the end of the connection.
    pub fn rest(&mut self) -> Vec<u8> {
        let mut rest = Vec::new();
        self.0.read_to_end(&mut rest).unwrap();
        rest
    }

    /// Sends no more.
    pub fn finish(&self) {
        self.0.shutdown(Shutdown::Write).unwrap();
    }

    /// One line, without its end.
    pub fn line(&mut self) -> String {
        let mut line = Vec::new();
        let mut byte = [0];
        while !line.ends_with(b"\r\n") {
            self.0.read_exact(&mut byte).unwrap();
            line.push(byte[0]);
        }
        String::from_utf8(line).unwrap().trim_end().to_owned()
    }
}

/// A request as a client library sends it.
pub fn frame(args: &[&[u8]]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", args.len()).into_bytes();
    for arg in args {
        bytes.extend_from_slice(format!("${}\r\n", arg.len()).as_bytes());
        bytes.extend_from_slice(arg);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes
}

/// Asks again and again until the answer will do.
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let until = Instant::now() + LIMIT;
    while !holds() {
        assert!(Instant::now() < until, "never: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Runs `work` on a thread and fails if it hangs.
pub fn within_limit<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, wait) = mpsc::channel();
    let thread = thread::spawn(move || done.send(work()));
    match wait.recv_timeout(2 * LIMIT) {
        Ok(result) => result,
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("hangs"),
        Err(mpsc::RecvTimeoutError::Disconnected) => match thread.join() {
            Err(panic) => std::panic::resume_unwind(panic),
            Ok(_) => unreachable!("it would have sent its result"),
        },
    }
}

/// Whether an I/O error says that the other side has reset the connection.
pub fn is_reset(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe)
}
