//! The same requests to `kv` and to `redis-server`: the answers are the same bytes.

use std::fmt::Write;

use crate::harness::{Client, Server};

/// Each line is sent as it is, and all of them over one connection.
const SCRIPT: &str = r#"
PING
PING hello
PING a b
pInG
ECHO x
ECHO
GET
GET a b
get none
SET a
SET a b
SET a b EX
SET a b EX 0
SET a b EX -1
SET a b EX x
SET a b EX 9223372036854775807
SET a b PX 9223372036854775807
SET a b EXAT 0
SET a b NX XX
SET a b EX 1 PX 1
SET a b KEEPTTL EX 1
SET a b FOO
SET a c NX GET
SET a d GET
SET none d XX GET
SET none d XX
SET a e nx
SET a f xx
SET a g PXAT 1
GET a
SET a h EX 1000
TTL a
SET a i KEEPTTL
TTL a
SET a j
TTL a
SETEX a 0 k
SETEX a x k
SETEX a 1000
PSETEX a -1 k
SETEX a 1000 k
TTL a
PSETEX a 1000000 k
TTL a
SETNX a k
SETNX setnx k
GETSET a l
GETSET getset m
GETSET getset n
APPEND a xyz
APPEND append xyz
STRLEN a
STRLEN none
APPEND a
MSET
MSET a
MSET a b c
MSET a 1 b 2 c 3 a 4
MGET a b c none a
MGET
EXISTS a b none a
EXISTS
INCR a
INCRBY a 10
INCRBY a x
INCRBY a +1
DECR a
DECRBY a 3
DECRBY a -9223372036854775808
SET n 9223372036854775807
INCR n
SET n -9223372036854775808
DECR n
SET n " 1"
INCR n
SET n 01
INCR n
SET n -0
INCR n
SET n ""
INCR n
DEL n
DECRBY n 9223372036854775807
DECRBY n 1
DECRBY n 1
TYPE a
TYPE none
EXPIRE a x
EXPIRE a 9223372036854775807
EXPIRE a -9223372036854775808
PEXPIRE a 9223372036854775807
EXPIRE a 1 foo
EXPIRE a 10 nx xx
EXPIRE a 10 gt lt
EXPIRE a 10 nx gt
EXPIRE a 1000 xx
EXPIRE a 1000 nx
EXPIRE a 1000 nx
EXPIRE a 500 gt
EXPIRE a 2000 gt
EXPIRE a 3000 lt
EXPIRE a 1500 lt
EXPIRE a 1000 xx gt
EXPIRE a 2500 xx gt
TTL a
PERSIST a
PERSIST a
PERSIST none
EXPIRE b 1000 gt
EXPIRE b 1000 lt
EXPIRE none 10
EXPIRE b 0
GET b
PTTL none
PTTL a
TTL
DEL a none c
UNLINK b none
UNLINK
DEL
SELECT 0
SELECT 99
SELECT -1
SELECT x
SELECT 99999999999
AUTH
AUTH x
AUTH default x
AUTH nobody x
AUTH a b c
HELLO 4
HELLO x
HELLO 3 foo
HELLO 2 SETNAME
HELLO 2 AUTH nobody x
HELLO 2 SETNAME "a b"
CLIENT
CLIENT FOO
CLIENT ID x
CLIENT GETNAME
CLIENT SETNAME
CLIENT SETNAME "a b"
CLIENT SETNAME me
CLIENT GETNAME
CLIENT SETNAME ""
CLIENT GETNAME
CLIENT NO-EVICT on
CLIENT NO-EVICT x
CLIENT NO-EVICT
CLIENT LIST foo
CLIENT LIST TYPE x
CLIENT LIST TYPE pubsub
CLIENT LIST ID x
CLIENT LIST ID 99999999
CONFIG
CONFIG GET
CONFIG FOO
CONFIG GET save
CONFIG GET appendonly
CONFIG GET nosuch
COMMAND FOO
COMMAND COUNT x
COMMAND DOCS nosuch
COMMAND INFO nosuch
COMMAND INFO get mget del ttl dbsize ping strlen append incr
INFO nosuch
SCAN
SCAN x
SCAN 1x
SCAN 18446744073709551616
SCAN 0 COUNT
SCAN 0 COUNT 0
SCAN 0 COUNT x
SCAN 0 FOO 1
KEYS
KEYS setn?x
KEYS s[a-e]tnx
KEYS s[^a]tnx
KEYS nothing*
DBSIZE
DBSIZE x
FLUSHALL x
FLUSHDB SYNC x
FLUSHALL SYNC
DBSIZE
FLUSHDB ASYNC
nosuch
nosuch a "b c" "\x01\x00z" d
nosuch aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb c
"" x
"no\nsuch" "a\r\nb"
"#;

