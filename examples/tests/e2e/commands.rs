//! Every command, by the `redis` crate and by hand.

use std::collections::{BTreeSet, HashMap};

use redis::{AsyncCommands, cmd};

use crate::harness::{Server, eventually};

#[tokio::test]
async fn strings_by_the_redis_crate() {
    let server = Server::kv();
    let mut kv = server.redis_connection().await;
    assert_eq!(cmd("PING").query_async::<String>(&mut kv).await.unwrap(), "PONG");
    assert_eq!(cmd("ECHO").arg("a\r\nb").query_async::<String>(&mut kv).await.unwrap(), "a\r\nb");

    let _: () = kv.set("key", "value").await.unwrap();
    assert_eq!(kv.get::<_, String>("key").await.unwrap(), "value");
    assert_eq!(kv.get::<_, Option<String>>("none").await.unwrap(), None);
    assert_eq!(kv.strlen::<_, i64>("key").await.unwrap(), 5);
    assert_eq!(kv.append::<_, _, i64>("key", "!").await.unwrap(), 6);
    assert!(!kv.set_nx::<_, _, bool>("key", "other").await.unwrap());
    assert!(kv.set_nx::<_, _, bool>("fresh", "other").await.unwrap());
    assert_eq!(kv.getset::<_, _, String>("key", "new").await.unwrap(), "value!");
    let options = ["NX", "GET"];
    let old: Option<String> = cmd("SET").arg("key").arg("x").arg(&options).query_async(&mut kv).await.unwrap();
    assert_eq!(old.as_deref(), Some("new"), "NX did not set it");
    let old: Option<String> = cmd("SET").arg("key").arg("x").arg("XX").arg("GET").query_async(&mut kv).await.unwrap();
    assert_eq!(old.as_deref(), Some("new"));

    let _: () = kv.mset(&[("a", "1"), ("b", "2"), ("c", "3")]).await.unwrap();
    let values: Vec<Option<String>> = kv.mget(&["a", "none", "c", "b", "a"]).await.unwrap();
    assert_eq!(values, [Some("1"), None, Some("3"), Some("2"), Some("1")].map(|value| value.map(str::to_owned)));
    assert_eq!(kv.incr::<_, _, i64>("a", 41).await.unwrap(), 42);
    assert_eq!(kv.decr::<_, _, i64>("b", 4).await.unwrap(), -2);
    assert_eq!(cmd("INCR").arg("new").query_async::<i64>(&mut kv).await.unwrap(), 1);
    assert_eq!(cmd("DECR").arg("new").query_async::<i64>(&mut kv).await.unwrap(), 0);
    assert_eq!(kv.exists::<_, i64>(&["a", "b", "none", "a"]).await.unwrap(), 3);
    assert_eq!(cmd("TYPE").arg("a").query_async::<String>(&mut kv).await.unwrap(), "string");
    assert_eq!(kv.del::<_, i64>(&["a", "b", "none"]).await.unwrap(), 2);
    assert_eq!(cmd("DBSIZE").query_async::<i64>(&mut kv).await.unwrap(), 4);
    let _: () = cmd("FLUSHDB").query_async(&mut kv).await.unwrap();
    let _: () = cmd("FLUSHALL").arg("ASYNC").query_async(&mut kv).await.unwrap();
    assert_eq!(cmd("DBSIZE").query_async::<i64>(&mut kv).await.unwrap(), 0);
}

#[tokio::test]
async fn times_to_live() {
    let server = Server::kv();
    let mut kv = server.redis_connection().await;
    let _: () = kv.set_ex("a", "1", 100).await.unwrap();
    assert!((99..=100).contains(&kv.ttl::<_, i64>("a").await.unwrap()));
    let _: () = cmd("SET").arg("a").arg("2").arg("KEEPTTL").query_async(&mut kv).await.unwrap();
    assert!(kv.pttl::<_, i64>("a").await.unwrap() > 90_000);
    assert!(kv.persist::<_, bool>("a").await.unwrap());
    assert_eq!(kv.ttl::<_, i64>("a").await.unwrap(), -1);
    assert_eq!(kv.ttl::<_, i64>("none").await.unwrap(), -2);
    assert!(kv.expire::<_, bool>("a", 100).await.unwrap());
    assert!(!cmd("EXPIRE").arg("a").arg(50).arg("GT").query_async::<bool>(&mut kv).await.unwrap());
    assert!(kv.pexpire::<_, bool>("a", -1).await.unwrap(), "the past deletes");
    assert_eq!(kv.get::<_, Option<String>>("a").await.unwrap(), None);
}

#[test]
fn keys_that_ended_are_removed_though_nobody_looks() {
    let server = Server::kv();
    let mut client = server.connect();
    for key in 0..2_000 {
        client.ask(&format!("SET key{key} v PX {}\n", 1 + key % 50), "+OK\n");
    }
    client.ask("SET stays v\n", "+OK\n");
    let mut size = || {
        client.send("DBSIZE\r\n");
        client.line()
    };
    eventually("only the key without an end is left", || size() == ":1");
}

