//! The arguments of one request, decoded by `redis-protocol` as ranges of the buffer that it arrived in.

use redis_protocol::resp2::decode::decode_range;
use redis_protocol::resp2::types::RangeFrame;

/// A stretch of the buffer that a batch of requests arrived in.
///
/// Half the size of a range, and without the reference count of a slice of [`Bytes`](bytes::Bytes), which two cores would
/// fight for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    start: u32,
    len: u32,
}

impl Span {
    /// The bytes that it stands for.
    pub fn of(self, input: &[u8]) -> &[u8] {
        &input[self.range()]
    }

    /// The same as a range.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.start as usize + self.len as usize
    }
}

/// The arguments of one request; the first is the name of the command.
#[derive(Debug)]
pub struct Args<'a> {
    input: &'a [u8],
    offset: usize,
    ranges: Vec<RangeFrame>,
}

impl<'a> Args<'a> {
    /// Decodes the frame that begins at `offset` of `input`. `None` if it is no array of bulk strings, which a
    /// [`Framer`](super::Framer) does not let through.
    pub fn decode(input: &'a [u8], offset: usize) -> Option<Self> {
        match decode_range(&input[offset..]) {
            Ok(Some((RangeFrame::Array(ranges), _))) => Some(Self { input, offset, ranges }),
            _ => None,
        }
    }

    /// How many there are, the name included.
    pub fn len(&self) -> usize {
        self.ranges.len()
    }

    /// Whether there is not even a name.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The argument at `index`; empty if there is none.
    pub fn get(&self, index: usize) -> &'a [u8] {
        self.span(index).of(self.input)
    }

    /// Where the argument at `index` is in the input.
    pub fn span(&self, index: usize) -> Span {
        match self.ranges.get(index) {
            // A frame is at most 1 GiB, and a batch is one frame or much smaller: it fits.
            Some(RangeFrame::BulkString((start, end))) => {
                Span { start: (self.offset + start) as u32, len: (end - start) as u32 }
            }
            _ => Span { start: 0, len: 0 },
        }
    }

    /// The arguments from `index` on.
    pub fn from(&self, index: usize) -> impl Iterator<Item = &'a [u8]> + '_ {
        (index..self.len()).map(|index| self.get(index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_stretches_of_the_input() {
        let input = b"*1\r\n$4\r\nPING\r\n*3\r\n$3\r\nSET\r\n$0\r\n\r\n$3\r\na\r\n\r\n";
        let args = Args::decode(input, 14).unwrap();
        assert_eq!(args.from(0).collect::<Vec<_>>(), [&b"SET"[..], b"", b"a\r\n"]);
        assert_eq!(args.span(2).of(input), b"a\r\n");
        assert_eq!(args.get(7), b"");
    }

    #[test]
    fn anything_else_is_refused() {
        for input in [&b"+PING\r\n"[..], b"*-1\r\n", b"*1\r\n", b"*1\r\n!\r\n", b""] {
            assert!(Args::decode(input, 0).is_none());
        }
    }
}
