//! Starting: the port, and what is said about a bad command line.

use crate::harness::{Server, kv_command};

#[test]
fn a_port_in_use_is_an_error_that_names_the_way_out() {
    let server = Server::kv();
    let port = server.port.to_string();
    let second = kv_command(&["--port", &port]).output().unwrap();
    assert_eq!(second.status.code(), Some(1));
    let said = String::from_utf8(second.stderr).unwrap();
    assert!(said.contains(&port) && said.contains("--reuse-port") && said.contains("--port"), "{said}");
    server.connect().ask("PING\n", "+PONG\n");
}

#[test]
fn a_port_is_shared_by_choice() {
    let first = Server::kv();
    let port = first.port.to_string();
    let second = Server::kv_with(&["--port", &port, "--reuse-port"]);
    assert_eq!(second.port, first.port);
    for _ in 0..32 {
        second.connect().ask("PING\n", "+PONG\n");
    }
}

#[test]
fn a_bad_command_line() {
    for options in [&["--nope"][..], &["--port", "x"], &["--cores", "0"], &["extra"]] {
        let output = kv_command(options).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{options:?}");
        assert!(String::from_utf8(output.stderr).unwrap().contains("--help"), "{options:?}");
    }
    let help = kv_command(&["--help"]).output().unwrap();
    assert!(help.status.success());
    let help = String::from_utf8(help.stdout).unwrap();
    for option in ["--port", "--bind", "--cores", "--reuse-port", "--write-timeout", "--demo"] {
        assert!(help.contains(option), "{option}");
    }
}
