//! The tools that come with Redis, and the demo.

use std::process::Command;

use crate::harness::{Server, kv_command};

#[test]
fn redis_cli() {
    let server = Server::kv();
    let cli = |args: &[&str]| {
        let output = Command::new("redis-cli").args(["-p", &server.port.to_string()]).args(args).output().ok()?;
        Some(String::from_utf8(output.stdout).unwrap().trim().to_owned())
    };
    let Some(answer) = cli(&["SET", "key", "value"]) else {
        println!("skipped: redis-cli is not installed");
        return;
    };
    assert_eq!(answer, "OK");
    assert_eq!(cli(&["GET", "key"]).unwrap(), "value");
    assert_eq!(cli(&["--scan"]).unwrap(), "key");
    assert_eq!(cli(&["-3", "CONFIG", "GET", "save"]).unwrap(), "save");
    assert!(cli(&["--bigkeys"]).unwrap().contains("1 strings"));
}

#[test]
fn redis_benchmark() {
    let server = Server::kv();
    for pipeline in ["1", "16"] {
        let mut benchmark = Command::new("redis-benchmark");
        benchmark.args([
            "-p",
            &server.port.to_string(),
            "-t",
            "ping,set,get,incr,mset",
            "-n",
            "5000",
            "-r",
            "1000",
            "-q",
        ]);
        let Ok(output) = benchmark.args(["-P", pipeline]).output() else {
            println!("skipped: redis-benchmark is not installed");
            return;
        };
        let said = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{said}");
        for test in ["PING_INLINE", "PING_MBULK", "SET", "GET", "INCR", "MSET (10 keys)"] {
            assert!(said.contains(&format!("{test}: ")) && !said.to_lowercase().contains("error"), "{test} in {said}");
        }
    }
}

#[test]
fn the_demo_prints_its_table() {
    let output = kv_command(&["--demo"]).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said}");
    for column in ["requests/s", "p50", "p99", "p99.9", "SET", "GET", "shard 0:", "shard 1:"] {
        assert!(said.contains(column), "{column} in {said}");
    }
}
