//! The bytes that a client has sent and that have not been run yet.
//!
//! The buffer grows with what arrives, not with what a length prefix claims, and up to what [`Framer`] lets through.

use std::io::{self, Read};
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Buf, Bytes, BytesMut};
use socket2::SockRef;
use tokio::net::TcpStream;
use tokio_util::io::poll_read_buf;

use super::resp::{Found, Framer, ProtocolError};

/// The buffer of a connection that says little.
const SMALL: usize = 4 * 1024;
/// That of one whose reads fill the small one: also how much one read takes.
const LARGE: usize = 64 * 1024;
/// An announced length is believed up to this; room beyond it is made as bytes arrive.
const BELIEVED: usize = 1024 * 1024;

/// The input of one connection.
#[derive(Debug)]
pub struct Input {
    buf: BytesMut,
    /// How large the allocation behind `buf` is, all of it.
    capacity: usize,
    framer: Framer,
    /// How long the request at the front is at least.
    needed: usize,
    /// How much room a read gets.
    room: usize,
}

impl Input {
    /// Nothing yet, and no memory for it.
    pub fn new() -> Self {
        Self { buf: BytesMut::new(), capacity: 0, framer: Framer::default(), needed: 1, room: SMALL }
    }

    /// Whether there is not even part of a request.
    pub fn is_empty(&self) -> bool {
        self.buf.is_empty()
    }

    /// All bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.buf
    }

    /// Looks at the request that begins at `at`.
    ///
    /// # Errors
    ///
    /// It is none.
    pub fn find(&mut self, at: usize) -> Result<Found, ProtocolError> {
        let found = self.framer.find(&self.buf[at..])?;
        self.needed = if let Found::Partial(at_least) = found { at_least } else { 1 };
        Ok(found)
    }

    /// Takes the requests up to `at`. Answers them and the size of the allocation that they are in.
    pub fn take(&mut self, at: usize) -> (Bytes, usize) {
        if at == 0 {
            return (Bytes::new(), 0);
        }
        (self.buf.split_to(at).freeze(), self.capacity)
    }

    /// Drops the first `count` bytes.
    pub fn skip(&mut self, count: usize) {
        self.buf.advance(count);
    }

    /// Reads once. 0 is the end of the stream.
    pub fn poll_read(&mut self, stream: &mut TcpStream, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        self.make_room();
        let read = poll_read_buf(Pin::new(stream), cx, &mut self.buf);
        if let Poll::Ready(Ok(count)) = &read {
            self.adapt(*count);
        }
        read
    }

    /// Reads once what the system has received already, whether Tokio has heard of it or not. 0 is the end of the stream.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::WouldBlock`] if there is nothing; and what reading a socket returns.
    pub fn read_received(&mut self, stream: &TcpStream) -> io::Result<usize> {
        let mut received = [0; 16 * 1024];
        let count = (&*SockRef::from(stream)).read(&mut received)?;
        self.buf.extend_from_slice(&received[..count]);
        self.capacity = self.capacity.max(self.buf.capacity());
        Ok(count)
    }

    fn make_room(&mut self) {
        let len = self.buf.len();
        let room = self.buf.capacity() - len;
        let is_long = self.needed > LARGE;
        if room >= SMALL / 4 || is_long && room > 0 && self.buf.capacity() >= self.needed {
            return;
        }
        let wanted = if is_long {
            // All of it if that is not too much to believe, so that a value that stays where it is wastes nothing; but
            // each time half as much again, so that many arguments that arrive one by one are not moved for each.
            self.needed.min(BELIEVED.max(2 * len)).max(len + len / 2)
        } else {
            (len + self.room).max(self.needed)
        };
        if !self.buf.try_reclaim(wanted - len) {
            let mut larger = BytesMut::with_capacity(wanted);
            larger.extend_from_slice(&self.buf);
            self.buf = larger;
            self.capacity = wanted;
        }
    }

    fn adapt(&mut self, count: usize) {
        if count >= self.room / 2 {
            self.room = LARGE;
        }
    }
}

impl Default for Input {
    fn default() -> Self {
        Self::new()
    }
}
