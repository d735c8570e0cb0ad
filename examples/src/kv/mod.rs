//! A Redis-compatible store in which each core owns a part of the keys. `README.md` in this folder tells how it works.

pub mod acceptor;
pub mod backend;
pub mod batch;
pub mod blob;
pub mod cli;
pub mod clock;
pub mod command;
pub mod connection;
pub mod demo;
pub mod exec;
pub mod expiry;
pub mod glob;
pub mod info;
pub mod input;
pub mod keyspace;
pub mod listener;
pub mod op;
pub mod output;
pub mod partition;
pub mod plan;
pub mod reply;
pub mod resp;
pub mod router;
pub mod server;
pub mod session;
pub mod store;
