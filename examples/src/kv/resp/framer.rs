//! Finds the end of the request at the front of a buffer, and refuses bad ones early.
//!
//! The decoder of `redis-protocol` works on a buffer from its start, recursively. Handed the bytes as they arrive it would
//! decode a value of 1 MiB that comes in 64 pieces 64 times, wait for ever for `$999999999999`, and follow
//! `*1\r\n*1\r\n*1\r\n..` down until the stack ends. So this walks over the length prefixes first, each one once however the
//! reads cut them: what the decoder gets is complete, flat and within the limits.

use memchr::memchr;

use super::{ProtocolError, parse_integer};

/// Redis' `proto-max-bulk-len`: the longest argument, 512 MiB.
const MAX_BULK: i64 = 512 * 1024 * 1024;
/// The most arguments of one command.
const MAX_MULTIBULK: i64 = 1024 * 1024;
/// The longest inline command, and the longest line that should hold a length.
const MAX_LINE: usize = 64 * 1024;
/// Redis' `client-query-buffer-limit`: all arguments of one command together, 1 GiB.
const MAX_FRAME: usize = 1024 * 1024 * 1024;

/// What is at the front of the buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Found {
    /// A complete array of bulk strings of this many bytes.
    Frame(usize),
    /// An empty request of this many bytes, which asks for no answer.
    Nothing(usize),
    /// An inline command of this many bytes, its line break included.
    Line(usize),
    /// Not all of it has arrived: it is at least this many bytes long.
    Partial(usize),
}

/// Remembers how far into an incomplete request it has looked.
#[derive(Default, Debug)]
pub struct Framer {
    /// Where the next length prefix begins, from the start of the request.
    at: usize,
    /// How many arguments follow, once the first prefix has been read.
    args_left: Option<u32>,
}

impl Framer {
    /// Looks at a request that begins at the start of `buf`. After [`Found::Partial`] the next call gets the same bytes
    /// and more; after anything else the next call is about the next request.
    ///
    /// # Errors
    ///
    /// What the client sent is no request, or one above a limit. There is no way to find the next one.
    pub fn find(&mut self, buf: &[u8]) -> Result<Found, ProtocolError> {
        let Some(&first) = buf.first() else { return Ok(Found::Partial(1)) };
        let found = if first == b'*' { self.find_frame(buf) } else { self.find_line(buf) };
        if !matches!(found, Ok(Found::Partial(_))) {
            *self = Self::default();
        }
        found
    }

    fn find_line(&mut self, buf: &[u8]) -> Result<Found, ProtocolError> {
        match memchr(b'\n', &buf[self.at..]) {
            Some(end) => Ok(Found::Line(self.at + end + 1)),
            None if buf.len() > MAX_LINE => Err(ProtocolError::EndlessInline),
            None => {
                self.at = buf.len();
                Ok(Found::Partial(buf.len() + 1))
            }
        }
    }

    fn find_frame(&mut self, buf: &[u8]) -> Result<Found, ProtocolError> {
        let mut args_left = match self.args_left {
            Some(args_left) => args_left,
            None => match prefix(buf, 1, ProtocolError::MultibulkLength, ProtocolError::EndlessMultibulk)? {
                Prefix::Partial => return Ok(Found::Partial(buf.len() + 1)),
                Prefix::Whole { value: Some(count), end } if count <= MAX_MULTIBULK => {
                    if count <= 0 {
                        return Ok(Found::Nothing(end));
                    }
                    self.at = end;
                    count as u32
                }
                Prefix::Whole { .. } => return Err(ProtocolError::MultibulkLength),
            },
        };
        while args_left > 0 {
            self.args_left = Some(args_left);
            let Some(&kind) = buf.get(self.at) else { return Ok(Found::Partial(self.at + 1)) };
            if kind == b'\r' {
                return Err(ProtocolError::NotBulk(kind));
            }
            match prefix(buf, self.at + 1, ProtocolError::BulkLength, ProtocolError::EndlessBulk)? {
                Prefix::Partial => return Ok(Found::Partial(buf.len() + 1)),
                Prefix::Whole { .. } if kind != b'$' => return Err(ProtocolError::NotBulk(kind)),
                Prefix::Whole { value: Some(len @ 0..=MAX_BULK), end } => self.at = end + len as usize + 2,
                Prefix::Whole { .. } => return Err(ProtocolError::BulkLength),
            }
            if self.at > MAX_FRAME {
                return Err(ProtocolError::QueryBuffer);
            }
            args_left -= 1;
        }
        self.args_left = Some(0);
        if self.at <= buf.len() { Ok(Found::Frame(self.at)) } else { Ok(Found::Partial(self.at)) }
    }
}

