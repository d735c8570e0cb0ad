//! The table of all commands. The first entries are those that are looked up most.

use super::spec::{Keys, Spec};
use super::{connection, describe, keys, server, strings};

/// All commands.
pub static COMMANDS: &[Spec] = &[
    Spec { name: "get", summary: "Answers the value of a key.", handler: strings::get, ..READ_STRING },
    Spec {
        name: "set",
        arity: -3,
        key_flags: &["RW", "access", "update", "variable_flags"],
        summary: "Sets the value of a key, on conditions and with an end if asked to.",
        handler: strings::set,
        ..WRITE_STRING
    },
    Spec {
        name: "mget",
        arity: -2,
        keys: Keys::ALL,
        tips: &["request_policy:multi_shard"],
        complexity: "O(N), N being the number of keys",
        summary: "Answers the values of several keys.",
        handler: strings::mget,
        ..READ_STRING
    },
    Spec {
        name: "mset",
        since: "1.0.1",
        keys: Keys::PAIRS,
        arity: -3,
        key_flags: &["OW", "update"],
        tips: &["request_policy:multi_shard", "response_policy:all_succeeded"],
        complexity: "O(N), N being the number of keys",
        summary: "Sets the values of several keys; each key by itself, not all as one step.",
        handler: strings::mset,
        ..WRITE_STRING
    },
    Spec {
        name: "setnx",
        arity: 3,
        key_flags: &["OW", "insert"],
        summary: "Sets the value of a key that is not there yet.",
        handler: strings::setnx,
        ..FAST_WRITE_STRING
    },
    Spec {
        name: "setex",
        arity: 4,
        since: "2.0.0",
        key_flags: &["OW", "update"],
        summary: "Sets the value of a key and its time to live in seconds.",
        handler: strings::setex,
        ..WRITE_STRING
    },
    Spec {
        name: "psetex",
        arity: 4,
        since: "2.6.0",
        key_flags: &["OW", "update"],
        summary: "Sets the value of a key and its time to live in milliseconds.",
        handler: strings::psetex,
        ..WRITE_STRING
    },
    Spec {
        name: "getset",
        arity: 3,
        summary: "Sets the value of a key and answers the old one.",
        handler: strings::getset,
        ..FAST_WRITE_STRING
    },
    Spec {
        name: "strlen",
        key_flags: &["RO"],
        since: "2.2.0",
        summary: "Answers the length of a value.",
        handler: strings::strlen,
        ..READ_STRING
    },
    Spec {
        name: "append",
        arity: 3,
        since: "2.0.0",
        key_flags: &["RW", "insert"],
        summary: "Appends to the value of a key.",
        handler: strings::append,
        ..FAST_WRITE_STRING
    },
    Spec { name: "incr", summary: "Adds one to a number.", handler: strings::incr, ..FAST_WRITE_STRING },
    Spec { name: "decr", summary: "Takes one from a number.", handler: strings::decr, ..FAST_WRITE_STRING },
    Spec { name: "incrby", arity: 3, summary: "Adds to a number.", handler: strings::incrby, ..FAST_WRITE_STRING },
    Spec { name: "decrby", arity: 3, summary: "Takes from a number.", handler: strings::decrby, ..FAST_WRITE_STRING },
    Spec {
        name: "del",
        arity: -2,
        flags: &["write"],
        categories: &["@keyspace", "@write", "@slow"],
        keys: Keys::ALL,
        key_flags: &["RM", "delete"],
        tips: &["request_policy:multi_shard", "response_policy:agg_sum"],
        complexity: "O(N), N being the number of keys",
        summary: "Deletes keys and answers how many there were.",
        handler: keys::del,
        ..WRITE_KEY
    },
    Spec {
        name: "unlink",
        arity: -2,
        since: "4.0.0",
        keys: Keys::ALL,
        key_flags: &["RM", "delete"],
        tips: &["request_policy:multi_shard", "response_policy:agg_sum"],
        complexity: "O(N), N being the number of keys",
        summary: "Deletes keys and answers how many there were; the same as DEL.",
        handler: keys::del,
        ..WRITE_KEY
    },
    Spec {
        name: "exists",
        arity: -2,
        keys: Keys::ALL,
        key_flags: &["RO"],
        tips: &["request_policy:multi_shard", "response_policy:agg_sum"],
        complexity: "O(N), N being the number of keys",
        summary: "Answers how many of the keys there are.",
        handler: keys::exists,
        ..READ_KEY
    },
    Spec {
        name: "expire",
        arity: -3,
        summary: "Sets the time to live of a key in seconds.",
        handler: keys::expire,
        ..WRITE_KEY
    },
    Spec {
        name: "pexpire",
        arity: -3,
        since: "2.6.0",
        summary: "Sets the time to live of a key in milliseconds.",
        handler: keys::pexpire,
        ..WRITE_KEY
    },
    Spec {
        name: "ttl",
        tips: &["nondeterministic_output"],
        summary: "Answers the time to live of a key in seconds.",
        handler: keys::ttl,
        ..READ_KEY
    },
    Spec {
        name: "pttl",
        since: "2.6.0",
        tips: &["nondeterministic_output"],
        summary: "Answers the time to live of a key in milliseconds.",
        handler: keys::pttl,
        ..READ_KEY
    },
    Spec {
        name: "persist",
        since: "2.2.0",
        summary: "Takes the time to live off a key.",
        handler: keys::persist,
        ..WRITE_KEY
    },
    Spec { name: "type", key_flags: &["RO"], summary: "Answers the type of a value.", handler: keys::kind, ..READ_KEY },
    Spec {
        name: "scan",
        arity: -2,
        since: "2.8.0",
        tips: &["nondeterministic_output", "request_policy:special"],
        complexity: "O(1) a call, O(N) for all keys",
        categories: &["@keyspace", "@read", "@slow"],
        summary: "Walks over the keys, some at a call.",
        handler: keys::scan,
        ..READ_KEYS
    },
    Spec {
        name: "keys",
        tips: &["request_policy:all_shards", "nondeterministic_output_order"],
        categories: &["@keyspace", "@read", "@slow", "@dangerous"],
        summary: "Answers all keys that match a pattern.",
        handler: keys::keys,
        ..READ_KEYS
    },
    Spec {
        name: "dbsize",
        arity: 1,
        flags: &["readonly", "fast"],
        tips: &["request_policy:all_shards", "response_policy:agg_sum"],
        complexity: "O(1)",
        categories: &["@keyspace", "@read", "@fast"],
        group: "server",
        summary: "Answers how many keys there are.",
        handler: keys::dbsize,
        ..READ_KEYS
    },
    Spec { name: "flushall", summary: "Deletes all keys.", handler: keys::flush, ..FLUSH },
    Spec {
        name: "flushdb",
        summary: "Deletes all keys of the database, of which there is one.",
        handler: keys::flush,
        ..FLUSH
    },
    Spec {
        name: "ping",
        arity: -1,
        flags: &["fast"],
        tips: &["request_policy:all_shards", "response_policy:all_succeeded"],
        summary: "Answers at once.",
        handler: connection::ping,
        ..CONNECTION
    },
    Spec {
        name: "echo",
        arity: 2,
        flags: FAST_ANY_TIME,
        summary: "Answers its argument.",
        handler: connection::echo,
        ..CONNECTION
    },
    Spec {
        name: "hello",
        arity: -1,
        since: "6.0.0",
        summary: "Chooses the protocol and tells who the server is.",
        handler: connection::hello,
        ..CONNECTION
    },
    Spec {
        name: "auth",
        arity: -2,
        summary: "Logs in, which is not asked for here.",
        handler: connection::auth,
        ..CONNECTION
    },
    Spec {
        name: "select",
        arity: 2,
        flags: FAST_ANY_TIME,
        summary: "Chooses the database, of which there is one.",
        handler: connection::select,
        ..CONNECTION
    },
    Spec {
        name: "quit",
        arity: -1,
        summary: "Closes the connection after what was asked before is answered.",
        handler: connection::quit,
        ..CONNECTION
    },
    Spec {
        name: "client",
        arity: -2,
        flags: &[],
        since: "2.4.0",
        complexity: "Depends on the subcommand.",
        categories: &["@slow"],
        summary: "What the server knows about its clients.",
        subcommands: CLIENT,
        handler: connection::client_help,
        ..CONNECTION
    },
    Spec {
        name: "command",
        flags: ANY_TIME,
        arity: -1,
        since: "2.8.13",
        categories: &["@slow", "@connection"],
        tips: &["nondeterministic_output_order"],
        summary: "Describes all commands.",
        subcommands: COMMAND,
        handler: describe::all,
        ..SERVER
    },
    Spec {
        name: "config",
        arity: -2,
        flags: &[],
        since: "2.0.0",
        complexity: "Depends on the subcommand.",
        categories: &["@slow"],
        summary: "The settings of the server.",
        subcommands: CONFIG,
        handler: server::config_help,
        ..SERVER
    },
    Spec {
        name: "info",
        arity: -1,
        flags: ANY_TIME,
        categories: &["@slow", "@dangerous"],
        tips: &["nondeterministic_output", "request_policy:all_shards", "response_policy:special"],
        summary: "Tells about the server.",
        handler: server::info,
        ..SERVER
    },
];

