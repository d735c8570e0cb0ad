//! The web service over HTTP.

use std::net::SocketAddr;
use std::process::Stdio;

use actor_tokio::ShardedRuntime;
use examples::web_counter::{Counters, router};
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Command;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

#[tokio::test(flavor = "multi_thread")]
async fn counts_for_many_clients_at_once() {
    let runtime = ShardedRuntime::builder().cores(2).build().unwrap();
    let counters = Counters::start(&runtime.handle()).await.unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let service = axum::serve(listener, router(counters)).with_graceful_shutdown(async {
        let _ = stopped.await;
    });
    let service = tokio::spawn(service.into_future());

    assert_eq!(ask(address, "GET", "/counters/visits").await, (404, "no such counter".to_owned()));
    assert_eq!(ask(address, "POST", "/counters/visits/add").await, (200, "1".to_owned()));
    assert_eq!(ask(address, "POST", "/counters/visits/add?by=-3").await, (200, "-2".to_owned()));
    assert_eq!(ask(address, "POST", "/counters/visits/add?by=x").await.0, 400);
    assert_eq!(ask(address, "POST", &format!("/counters/visits/add?by={}", i64::MIN)).await.0, 409);
    assert_eq!(ask(address, "GET", "/counters/visits").await, (200, "-2".to_owned()));

    let mut clients = JoinSet::new();
    for client in 0..32 {
        clients.spawn(async move {
            for round in 0..20 {
                let path = format!("/counters/{}/add?by=2", (client + round) % 7);
                assert_eq!(ask(address, "POST", &path).await.0, 200);
            }
        });
    }
    while let Some(client) = clients.join_next().await {
        client.unwrap();
    }
    let mut sum = 0;
    for counter in 0..7 {
        sum += ask(address, "GET", &format!("/counters/{counter}")).await.1.parse::<i64>().unwrap();
    }
    assert_eq!(sum, 32 * 20 * 2);
    assert_eq!(ask(address, "GET", "/healthz").await, (200, "8 counters".to_owned()));

    stop.send(()).unwrap();
    service.await.unwrap().unwrap();
    runtime.shutdown().await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_signal_ends_the_binary_with_success() {
    let mut service = Command::new(env!("CARGO_BIN_EXE_web_counter"));
    let mut service = service.arg("127.0.0.1:0").stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(service.stdout.take().unwrap()).read_line(&mut line).await.unwrap();
    let address = line.trim().rsplit(' ').next().unwrap().parse().unwrap();
    assert_eq!(ask(address, "POST", "/counters/visits/add?by=2").await, (200, "2".to_owned()));
    let pid = Pid::from_raw(service.id().unwrap() as i32).unwrap();
    kill_process(pid, Signal::TERM).unwrap();
    assert!(service.wait().await.unwrap().success());
}

/// One request over a connection of its own: status and body.
async fn ask(address: SocketAddr, method: &str, path: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).await.unwrap();
    let (head, body) = response.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}
