//! Replies. What differs between RESP2 and RESP3 is decided here and nowhere else.

use bytes::{BufMut, BytesMut};

/// The protocol that a client chose with `HELLO`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Version {
    /// What a client speaks that never said `HELLO`.
    #[default]
    Resp2,
    /// With maps, sets and a null of its own.
    Resp3,
}

impl Version {
    /// The number of the version.
    pub fn number(self) -> i64 {
        match self {
            Self::Resp2 => 2,
            Self::Resp3 => 3,
        }
    }
}

/// Appends replies to a buffer.
#[derive(Debug)]
pub struct Writer<'a> {
    out: &'a mut BytesMut,
    version: Version,
}

impl<'a> Writer<'a> {
    /// Writes to `out` in `version`.
    pub fn new(out: &'a mut BytesMut, version: Version) -> Self {
        Self { out, version }
    }

    /// The version it writes.
    pub fn version(&self) -> Version {
        self.version
    }

    /// `+OK`.
    pub fn ok(&mut self) {
        self.out.put_slice(b"+OK\r\n");
    }

    /// A simple string; the caller answers for there being no line break in it.
    pub fn simple(&mut self, text: &str) {
        self.line(b'+', text.as_bytes());
    }

    /// An error, with its code in front; line breaks become blanks.
    pub fn error(&mut self, text: &[u8]) {
        self.out.put_u8(b'-');
        self.out.extend(text.iter().map(|byte| if matches!(byte, b'\r' | b'\n') { b' ' } else { *byte }));
        self.out.put_slice(b"\r\n");
    }

    /// An integer.
    pub fn integer(&mut self, value: i64) {
        let mut digits = itoa::Buffer::new();
        self.line(b':', digits.format(value).as_bytes());
    }

    /// A bulk string.
    pub fn bulk(&mut self, content: &[u8]) {
        self.bulk_header(content.len());
        self.out.put_slice(content);
        self.out.put_slice(b"\r\n");
    }

    /// What stands in front of a bulk string whose content goes another way; `\r\n` must follow that.
    pub fn bulk_header(&mut self, len: usize) {
        self.length(b'$', len);
    }

    /// Nothing in the place of a value.
    pub fn null(&mut self) {
        self.out.put_slice(match self.version {
            Version::Resp2 => b"$-1\r\n",
            Version::Resp3 => b"_\r\n",
        });
    }

    /// Text for people: verbatim in RESP3.
    pub fn text(&mut self, text: &str) {
        match self.version {
            Version::Resp2 => self.bulk(text.as_bytes()),
            Version::Resp3 => {
                self.length(b'=', text.len() + 4);
                self.out.put_slice(b"txt:");
                self.out.put_slice(text.as_bytes());
                self.out.put_slice(b"\r\n");
            }
        }
    }

    /// The start of an array of `len` replies.
    pub fn array(&mut self, len: usize) {
        self.length(b'*', len);
    }

    /// The start of a set of `len` replies: an array in RESP2.
    pub fn set(&mut self, len: usize) {
        match self.version {
            Version::Resp2 => self.length(b'*', len),
            Version::Resp3 => self.length(b'~', len),
        }
    }

    /// The start of a map of `len` pairs: an array of twice as many in RESP2.
    pub fn map(&mut self, len: usize) {
        match self.version {
            Version::Resp2 => self.length(b'*', len * 2),
            Version::Resp3 => self.length(b'%', len),
        }
    }

    fn length(&mut self, kind: u8, len: usize) {
        let mut digits = itoa::Buffer::new();
        self.line(kind, digits.format(len).as_bytes());
    }

    fn line(&mut self, kind: u8, content: &[u8]) {
        self.out.reserve(content.len() + 3);
        self.out.put_u8(kind);
        self.out.put_slice(content);
        self.out.put_slice(b"\r\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_in_each_version() {
        for (version, expected) in [
            (Version::Resp2, "+OK\r\n+x\r\n-ERR a  b\r\n:-5\r\n$2\r\nhi\r\n$-1\r\n$1\r\nt\r\n*1\r\n*2\r\n*6\r\n"),
            (Version::Resp3, "+OK\r\n+x\r\n-ERR a  b\r\n:-5\r\n$2\r\nhi\r\n_\r\n=5\r\ntxt:t\r\n*1\r\n~2\r\n%3\r\n"),
        ] {
            let mut out = BytesMut::new();
            let mut writer = Writer::new(&mut out, version);
            writer.ok();
            writer.simple("x");
            writer.error(b"ERR a\r\nb");
            writer.integer(-5);
            writer.bulk(b"hi");
            writer.null();
            writer.text("t");
            writer.array(1);
            writer.set(2);
            writer.map(3);
            assert_eq!(out, expected);
        }
    }
}