static CLIENT: &[Spec] = &[
    Spec {
        name: "id",
        summary: "Answers the number of this connection.",
        handler: connection::client_id,
        ..CLIENT_COMMAND
    },
    Spec {
        name: "setname",
        arity: 3,
        since: "2.6.9",
        summary: "Gives this connection a name.",
        handler: connection::client_setname,
        ..CLIENT_COMMAND
    },
    Spec {
        name: "getname",
        since: "2.6.9",
        summary: "Answers the name of this connection.",
        handler: connection::client_getname,
        ..CLIENT_COMMAND
    },
    Spec {
        name: "setinfo",
        arity: 4,
        since: "7.2.0",
        summary: "Notes which library the client uses.",
        handler: connection::client_setinfo,
        ..CLIENT_COMMAND
    },
    Spec {
        name: "info",
        since: "6.2.0",
        tips: &["nondeterministic_output"],
        summary: "Tells about this connection.",
        handler: connection::client_info,
        ..CLIENT_COMMAND
    },
    Spec {
        name: "list",
        arity: -2,
        flags: ADMIN,
        since: "2.4.0",
        tips: &["nondeterministic_output"],
        categories: &["@admin", "@slow", "@dangerous", "@connection"],
        summary: "Tells about connections, of which a client sees its own.",
        handler: connection::client_list,
        ..CLIENT_COMMAND
    },
    Spec {
        name: "no-evict",
        arity: 3,
        flags: ADMIN,
        since: "7.0.0",
        categories: &["@admin", "@slow", "@dangerous", "@connection"],
        summary: "Protects this connection from eviction, which there is none of.",
        handler: connection::client_no_evict,
        ..CLIENT_COMMAND
    },
    Spec {
        name: "help",
        flags: ANY_TIME,
        summary: "Answers this.",
        handler: connection::client_help,
        ..CLIENT_COMMAND
    },
];