enum Prefix {
    /// `value` is `None` if the line is no number; `end` is behind its line break.
    Whole {
        value: Option<i64>,
        end: usize,
    },
    Partial,
}

/// Reads a number and `\r\n` at `start`.
fn prefix(buf: &[u8], start: usize, invalid: ProtocolError, endless: ProtocolError) -> Result<Prefix, ProtocolError> {
    let rest = &buf[start.min(buf.len())..];
    // Nearly always one or two digits: shorter than setting up a search.
    let line = match rest.iter().take(4).position(|byte| *byte == b'\r').or_else(|| memchr(b'\r', rest)) {
        Some(line) => line,
        None if rest.len() > MAX_LINE => return Err(endless),
        None => return Ok(Prefix::Partial),
    };
    match rest.get(line + 1) {
        None => Ok(Prefix::Partial),
        Some(b'\n') => Ok(Prefix::Whole { value: parse_integer(&rest[..line]), end: start + line + 2 }),
        Some(_) => Err(invalid),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds `stream` in pieces of `step` bytes, and answers everything that was found.
    fn found(stream: &[u8], step: usize) -> Result<Vec<Found>, ProtocolError> {
        let (mut framer, mut all, mut start, mut end) = (Framer::default(), Vec::new(), 0, 0);
        loop {
            match framer.find(&stream[start..end])? {
                Found::Partial(at_least) => {
                    assert!(at_least > end - start, "asks for more than it has");
                    if end == stream.len() {
                        return Ok(all);
                    }
                    end = stream.len().min(end + step);
                }
                whole @ (Found::Frame(len) | Found::Nothing(len) | Found::Line(len)) => {
                    all.push(whole);
                    start += len;
                }
            }
        }
    }

    #[test]
    fn however_the_reads_cut_it() {
        let stream = b"*1\r\n$4\r\nPING\r\nPING\r\n*0\r\n*-1\r\n*2\r\n$3\r\nGET\r\n$12\r\nkey:\r\n*1\r\n$1\r\n*3\r\n$3";
        let expected = [Found::Frame(14), Found::Line(6), Found::Nothing(4), Found::Nothing(5), Found::Frame(32)];
        for step in 1..=stream.len() {
            assert_eq!(found(stream, step).unwrap(), expected, "in pieces of {step}");
        }
    }

    #[test]
    fn refused_as_redis_refuses() {
        let long = [&b"*"[..], &b"1".repeat(MAX_LINE + 10)].concat();
        let long_bulk = [&b"*1\r\n$"[..], &b"1".repeat(MAX_LINE + 10)].concat();
        let inline = b"a".repeat(MAX_LINE + 1);
        let half = format!("*3\r\n$1\r\na\r\n${MAX_BULK}\r\n");
        let cases: [(&[u8], ProtocolError); 14] = [
            (b"*1048577\r\n", ProtocolError::MultibulkLength),
            (b"*99999999999999999999\r\n", ProtocolError::MultibulkLength),
            (b"*abc\r\n", ProtocolError::MultibulkLength),
            (b"*1\rx", ProtocolError::MultibulkLength),
            (b"*1\r\n$-1\r\n", ProtocolError::BulkLength),
            (b"*1\r\n$536870913\r\n", ProtocolError::BulkLength),
            (b"*1\r\n$03\r\nfoo\r\n", ProtocolError::BulkLength),
            (b"*1\r\n$4\nPING\r\n", ProtocolError::BulkLength),
            (b"*1\r\n*1\r\n*1\r\n", ProtocolError::NotBulk(b'*')),
            (b"*1\r\n+PING\r\n", ProtocolError::NotBulk(b'+')),
            (b"*1\r\n\r\n", ProtocolError::NotBulk(b'\r')),
            (&long, ProtocolError::EndlessMultibulk),
            (&long_bulk, ProtocolError::EndlessBulk),
            (&inline, ProtocolError::EndlessInline),
        ];
        for (stream, error) in cases {
            assert_eq!(found(stream, usize::MAX / 2), Err(error), "{}", stream[..stream.len().min(30)].escape_ascii());
        }
        assert_eq!(found(half.as_bytes(), 7), Ok(vec![]), "the largest value is waited for");
        assert_eq!(ProtocolError::NotBulk(b'\r').to_string(), "expected '$', got ' '");
    }
}
