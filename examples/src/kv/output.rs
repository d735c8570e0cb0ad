//! Replies on their way to the socket: small ones in one buffer, large values as they are in the store, without a copy.

use std::collections::VecDeque;
use std::io::IoSlice;

use bytes::{Buf, Bytes, BytesMut};

use super::blob::Blob;
use super::reply::Reply;
use super::resp::{Version, Writer};

/// From this length on a value goes out as it is; below it, copying is cheaper than one more slice to write.
const BY_REFERENCE: usize = 8 * 1024;
/// How many slices one write takes.
const SLICES: usize = 64;
/// What the buffer may keep for the next round.
const KEEP: usize = 64 * 1024;

/// What the client has not taken yet.
#[derive(Debug, Default)]
pub struct Output {
    /// In front of `tail`, in order.
    chunks: VecDeque<Bytes>,
    chunk_bytes: usize,
    tail: BytesMut,
}

impl Output {
    /// How many bytes there are to write.
    pub fn len(&self) -> usize {
        self.chunk_bytes + self.tail.len()
    }

    /// Whether everything has been written.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The buffer that small replies are appended to.
    pub fn buffer(&mut self) -> &mut BytesMut {
        &mut self.tail
    }

    /// Appends what is a reply already.
    pub fn put(&mut self, bytes: &[u8]) {
        self.tail.extend_from_slice(bytes);
    }

    /// Appends the reply of a partition.
    #[inline]
    pub fn reply(&mut self, reply: Reply, version: Version) {
        let mut writer = Writer::new(&mut self.tail, version);
        match reply {
            Reply::Ok => writer.ok(),
            Reply::Nil => writer.null(),
            Reply::Integer(number) => writer.integer(number),
            Reply::Simple(word) => writer.simple(word),
            Reply::Error(text) => writer.error(text.as_bytes()),
            Reply::Bulk(value) => match value.as_shared() {
                Some(shared) if shared.len() >= BY_REFERENCE => self.large(shared.clone(), version),
                _ => writer.bulk(value.as_slice()),
            },
            Reply::Keys(keys) | Reply::Scanned(_, keys) => self.keys(&keys, version),
            Reply::Stats(_) => writer.null(),
        }
    }

    /// Appends an array of keys.
    pub fn keys(&mut self, keys: &[Blob], version: Version) {
        let mut writer = Writer::new(&mut self.tail, version);
        writer.array(keys.len());
        keys.iter().for_each(|key| writer.bulk(key.as_slice()));
    }

    /// Fills `slices` with what is to be written next, and answers how many it took.
    pub fn slices<'a>(&'a self, slices: &mut [IoSlice<'a>; SLICES]) -> usize {
        let parts = self.chunks.iter().map(|chunk| &chunk[..]).chain((!self.tail.is_empty()).then_some(&self.tail[..]));
        let mut count = 0;
        for (slice, part) in slices.iter_mut().zip(parts) {
            *slice = IoSlice::new(part);
            count += 1;
        }
        count
    }

    /// The bytes, if they are in one piece.
    pub fn single(&self) -> Option<&[u8]> {
        self.chunks.is_empty().then_some(&self.tail[..])
    }

    /// So many bytes have been written.
    pub fn advance(&mut self, mut written: usize) {
        while let Some(chunk) = self.chunks.front_mut()
            && written > 0
        {
            let part = written.min(chunk.len());
            chunk.advance(part);
            self.chunk_bytes -= part;
            written -= part;
            if chunk.is_empty() {
                self.chunks.pop_front();
            }
        }
        if written < self.tail.len() {
            self.tail.advance(written);
        } else if self.tail.capacity() > KEEP {
            self.tail = BytesMut::new();
        } else {
            self.tail.clear();
        }
    }

    fn large(&mut self, value: Bytes, version: Version) {
        Writer::new(&mut self.tail, version).bulk_header(value.len());
        for chunk in [self.tail.split().freeze(), value] {
            self.chunk_bytes += chunk.len();
            self.chunks.push_back(chunk);
        }
        self.tail.extend_from_slice(b"\r\n");
    }
}

/// Slices to be filled by [`Output::slices`].
pub fn empty_slices<'a>() -> [IoSlice<'a>; SLICES] {
    [IoSlice::new(&[]); SLICES]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drain(out: &mut Output, step: usize) -> Vec<u8> {
        let mut all = Vec::new();
        while !out.is_empty() {
            let mut slices = empty_slices();
            let count = out.slices(&mut slices);
            let joined: Vec<u8> = slices[..count].iter().flat_map(|slice| slice.to_vec()).collect();
            let part = step.min(joined.len());
            all.extend_from_slice(&joined[..part]);
            out.advance(part);
        }
        all
    }

    #[test]
    fn in_order_and_without_a_copy_however_the_writes_cut_it() {
        let value = Bytes::from(vec![b'v'; BY_REFERENCE]);
        for step in [97, BY_REFERENCE, usize::MAX] {
            let mut out = Output::default();
            let mut expected = Vec::new();
            for _ in 0..3 {
                out.reply(Reply::Integer(1), Version::Resp2);
                out.reply(Reply::Bulk(Blob::adopt(value.clone())), Version::Resp2);
                out.reply(Reply::Nil, Version::Resp3);
                expected.extend_from_slice(format!(":1\r\n${BY_REFERENCE}\r\n").as_bytes());
                expected.extend_from_slice(&value);
                expected.extend_from_slice(b"\r\n_\r\n");
            }
            assert_eq!(out.len(), expected.len());
            assert!(out.chunks.iter().any(|chunk| chunk.as_ptr() == value.as_ptr()), "not copied");
            assert!(drain(&mut out, step) == expected);
        }
    }

    #[test]
    fn a_large_buffer_is_given_back() {
        let mut out = Output::default();
        out.put(&vec![0; KEEP * 2]);
        out.advance(KEEP * 2);
        assert!(out.is_empty() && out.buffer().capacity() == 0);
    }
}
