//! A server in this process leaves nothing behind. Alone in its file, so that no other test has threads or files open.

#![cfg(target_os = "linux")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use actor_tokio::ShardedRuntime;
use examples::kv::server::{Server, Settings};

#[test]
fn no_thread_and_no_file_descriptor_is_left() {
    // Once to start whatever the process keeps for good.
    serve_once();
    let before = (entries("task"), entries("fd"));
    for _ in 0..5 {
        serve_once();
    }
    assert_eq!((entries("task"), entries("fd")), before);
}

fn serve_once() {
    let runtime = ShardedRuntime::builder().cores(2).build().unwrap();
    runtime.block_on(async {
        let settings = Settings {
            address: "127.0.0.1:0".parse().unwrap(),
            reuse_port: false,
            write_timeout: Duration::from_secs(30),
        };
        let server = Server::start(&runtime.handle(), &settings).await.unwrap();
        let address = server.address();
        let clients = tokio::task::spawn_blocking(move || {
            let mut clients: Vec<_> = (0..16).map(|_| TcpStream::connect(address).unwrap()).collect();
            for client in &mut clients {
                client.write_all(b"SET a b PX 60000\r\nGET a\r\n").unwrap();
                let mut answer = [0; 12];
                client.read_exact(&mut answer).unwrap();
                assert_eq!(&answer, b"+OK\r\n$1\r\nb\r\n");
            }
            clients
        });
        let clients = clients.await.unwrap();
        server.drain().await;
        runtime.shutdown().await;
        drop(clients);
    });
    drop(runtime);
}

fn entries(of: &str) -> usize {
    std::fs::read_dir(format!("/proc/self/{of}")).unwrap().count()
}
