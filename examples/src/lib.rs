//! Services written with `actor-tokio`. The binaries are thin; what they are made of is here.
//!
//! - [`kv`]: a Redis-compatible store, thread per core, behind the binary `kv`;
//! - [`web_counter`]: actors behind an `axum` service on a multi-thread runtime, behind the binary `web_counter`.

#![forbid(unsafe_code)]

pub mod kv;
pub mod web_counter;
