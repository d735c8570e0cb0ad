//! The binary `kv` as its clients see it: started as a process of its own, asked over TCP, ended by a signal.
//!
//! `redis-server`, `redis-cli` and `redis-benchmark` take part if they are installed; otherwise a line says what was left
//! out.

#![cfg(target_os = "linux")]

mod commands;
mod differential;
mod drain;
mod harness;
mod limits;
mod malformed;
mod pipelines;
mod start;
mod tools;
