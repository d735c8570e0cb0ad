//! Many requests at once, on one connection and on many.

use std::fmt::Write;
use std::io::Write as _;
use std::thread;

use redis::AsyncCommands;

use crate::harness::{Server, frame};

#[test]
fn a_thousand_at_once_in_order() {
    let server = Server::kv();
    let mut client = server.connect();
    let (mut requests, mut expected) = (String::new(), String::new());
    for index in 0..1_000 {
        // Each on the key of the one before, or on a new one, and answered on the spot in between.
        let _ = write!(
            requests,
            "SET key{0} {index}\r\nINCR key{0}\r\nPING\r\nMGET key{0} none key{1}\r\n",
            index / 2,
            index / 3
        );
        let next = |index: usize| (index + 1).to_string();
        let latest = |key: usize| next(if key == index / 2 { index } else { 2 * key + 1 });
        let (this, other) = (next(index), latest(index / 3));
        let _ = write!(
            expected,
            "+OK\r\n:{this}\r\n+PONG\r\n*3\r\n${}\r\n{this}\r\n$-1\r\n${}\r\n{other}\r\n",
            this.len(),
            other.len()
        );
    }
    client.send(&requests);
    client.expect(&expected);
}

#[tokio::test]
async fn a_thousand_by_the_redis_crate() {
    let server = Server::kv();
    let mut kv = server.redis_connection().await;
    let mut pipeline = redis::pipe();
    for index in 0..1_000 {
        pipeline.incr("sum", index).set(format!("key{index}"), index).ignore();
    }
    let sums: Vec<i64> = pipeline.query_async(&mut kv).await.unwrap();
    assert_eq!(sums.len(), 1_000);
    assert_eq!(sums.last(), Some(&(999 * 1_000 / 2)));
}

#[test]
fn byte_by_byte() {
    let server = Server::kv();
    let mut client = server.connect();
    let mut requests = frame(&[b"SET", b"key", b"a\r\nb"]);
    requests.extend(b"GET key\r\n");
    requests.extend(frame(&[b"MGET", b"key", b"none"]));
    for byte in requests {
        client.send([byte]);
    }
    client.expect("+OK\r\n$4\r\na\r\nb\r\n*2\r\n$4\r\na\r\nb\r\n$-1\r\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn sixty_four_connections() {
    let server = Server::kv();
    let mut clients = tokio::task::JoinSet::new();
    for client in 0..64 {
        let mut kv = server.redis_connection().await;
        clients.spawn(async move {
            for round in 0..100_i64 {
                let own = format!("client{client}");
                let _: () = kv.set(&own, round).await.unwrap();
                let _: i64 = kv.incr("all", 1).await.unwrap();
                assert_eq!(kv.get::<_, i64>(&own).await.unwrap(), round);
            }
        });
    }
    while let Some(client) = clients.join_next().await {
        client.unwrap();
    }
    let mut kv = server.redis_connection().await;
    assert_eq!(kv.get::<_, i64>("all").await.unwrap(), 6_400, "no increment is lost");
}

#[test]
fn values_of_a_mebibyte() {
    let server = Server::kv();
    let mut client = server.connect();
    let value = |seed: usize| -> Vec<u8> { (0..1024 * 1024).map(|index| (index * 7 + seed) as u8).collect() };
    let mut writer = client.0.try_clone().unwrap();
    // All sets and gets are on their way before the first reply is read: they have to be written meanwhile.
    let sender = thread::spawn(move || {
        for index in 0..32 {
            writer.write_all(&frame(&[b"SET", format!("key{index}").as_bytes(), &value(index)])).unwrap();
            writer.write_all(&frame(&[b"GET", format!("key{index}").as_bytes()])).unwrap();
        }
        writer.write_all(&frame(&[b"MGET", b"key0", b"key31", b"none", b"key7"])).unwrap();
        writer.write_all(b"APPEND key0 xyz\r\nSTRLEN key0\r\n").unwrap();
    });
    let bulk = |value: &[u8]| [format!("${}\r\n", value.len()).as_bytes(), value, b"\r\n"].concat();
    for index in 0..32 {
        client.expect("+OK\r\n");
        client.expect(bulk(&value(index)));
    }
    client.expect("*4\r\n");
    client.expect(bulk(&value(0)));
    client.expect(bulk(&value(31)));
    client.expect("$-1\r\n");
    client.expect(bulk(&value(7)));
    client.expect(":1048579\r\n:1048579\r\n");
    sender.join().unwrap();
}

#[test]
fn what_was_sent_before_the_client_closed_its_side_is_answered() {
    let server = Server::kv();
    let mut client = server.connect();
    client.send("SET a 1\r\nGET a\r\nPING\r\nGET a");
    client.finish();
    assert_eq!(client.rest().escape_ascii().to_string(), "+OK\\r\\n$1\\r\\n1\\r\\n+PONG\\r\\n");
}
