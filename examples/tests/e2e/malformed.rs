//! Whatever a client sends or however it leaves, the server goes on.

use std::io::Write;

use socket2::SockRef;

use crate::harness::{Server, frame};

#[test]
fn a_client_that_dies_in_mid_frame() {
    let server = Server::kv();
    let request = frame(&[b"SET", b"key", b"value"]);
    for cut in 1..request.len() {
        let mut client = server.connect();
        client.send("PING\r\n");
        client.send(&request[..cut]);
        if cut % 2 == 0 {
            // A reset, as from a process that was killed with something left to read.
            SockRef::from(&client.0).set_linger(Some(std::time::Duration::ZERO)).unwrap();
        }
    }
    server.connect().ask("GET key\nPING\n", "$-1\n+PONG\n");
}

#[test]
fn bytes_that_mean_nothing() {
    let server = Server::kv();
    let mut state = 1_u32;
    for round in 0..1_000_u32 {
        let mut client = server.connect();
        // Noise, with the bytes that the protocol is made of more often than the others.
        let noise: Vec<u8> = (0..1 + round % 200)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let alphabet = b"*$:+-\r\n\r\n0123456789\"' \\x";
                let pick = (state >> 8) as usize % (alphabet.len() * 2);
                *alphabet.get(pick).unwrap_or(&((state >> 16) as u8))
            })
            .collect();
        // The server may close before all of it is sent.
        let _ = client.0.write_all(&noise);
    }
    server.connect().ask("PING\n", "+PONG\n");
}

#[test]
fn nesting_without_end() {
    let server = Server::kv();
    let mut client = server.connect();
    client.send(b"*1\r\n".repeat(10_000));
    assert_eq!(client.rest(), b"-ERR Protocol error: expected '$', got '*'\r\n");
    server.connect().ask("PING\n", "+PONG\n");
}