static COMMAND: &[Spec] = &[
    Spec {
        name: "count",
        arity: 2,
        summary: "Answers how many commands there are.",
        handler: describe::count,
        ..COMMAND_COMMAND
    },
    Spec {
        name: "docs",
        since: "7.0.0",
        tips: &["nondeterministic_output_order"],
        summary: "Documents commands.",
        handler: describe::docs,
        ..COMMAND_COMMAND
    },
    Spec {
        name: "info",
        since: "2.8.13",
        tips: &["nondeterministic_output_order"],
        summary: "Describes commands.",
        handler: describe::info,
        ..COMMAND_COMMAND
    },
    Spec {
        name: "list",
        since: "7.0.0",
        tips: &["nondeterministic_output_order"],
        summary: "Answers the names of all commands.",
        handler: describe::list,
        ..COMMAND_COMMAND
    },
    Spec {
        name: "help",
        arity: 2,
        since: "5.0.0",
        summary: "Answers this.",
        handler: describe::help,
        ..COMMAND_COMMAND
    },
];

static CONFIG: &[Spec] = &[
    Spec {
        name: "get",
        arity: -3,
        flags: ADMIN,
        since: "2.0.0",
        categories: &["@admin", "@slow", "@dangerous"],
        summary: "Answers settings.",
        handler: server::config_get,
        ..SERVER
    },
    Spec {
        name: "help",
        arity: 2,
        flags: ANY_TIME,
        since: "5.0.0",
        categories: &["@slow"],
        summary: "Answers this.",
        handler: server::config_help,
        ..SERVER
    },
];

