//! A client that takes too much, too slowly or not at all hurts itself only.

use std::io::{ErrorKind, Write};
use std::time::{Duration, Instant};

use crate::harness::{Client, Server, eventually, frame, is_reset};

const MIB: usize = 1024 * 1024;

#[test]
fn a_client_that_never_reads_costs_little_memory_and_no_other_client() {
    let server = Server::kv();
    let mut other = server.connect();
    other.send(frame(&[b"SET", b"big", &vec![b'x'; MIB]]));
    other.expect("+OK\r\n");
    let before = server.resident();

    let mut silent = server.connect();
    silent.0.set_nonblocking(true).unwrap();
    let requests = frame(&[b"GET", b"big"]).repeat(10_000);
    let (mut sent, mut pings) = (0, Vec::new());
    while pings.len() < 2_000 {
        // It sends whatever the server lets it.
        match silent.0.write(&requests[sent..]) {
            Ok(count) => sent += count,
            Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
        }
        let asked = Instant::now();
        other.ask("PING\n", "+PONG\n");
        pings.push(asked.elapsed());
        let growth = server.resident().saturating_sub(before);
        assert!(growth < 64 * MIB as u64, "grew by {} MiB", growth / MIB as u64);
    }
    pings.sort();
    // The machine that runs the tests may stop everybody for a while, so the very last ones are left out.
    let slow = pings[pings.len() * 98 / 100];
    assert!(slow < Duration::from_millis(5), "a ping took {slow:?}");

    // And it is only held back: once it reads, it gets all that it asks for.
    silent.0.set_nonblocking(false).unwrap();
    let mut expected = format!("${MIB}\r\n").into_bytes();
    expected.resize(expected.len() + MIB, b'x');
    expected.extend(b"\r\n");
    for _ in 0..20 {
        silent.expect(&expected);
    }
}

#[test]
fn a_client_that_takes_nothing_is_dropped_at_the_write_timeout() {
    let server = Server::kv_with(&["--port", "0", "--write-timeout", "0.3"]);
    let mut other = server.connect();
    other.send(frame(&[b"SET", b"big", &vec![b'x'; MIB]]));
    other.expect("+OK\r\n");
    let mut silent = server.connect();
    silent.send(frame(&[b"GET", b"big"]).repeat(100));
    // Connected and busy, but it moves.
    let mut connected = || {
        let answer = String::from_utf8(other.answers(b"INFO clients\r\n")).unwrap();
        answer.contains("connected_clients:1\r\n")
    };
    eventually("the silent client is dropped", &mut connected);
    other.ask("PING\n", "+PONG\n");
}

#[test]
fn a_slow_client_that_moves_is_not_dropped() {
    let server = Server::kv_with(&["--port", "0", "--write-timeout", "0.3"]);
    let mut client = server.connect();
    client.send(frame(&[b"SET", b"big", &vec![b'x'; 8 * MIB]]));
    client.expect("+OK\r\n");
    client.send(frame(&[b"GET", b"big"]).repeat(2));
    let started = Instant::now();
    let mut expected = format!("${}\r\n", 8 * MIB).into_bytes();
    expected.resize(expected.len() + 8 * MIB, b'x');
    expected.extend(b"\r\n");
    for reply in 0..2 {
        for part in expected.chunks(MIB / 2) {
            client.expect(part);
            if reply == 0 {
                // The reading takes longer than the timeout, and no pause does.
                std::thread::sleep(Duration::from_millis(40));
            }
        }
    }
    assert!(started.elapsed() > Duration::from_millis(600));
}

#[test]
fn answers_that_cost_more_than_their_requests_are_bounded_too() {
    let server = Server::kv();
    let before = server.resident();
    let mut client = server.connect();
    // 32,000 times the description of all commands: more than 300 MiB.
    client.0.set_nonblocking(true).unwrap();
    let requests = "COMMAND\r\n".repeat(32_000);
    let mut sent = 0;
    let mut other = server.connect();
    for _ in 0..1_000 {
        match client.0.write(&requests.as_bytes()[sent..]) {
            Ok(count) => sent += count,
            Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
        }
        other.ask("PING\n", "+PONG\n");
    }
    let growth = server.resident().saturating_sub(before);
    assert!(growth < 64 * MIB as u64, "grew by {} MiB", growth / MIB as u64);
}

#[test]
fn a_claim_without_content_costs_nothing() {
    let server = Server::kv();
    let before = server.resident();
    let clients: Vec<_> = (0..64)
        .map(|_| {
            let mut client = server.connect();
            client.send("*1048576\r\n$536870912\r\nonly this");
            client
        })
        .collect();
    server.connect().ask("PING\n", "+PONG\n");
    let growth = server.resident().saturating_sub(before);
    assert!(growth < 16 * MIB as u64, "grew by {} MiB for {} clients", growth / MIB as u64, clients.len());
}

#[test]
fn a_request_that_is_too_large_in_all_is_refused() {
    let server = Server::kv();
    let mut client = server.connect();
    // Two arguments of the largest size are one too many; only their lengths are looked at.
    client.send("*4\r\n$3\r\nSET\r\n$536870912\r\n");
    let filler = vec![b'x'; 4 * MIB];
    let outcome = (0..128).try_for_each(|_| client.0.write_all(&filler));
    let outcome = outcome.and_then(|()| client.0.write_all(b"\r\n$536870912\r\n"));
    if let Err(error) = outcome {
        assert!(is_reset(&error), "{error}");
        return;
    }
    assert!(client.rest().starts_with(b"-ERR Protocol error"));
    Client::connect(server.port).ask("PING\n", "+PONG\n");
}
