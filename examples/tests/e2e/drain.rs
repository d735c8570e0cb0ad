//! The end: whoever asked is answered, and nobody is reset.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::harness::{LIMIT, Server, frame, within_limit};

#[test]
fn a_signal_ends_it_with_success() {
    for clients in [0, 8] {
        let mut server = Server::kv();
        let mut clients: Vec<_> = (0..clients).map(|_| server.connect()).collect();
        clients.iter_mut().for_each(|client| client.ask("PING\n", "+PONG\n"));
        server.terminate();
        // Clients that have nothing to ask are told by the end of the stream.
        clients.iter_mut().for_each(|client| assert_eq!(client.rest(), b""));
        drop(clients);
        assert_eq!(server.ended().code(), Some(0));
    }
}

#[test]
fn what_has_been_sent_is_answered_before_the_end() {
    let mut server = Server::kv();
    let mut busy = server.connect();
    busy.send(frame(&[b"SET", b"big", &vec![b'x'; 1024 * 1024]]));
    busy.expect("+OK\r\n");
    // More than the server runs before the client reads: the rest is in the socket's buffer when the signal comes.
    let requests = 40;
    busy.send(frame(&[b"GET", b"big"]).repeat(requests));
    let mut half = server.connect();
    half.send("*2\r\n$4\r\nECHO\r\n$5\r\nhal");
    let mut fresh = server.connect();
    server.terminate();
    half.send("f!\r\n");
    half.expect("$5\r\nhalf!\r\n");
    fresh.ask("PING\n", "+PONG\n");
    assert_eq!((half.rest(), fresh.rest()), (vec![], vec![]));
    let mut expected = b"$1048576\r\n".to_vec();
    expected.resize(expected.len() + 1024 * 1024, b'x');
    expected.extend(b"\r\n");
    for _ in 0..requests {
        busy.expect(&expected);
    }
    assert_eq!(busy.rest(), b"");
    drop((busy, half, fresh));
    assert_eq!(server.ended().code(), Some(0));
}

#[test]
fn a_client_that_never_reads_does_not_hold_up_the_end() {
    let mut server = Server::kv();
    let mut silent = server.connect();
    silent.send(frame(&[b"SET", b"big", &vec![b'x'; 1024 * 1024]]));
    silent.expect("+OK\r\n");
    silent.send(frame(&[b"GET", b"big"]).repeat(100));
    server.terminate();
    assert_eq!(server.ended().code(), Some(0));
}

/// Two servers share a port, one ends while clients come and go: nobody is reset, and nobody goes unanswered.
#[test]
fn a_server_leaves_a_shared_port_unnoticed() {
    const CONNECTIONS: usize = 5_000;
    const THREADS: usize = 16;
    let mut leaving = Server::kv_with(&["--port", "0", "--reuse-port"]);
    let port = leaving.port;
    let staying = Server::kv_with(&["--port", &port.to_string(), "--reuse-port"]);
    let done = Arc::new(AtomicUsize::new(0));
    let clients: Vec<_> = (0..THREADS)
        .map(|_| {
            let done = done.clone();
            thread::spawn(move || {
                let mut failures = Vec::new();
                while done.fetch_add(1, Ordering::Relaxed) < CONNECTIONS {
                    failures.extend(ping_once(port).err());
                }
                failures
            })
        })
        .collect();
    while done.load(Ordering::Relaxed) < CONNECTIONS / 2 {
        thread::yield_now();
    }
    leaving.terminate();
    let failures = within_limit(move || {
        clients.into_iter().flat_map(|client| client.join().unwrap()).map(|error| error.to_string()).collect::<Vec<_>>()
    });
    assert_eq!(failures, [""; 0], "of {CONNECTIONS} connections");
    assert_eq!(leaving.ended().code(), Some(0));
    staying.connect().ask("PING\n", "+PONG\n");
}

fn ping_once(port: u16) -> std::io::Result<()> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(LIMIT))?;
    stream.write_all(b"*1\r\n$4\r\nPING\r\n")?;
    let mut answer = [0; 7];
    stream.read_exact(&mut answer)?;
    assert_eq!(&answer, b"+PONG\r\n");
    Ok(())
}