const ANY_TIME: &[&str] = &["loading", "stale"];
const FAST_ANY_TIME: &[&str] = &["loading", "stale", "fast"];
const ADMIN: &[&str] = &["admin", "noscript", "loading", "stale"];

/// What most have in common; each family below says what differs, and each command what differs from that.
const BASE: Spec = Spec {
    name: "",
    arity: 2,
    flags: &[],
    keys: Keys::NONE,
    key_flags: &[],
    categories: &[],
    tips: &[],
    summary: "",
    since: "1.0.0",
    group: "generic",
    complexity: "O(1)",
    subcommands: &[],
    handler: describe::count,
};

const READ_STRING: Spec = Spec {
    flags: &["readonly", "fast"],
    keys: Keys::ONE,
    key_flags: &["RO", "access"],
    categories: &["@read", "@string", "@fast"],
    group: "string",
    ..BASE
};

const WRITE_STRING: Spec = Spec {
    flags: &["write", "denyoom"],
    keys: Keys::ONE,
    key_flags: &["RW", "access", "update"],
    categories: &["@write", "@string", "@slow"],
    group: "string",
    ..BASE
};

const FAST_WRITE_STRING: Spec =
    Spec { flags: &["write", "denyoom", "fast"], categories: &["@write", "@string", "@fast"], ..WRITE_STRING };

const READ_KEY: Spec = Spec {
    flags: &["readonly", "fast"],
    keys: Keys::ONE,
    key_flags: &["RO", "access"],
    categories: &["@keyspace", "@read", "@fast"],
    ..BASE
};

const WRITE_KEY: Spec = Spec {
    flags: &["write", "fast"],
    keys: Keys::ONE,
    key_flags: &["RW", "update"],
    categories: &["@keyspace", "@write", "@fast"],
    ..BASE
};

const READ_KEYS: Spec = Spec { flags: &["readonly"], complexity: "O(N), N being the number of all keys", ..BASE };

const FLUSH: Spec = Spec {
    arity: -1,
    flags: &["write"],
    categories: &["@keyspace", "@write", "@slow", "@dangerous"],
    tips: &["request_policy:all_shards", "response_policy:all_succeeded"],
    group: "server",
    complexity: "O(N), N being the number of all keys",
    ..BASE
};

const CONNECTION: Spec = Spec {
    flags: &["noscript", "loading", "stale", "fast", "no_auth", "allow_busy"],
    categories: &["@fast", "@connection"],
    group: "connection",
    ..BASE
};

const CLIENT_COMMAND: Spec = Spec {
    flags: &["noscript", "loading", "stale"],
    since: "5.0.0",
    categories: &["@slow", "@connection"],
    group: "connection",
    ..BASE
};

const SERVER: Spec = Spec { group: "server", ..BASE };

const COMMAND_COMMAND: Spec =
    Spec { arity: -2, flags: ANY_TIME, since: "2.8.13", categories: &["@slow", "@connection"], ..SERVER };