#[test]
fn each_command_and_each_error() {
    let (kv, Some(redis)) = (Server::kv(), Server::redis()) else { return };
    let (mut ours, mut theirs) = (kv.connect(), redis.connect());
    for line in SCRIPT.lines().filter(|line| !line.is_empty()) {
        let request = format!("{line}\r\n");
        let (ours, theirs) = (ours.answers(request.as_bytes()), theirs.answers(request.as_bytes()));
        assert_eq!(ours.escape_ascii().to_string(), theirs.escape_ascii().to_string(), "{line}");
    }
}

#[test]
fn breaches_of_the_protocol() {
    let (kv, Some(redis)) = (Server::kv(), Server::redis()) else { return };
    let long = "1".repeat(70_000);
    let streams = [
        "*abc\r\n",
        "*99999999999\r\n",
        "*1\nPING\r\n",
        "*1\r\n$-1\r\n",
        "*1\r\n$536870913\r\n",
        "*1\r\n$03\r\nfoo\r\n",
        "*1\r\n$4\nPING\r\n",
        "*1\r\n+PING\r\n",
        "*1\r\n\r\n",
        "*1\r\n*1\r\n$4\r\nPING\r\n",
        "PING\r\n*3\r\n$3\r\nGET\r\n:3\r\n",
        "*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\nb\r\n*1\r\n$999999999999\r\n",
        "GET \"a\r\n",
        "GET 'a'b\r\n",
        &format!("*{long}"),
        &format!("*1\r\n${long}"),
        &long,
    ];
    for stream in streams {
        let answer = |server: &Server| {
            let mut client = server.connect();
            client.send(stream);
            String::from_utf8(client.rest()).unwrap()
        };
        assert_eq!(answer(&kv), answer(&redis), "{:?}", &stream[..stream.len().min(40)]);
    }
}

#[test]
fn requests_without_an_answer_and_odd_ones() {
    let (kv, Some(redis)) = (Server::kv(), Server::redis()) else { return };
    for stream in [
        "*0\r\n*-1\r\n*-7\r\nPING\r\n",
        "\r\n\n  \r\nPING\n",
        "*2\r\n$3\r\nGET\r\n$3\r\nfooXXPING\r\n",
        "*1\r\n$0\r\n\r\n",
    ] {
        let answer = |server: &Server| server.connect().answers(stream.as_bytes()).escape_ascii().to_string();
        assert_eq!(answer(&kv), answer(&redis), "{stream:?}");
    }
}

/// A long sequence of commands on few keys, in pipelines of different lengths.
#[test]
fn a_stirred_sequence() {
    let (kv, Some(redis)) = (Server::kv(), Server::redis()) else { return };
    let (mut ours, mut theirs) = (kv.connect(), redis.connect());
    let mut stir = Stir(7);
    for round in 0..400 {
        let mut batch = String::new();
        for _ in 0..1 + stir.below(60) {
            let (a, b, c) = (stir.below(12), stir.below(12), stir.below(12));
            let value = ["1", "-5", "text", "", "900"][stir.below(5)];
            let _ = match stir.below(18) {
                0 => writeln!(batch, "SET k{a} {value:?}\r"),
                1 => writeln!(batch, "GET k{a}\r"),
                2 => writeln!(batch, "MSET k{a} x k{b} 2 k{c} z k{a} 4\r"),
                3 => writeln!(batch, "MGET k{a} k{b} k{c} k{a}\r"),
                4 => writeln!(batch, "DEL k{a} k{b}\r"),
                5 => writeln!(batch, "EXISTS k{a} k{b} k{c}\r"),
                6 => writeln!(batch, "INCRBY k{a} {}\r", stir.below(100)),
                7 => writeln!(batch, "APPEND k{a} {value:?}\r"),
                8 => writeln!(batch, "SETNX k{a} {value:?}\r"),
                9 => writeln!(batch, "GETSET k{a} {value:?}\r"),
                10 => writeln!(batch, "EXPIRE k{a} {}\r", [-1, 0, 5_000][stir.below(3)]),
                11 => writeln!(batch, "TTL k{a}\r"),
                12 => writeln!(batch, "PERSIST k{a}\r"),
                13 => writeln!(batch, "STRLEN k{a}\r"),
                14 => writeln!(batch, "DBSIZE\r"),
                15 => writeln!(
                    batch,
                    "SET k{a} {value:?} {}\r",
                    ["NX", "XX", "GET", "XX GET", "EX 5000", "KEEPTTL"][stir.below(6)]
                ),
                16 => writeln!(batch, "TYPE k{a}\r"),
                _ if stir.below(20) == 0 => writeln!(batch, "FLUSHALL\r"),
                _ => writeln!(batch, "DECR k{a}\r"),
            };
        }
        let compare = |client: &mut Client| client.answers(batch.as_bytes()).escape_ascii().to_string();
        assert_eq!(compare(&mut ours), compare(&mut theirs), "round {round}: {batch}");
    }
}

/// Numbers in a fixed order that looks like none.
struct Stir(u32);

impl Stir {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) as usize % limit
    }
}
