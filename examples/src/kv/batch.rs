//! What one read of a connection asks of one partition, and the answers: a box that travels there and back.
//!
//! The connection keeps the box, so a round costs no allocation after the first, and one message each way however many
//! commands it holds. The commands refer to the buffer that they arrived in by [`Span`]s: one reference count a batch.

use bytes::Bytes;

use super::blob::Blob;
use super::clock;
use super::exec;
use super::keyspace::Keyspace;
use super::op::Op;
use super::reply::Reply;
use super::resp::Span;

/// How many bytes of answers one connection has at most on their way, more or less: its partitions send their batches back
/// unfinished when they have collected their part of it, and the connection asks for the rest once its client has taken
/// these. So a client that does not read holds no more memory than this.
pub const ANSWERS: usize = 256 * 1024;

/// Commands for one partition, in the order of the connection, and their answers.
#[derive(Debug, Default)]
pub struct Batch {
    input: Bytes,
    /// How large the allocation behind `input` is.
    input_capacity: usize,
    /// After how many bytes of answers to stop.
    enough: usize,
    now: u64,
    ops: Vec<Op>,
    /// How many of `ops` have been run.
    done: usize,
    replies: Vec<Reply>,
    /// How many of `replies` have been taken.
    taken: usize,
}

impl Batch {
    /// Adds a command.
    pub fn push(&mut self, op: Op) {
        self.ops.push(op);
    }

    /// Says where the arguments of the commands are: in `input`, which is part of an allocation of `capacity` bytes; and
    /// how many bytes of answers are enough for once.
    pub fn seal(&mut self, input: Bytes, capacity: usize, enough: usize) {
        self.input = input;
        self.input_capacity = capacity;
        self.enough = enough;
        self.now = clock::now();
    }

    /// Whether there is something left to run.
    pub fn has_work(&self) -> bool {
        self.done < self.ops.len()
    }

    /// Runs commands against `keys` until all are done or the answers are enough. At least one is run.
    pub fn run(&mut self, keys: &mut impl Keyspace) {
        self.replies.clear();
        self.taken = 0;
        let (source, now) = (Source { input: &self.input, capacity: self.input_capacity }, self.now);
        let mut collected = 0;
        for op in &self.ops[self.done..] {
            let reply = exec::run(keys, source, now, op);
            collected += reply.size();
            self.replies.push(reply);
            self.done += 1;
            if collected > self.enough {
                break;
            }
        }
    }

    /// The next answer, in the order of the commands.
    pub fn take(&mut self) -> Option<Reply> {
        let reply = self.replies.get_mut(self.taken)?;
        self.taken += 1;
        Some(std::mem::replace(reply, Reply::Nil))
    }

    /// Lets go of everything but the memory of the box itself.
    pub fn clear(&mut self) {
        self.input = Bytes::new();
        self.ops.clear();
        self.done = 0;
        self.replies.clear();
        self.taken = 0;
    }
}

/// Where the arguments of a command are.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    input: &'a Bytes,
    capacity: usize,
}

/// From here on a value may stay in the buffer it came in.
const WORTH_SHARING: usize = 4 * 1024;

impl<'a> Source<'a> {
    /// The bytes of an argument.
    pub fn bytes(&self, span: Span) -> &'a [u8] {
        span.of(self.input)
    }

    /// An argument to keep. It is copied, unless it is long and fills most of the buffer that it arrived in: a slice
    /// keeps the whole buffer alive, so 5 bytes must not hold 64 KiB.
    pub fn keep(&self, span: Span) -> Blob {
        let bytes = self.bytes(span);
        if bytes.len() >= WORTH_SHARING && bytes.len() >= self.capacity / 2 {
            Blob::adopt(self.input.slice(span.range()))
        } else {
            Blob::copy_from(bytes)
        }
    }
}
