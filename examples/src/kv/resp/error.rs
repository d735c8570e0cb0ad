//! What a client sent that is no RESP. It is told so, in Redis' words, and its connection is closed.

use thiserror::Error;

/// A breach of the protocol.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum ProtocolError {
    /// The number of arguments is no number, or too large a one.
    #[error("invalid multibulk length")]
    MultibulkLength,
    /// The length of an argument is no number, or too large a one.
    #[error("invalid bulk length")]
    BulkLength,
    /// An argument that is no bulk string.
    #[error("expected '$', got '{}'", printable(*.0))]
    NotBulk(u8),
    /// The number of arguments does not end.
    #[error("too big mbulk count string")]
    EndlessMultibulk,
    /// The length of an argument does not end.
    #[error("too big bulk count string")]
    EndlessBulk,
    /// An inline command that does not end.
    #[error("too big inline request")]
    EndlessInline,
    /// An inline command with an open quote.
    #[error("unbalanced quotes in request")]
    Quotes,
    /// All arguments of one command together are larger than a client may send.
    #[error("too big query buffer")]
    QueryBuffer,
}

/// A line break would end the error line.
fn printable(byte: u8) -> char {
    match byte {
        b'\r' | b'\n' => ' ',
        other => char::from(other),
    }
}
