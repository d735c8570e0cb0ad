//! The wire: RESP2 and RESP3 as Redis speaks them.
//!
//! A request is an array of bulk strings or one *inline* line. [`Framer`] finds where a request ends, across reads, and
//! refuses what no client may send; [`Args`] then decodes the whole frame with the `redis-protocol` crate; [`Writer`]
//! writes replies in the version that the client chose with `HELLO`.

mod args;
mod error;
mod framer;
mod inline;
mod integer;
mod writer;

pub use args::{Args, Span};
pub use error::ProtocolError;
pub use framer::{Found, Framer};
pub use inline::rewrite as rewrite_inline;
pub use integer::parse as parse_integer;
pub use writer::{Version, Writer};