#[tokio::test]
async fn a_scan_returns_what_stays_while_others_go() {
    let server = Server::kv();
    let mut kv = server.redis_connection().await;
    for part in 0..20 {
        let keys: Vec<_> = (0..500)
            .map(|key| (format!("{}{}", if key % 2 == 0 { "stays" } else { "goes" }, part * 500 + key), "v"))
            .collect();
        let _: () = kv.mset(&keys).await.unwrap();
    }
    let (mut cursor, mut seen, mut steps) = (0_u64, BTreeSet::new(), 0);
    loop {
        let mut scan = cmd("SCAN");
        scan.arg(cursor).arg("COUNT").arg(100).arg("MATCH").arg("*s*").arg("TYPE").arg("string");
        let (next, keys): (u64, Vec<String>) = scan.query_async(&mut kv).await.unwrap();
        seen.extend(keys);
        let victim = (steps * 97) % 10_000;
        let _: i64 = kv.del((victim..victim + 100).map(|key| format!("goes{key}")).collect::<Vec<_>>()).await.unwrap();
        steps += 1;
        cursor = next;
        if cursor == 0 {
            break;
        }
        assert!(steps < 1_000, "the walk ends");
    }
    assert!((0..10_000).step_by(2).all(|key| seen.contains(&format!("stays{key}"))));
    let keys: Vec<String> = kv.keys("stays99?").await.unwrap();
    assert_eq!(keys.len(), 5);
}

#[tokio::test]
async fn what_the_server_tells() {
    let server = Server::kv();
    let mut kv = server.redis_connection().await;
    let info: String = cmd("INFO").query_async(&mut kv).await.unwrap();
    for line in ["# Server", "redis_version:", "connected_clients:", "total_commands_processed:", "shard0:", "shard1:"]
    {
        assert!(info.contains(line), "{line} in {info}");
    }
    let config: HashMap<String, String> =
        cmd("CONFIG").arg("GET").arg("*max*").arg("port").query_async(&mut kv).await.unwrap();
    assert_eq!(
        (config["port"].as_str(), config["proto-max-bulk-len"].as_str()),
        (&*server.port.to_string(), "536870912")
    );

    let count: usize = cmd("COMMAND").arg("COUNT").query_async(&mut kv).await.unwrap();
    let all: Vec<redis::Value> = cmd("COMMAND").query_async(&mut kv).await.unwrap();
    let names: Vec<String> = cmd("COMMAND").arg("LIST").query_async(&mut kv).await.unwrap();
    assert_eq!((all.len(), names.len()), (count, count));
    let docs: HashMap<String, HashMap<String, redis::Value>> =
        cmd("COMMAND").arg("DOCS").query_async(&mut kv).await.unwrap();
    assert!(names.iter().all(|name| docs[name].contains_key("summary")));

    let id: i64 = cmd("CLIENT").arg("ID").query_async(&mut kv).await.unwrap();
    let mut other = server.redis_connection().await;
    assert_ne!(cmd("CLIENT").arg("ID").query_async::<i64>(&mut other).await.unwrap(), id);
    let _: () = cmd("CLIENT").arg("SETNAME").arg("me").query_async(&mut kv).await.unwrap();
    assert_eq!(cmd("CLIENT").arg("GETNAME").query_async::<String>(&mut kv).await.unwrap(), "me");
    let _: () = cmd("CLIENT").arg("NO-EVICT").arg("on").query_async(&mut kv).await.unwrap();
    for subcommand in ["INFO", "LIST"] {
        let line: String = cmd("CLIENT").arg(subcommand).query_async(&mut kv).await.unwrap();
        assert!(
            line.contains(&format!("id={id} ")) && line.contains("name=me") && line.contains("lib-name=redis-rs"),
            "{line}"
        );
    }
}

#[test]
fn the_third_version_of_the_protocol() {
    let server = Server::kv();
    let mut client = server.connect();
    let answer = client.answers(
        b"HELLO 3\r\nGET none\r\nMGET none\r\nCONFIG GET save\r\nHELLO 2 SETNAME me\r\nGET none\r\nCLIENT GETNAME\r\n",
    );
    let answer = String::from_utf8(answer).unwrap();
    assert!(answer.starts_with("%7\r\n$6\r\nserver\r\n$5\r\nredis\r\n"), "{answer}");
    assert!(answer.contains("*0\r\n_\r\n*1\r\n_\r\n%1\r\n$4\r\nsave\r\n$0\r\n\r\n*14\r\n"), "{answer}");
    assert!(answer.ends_with("*0\r\n$-1\r\n$2\r\nme\r\n"), "{answer}");
}

#[test]
fn quit_answers_what_came_before_and_nothing_after() {
    let server = Server::kv();
    let mut client = server.connect();
    client.send("SET a 1\r\nGET a\r\nQUIT\r\nSET a 2\r\nGET a\r\n");
    assert_eq!(client.rest().escape_ascii().to_string(), "+OK\\r\\n$1\\r\\n1\\r\\n+OK\\r\\n");
    server.connect().ask("GET a\n", "$1\n1\n");
}
