//! One round of a connection: the commands of one read, what each partition is asked, and how the answers become replies
//! in the order of the commands.
//!
//! # Order
//!
//! A command on a key goes to the partition of the key, into the batch of this round, in the order of the connection. Two
//! commands on one key are therefore in one batch, in order, and the partition runs a batch in order.
//!
//! A command with several keys is *split*: each key is an op of its own in its partition's batch, at its place in the order.
//! The alternative is a barrier: finish everything before, ask the partitions, go on. For one connection the two give the
//! same answers, since an op sees all that came before it *on its own key* either way, and no command looks at two keys to
//! decide something. For other connections neither makes `MSET` one step: partitions are asked one by one, and someone may
//! look in between. The barrier would cost one more trip across the shards for each such command, so it buys nothing.
//!
//! Commands about all keys (`FLUSHALL`, `DBSIZE`, `KEYS`) are ops in each batch, at their place, by the same argument.

mod assemble;

use bytes::{Bytes, BytesMut};

use self::assemble::{Partial, Step};
use super::batch::{ANSWERS, Batch};
use super::info::Sections;
use super::op::Op;
use super::resp::{Version, Writer};
use super::router::Router;

pub use self::assemble::Assembled;

/// The most ops in one round, so that no client keeps a partition for long.
const OPS: usize = 1_024;

/// One round; reused from round to round.
#[derive(Debug)]
pub struct Plan {
    router: Router,
    /// `None` while it is at its partition.
    batches: Vec<Option<Box<Batch>>>,
    steps: Vec<Step>,
    next_step: usize,
    partial: Partial,
    /// The partition of each op, in order.
    route: Vec<u16>,
    next_route: usize,
    written: BytesMut,
    /// The version in which answers are written now, and the one that the next step is assembled in.
    version: Version,
    assembled_version: Version,
    commands: u64,
    closing: bool,
}

impl Plan {
    /// For a connection whose keys are routed by `router`.
    pub fn new(router: Router) -> Self {
        Self {
            batches: (0..router.partitions()).map(|_| Some(Box::default())).collect(),
            router,
            steps: Vec::new(),
            next_step: 0,
            partial: Partial::default(),
            route: Vec::new(),
            next_route: 0,
            written: BytesMut::new(),
            version: Version::default(),
            assembled_version: Version::default(),
            commands: 0,
            closing: false,
        }
    }

    // === commands in ===

    /// Whether this round should be executed before more is added.
    pub fn is_full(&self) -> bool {
        self.route.len() >= OPS || self.steps.len() >= OPS || self.written.len() >= ANSWERS || self.closing
    }

    /// Whether nothing is planned.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Whether the connection ends after this round.
    pub fn is_closing(&self) -> bool {
        self.closing
    }

    /// How many commands are planned.
    pub fn commands(&self) -> u64 {
        self.commands
    }

    /// A command on one key, whose reply is the partition's.
    pub fn one(&mut self, key: &[u8], op: Op) {
        self.step(Step::One);
        self.ask(self.router.partition_of(key), op);
    }

    /// A command on several keys, whose reply is an array of theirs.
    pub fn array<'a>(&mut self, ops: impl ExactSizeIterator<Item = (&'a [u8], Op)>) {
        self.step(Step::Array(ops.len() as u32));
        self.ask_each(ops);
    }

    /// A command on several keys, whose reply is the sum of theirs.
    pub fn sum<'a>(&mut self, ops: impl ExactSizeIterator<Item = (&'a [u8], Op)>) {
        self.step(Step::Sum(ops.len() as u32));
        self.ask_each(ops);
    }

    /// A command on several keys, whose reply is `+OK`.
    pub fn all_ok<'a>(&mut self, ops: impl ExactSizeIterator<Item = (&'a [u8], Op)>) {
        self.step(Step::AllOk(ops.len() as u32));
        self.ask_each(ops);
    }

    /// A command on all partitions, whose reply is the sum of theirs.
    pub fn sum_everywhere(&mut self, op: Op) {
        self.step(Step::Sum(self.router.partitions() as u32));
        self.ask_all(op);
    }

    /// A command on all partitions, whose reply is `+OK`.
    pub fn all_ok_everywhere(&mut self, op: Op) {
        self.step(Step::AllOk(self.router.partitions() as u32));
        self.ask_all(op);
    }

    /// A command on all partitions, whose reply is all their keys.
    pub fn keys(&mut self, op: Op) {
        self.step(Step::Keys(self.router.partitions() as u32));
        self.ask_all(op);
    }

    /// `INFO`.
    pub fn info(&mut self, sections: Sections) {
        self.step(Step::Info(sections, self.router.partitions() as u32));
        self.ask_all(Op::Stats);
    }

    /// A step over the keys from `cursor` on: position × partitions + partition. Partitions are walked one after the
    /// other, each from position 0 to position 0.
    pub fn scan(&mut self, cursor: u64, op: impl FnOnce(u64) -> Op) {
        let partitions = self.router.partitions() as u64;
        self.step(Step::Scan);
        self.ask((cursor % partitions) as u16, op(cursor / partitions));
    }

    /// An answer on the spot.
    pub fn answer(&mut self, write: impl FnOnce(&mut Writer<'_>)) {
        let before = self.written.len();
        write(&mut Writer::new(&mut self.written, self.version));
        let len = self.written.len() - before;
        self.step(Step::Written(len));
    }

    /// An error on the spot.
    pub fn error(&mut self, text: &[u8]) {
        self.answer(|reply| reply.error(text));
    }

    /// All answers from here on are in `version`.
    pub fn speak(&mut self, version: Version) {
        if version != self.version {
            self.version = version;
            self.steps.push(Step::Speak(version));
        }
    }

    /// The connection ends after what is planned.
    pub fn close(&mut self) {
        self.closing = true;
    }

    fn step(&mut self, step: Step) {
        self.commands += 1;
        self.steps.push(step);
    }

    fn ask(&mut self, partition: u16, op: Op) {
        self.route.push(partition);
        if let Some(batch) = &mut self.batches[usize::from(partition)] {
            batch.push(op);
        }
    }

    fn ask_each<'a>(&mut self, ops: impl Iterator<Item = (&'a [u8], Op)>) {
        for (key, op) in ops {
            self.ask(self.router.partition_of(key), op);
        }
    }

    fn ask_all(&mut self, op: Op) {
        for partition in 0..self.router.partitions() {
            self.ask(partition as u16, op);
        }
    }

    // === batches out and back ===

    /// Says where the arguments of the planned ops are: in `input`, part of an allocation of `capacity` bytes.
    pub fn seal(&mut self, input: &Bytes, capacity: usize) {
        let enough = ANSWERS / self.router.partitions();
        for batch in self.batches.iter_mut().flatten().filter(|batch| batch.has_work()) {
            batch.seal(input.clone(), capacity, enough);
        }
    }

    /// Takes the batch of a partition, if there is something to run in it.
    pub fn send(&mut self, partition: usize) -> Option<Box<Batch>> {
        self.batches[partition].take_if(|batch| batch.has_work())
    }

    /// A batch is back; or, with `None`, it is lost, and everything that was asked in it is answered with an error.
    pub fn returned(&mut self, partition: usize, batch: Option<Box<Batch>>) {
        self.batches[partition] = batch;
    }
}
