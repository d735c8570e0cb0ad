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

use std::hash::BuildHasher;

use bytes::{Bytes, BytesMut};
use foldhash::quality::RandomState;

use super::batch::{ANSWERS, Batch, Op, Reply, Stats};
use super::blob::Blob;
use super::info::Sections;
use super::output::Output;
use super::resp::{Version, Writer};
use super::session::Session;

/// The most ops in one round, so that no client keeps a partition for long.
const OPS: usize = 1_024;

/// Finds the partition of a key.
#[derive(Clone, Debug)]
pub struct Router {
    hash: RandomState,
    partitions: usize,
}

impl Router {
    /// For so many partitions, at least one. All connections of a server need clones of one router.
    pub fn new(partitions: usize) -> Self {
        Self { hash: RandomState::default(), partitions: partitions.max(1) }
    }

    /// How many there are.
    pub fn partitions(&self) -> usize {
        self.partitions
    }

    fn partition_of(&self, key: &[u8]) -> u16 {
        if self.partitions == 1 {
            return 0;
        }
        ((u128::from(self.hash.hash_one(key)) * self.partitions as u128) >> 64) as u16
    }
}

/// What a reply is made of.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// So many bytes that are written already.
    Written(usize),
    /// The reply of a partition, as it is.
    One,
    /// An array of so many replies.
    Array(u32),
    /// The sum of so many numbers.
    Sum(u32),
    /// `+OK` if so many are.
    AllOk(u32),
    /// All keys of so many partitions.
    Keys(u32),
    /// A step of a walk over the keys.
    Scan,
    /// `INFO`, from the figures of so many partitions.
    Info(Sections, u32),
    /// From here on in this version.
    Speak(Version),
}

/// What has been collected for a step that is not complete.
#[derive(Debug, Default)]
struct Partial {
    begun: bool,
    taken: u32,
    sum: i64,
    error: Option<&'static str>,
    keys: Vec<Blob>,
    stats: Vec<Stats>,
}

/// What [`Plan::assemble`] stopped at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Assembled {
    /// All replies are written.
    All,
    /// This partition has answered only part of its batch, and is to be asked again once the client has taken some replies.
    Unfinished(usize),
}

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
            batches: (0..router.partitions).map(|_| Some(Box::default())).collect(),
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
        self.step(Step::Sum(self.router.partitions as u32));
        self.ask_all(op);
    }

    /// A command on all partitions, whose reply is `+OK`.
    pub fn all_ok_everywhere(&mut self, op: Op) {
        self.step(Step::AllOk(self.router.partitions as u32));
        self.ask_all(op);
    }

    /// A command on all partitions, whose reply is all their keys.
    pub fn keys(&mut self, op: Op) {
        self.step(Step::Keys(self.router.partitions as u32));
        self.ask_all(op);
    }

    /// `INFO`.
    pub fn info(&mut self, sections: Sections) {
        self.step(Step::Info(sections, self.router.partitions as u32));
        self.ask_all(Op::Stats);
    }

    /// A step over the keys from `cursor` on: position × partitions + partition. Partitions are walked one after the
    /// other, each from position 0 to position 0.
    pub fn scan(&mut self, cursor: u64, op: impl FnOnce(u64) -> Op) {
        let partitions = self.router.partitions as u64;
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
        for partition in 0..self.router.partitions {
            self.ask(partition as u16, op);
        }
    }

    // === batches out and back ===

    /// Says where the arguments of the planned ops are: in `input`, part of an allocation of `capacity` bytes.
    pub fn seal(&mut self, input: &Bytes, capacity: usize) {
        let enough = ANSWERS / self.router.partitions;
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

    // === replies out ===

    /// Writes replies to `out` as far as there are answers. Called again after [`Assembled::Unfinished`].
    pub fn assemble(&mut self, session: &Session, out: &mut Output) -> Assembled {
        while let Some(step) = self.steps.get(self.next_step) {
            match *step {
                Step::Written(len) => out.put(&self.written.split_to(len)),
                Step::Speak(version) => self.assembled_version = version,
                Step::One => match self.take() {
                    Ok(reply) => out.reply(reply, self.assembled_version),
                    Err(partition) => return Assembled::Unfinished(partition),
                },
                step => match self.gather(step, out) {
                    Ok(()) => self.finish(step, session, out),
                    Err(partition) => return Assembled::Unfinished(partition),
                },
            }
            self.next_step += 1;
        }
        self.reset();
        Assembled::All
    }

    /// Collects the answers for a step that needs several, across calls. `Err` is a partition that has to be asked again.
    fn gather(&mut self, step: Step, out: &mut Output) -> Result<(), usize> {
        let wanted = match step {
            Step::Array(count) | Step::Sum(count) | Step::AllOk(count) | Step::Keys(count) | Step::Info(_, count) => count,
            _ => 1,
        };
        if !std::mem::replace(&mut self.partial.begun, true)
            && let Step::Array(len) = step
        {
            Writer::new(out.buffer(), self.assembled_version).array(len as usize);
        }
        while self.partial.taken < wanted {
            let partition = self.route[self.next_route];
            let reply = self.take()?;
            self.partial.taken += 1;
            match reply {
                reply if matches!(step, Step::Array(_)) => out.reply(reply, self.assembled_version),
                Reply::Integer(number) => self.partial.sum += number,
                Reply::Keys(keys) => self.partial.keys.extend(keys),
                Reply::Scanned(position, keys) => {
                    self.partial.sum = self.cursor_after(partition, position) as i64;
                    self.partial.keys = keys;
                }
                Reply::Stats(stats) => self.partial.stats.push(*stats),
                Reply::Error(text) => self.partial.error = Some(text),
                _ => {}
            }
        }
        Ok(())
    }

    fn finish(&mut self, step: Step, session: &Session, out: &mut Output) {
        let partial = std::mem::take(&mut self.partial);
        let mut reply = Writer::new(out.buffer(), self.assembled_version);
        match (step, partial.error) {
            (Step::Array(_), _) => {}
            (_, Some(text)) => reply.error(text.as_bytes()),
            (Step::Sum(_), _) => reply.integer(partial.sum),
            (Step::Info(sections, _), _) => reply.text(&session.server.describe(sections, &partial.stats)),
            (Step::Keys(_), _) => out.keys(&partial.keys, self.assembled_version),
            (Step::Scan, _) => {
                reply.array(2);
                // As it was made: an unsigned number that went through a signed one.
                reply.bulk(itoa::Buffer::new().format(partial.sum as u64).as_bytes());
                out.keys(&partial.keys, self.assembled_version);
            }
            _ => reply.ok(),
        }
    }

    fn cursor_after(&self, partition: u16, position: u64) -> u64 {
        let partitions = self.router.partitions as u64;
        match (position, u64::from(partition) + 1) {
            (0, next) if next == partitions => 0,
            (0, next) => next,
            (position, next) => position * partitions + next - 1,
        }
    }

    /// The next answer in the order of the commands; `Err` if its partition has to be asked again.
    fn take(&mut self) -> Result<Reply, usize> {
        let partition = usize::from(self.route[self.next_route]);
        let reply = match &mut self.batches[partition] {
            None => Reply::Error("ERR the partition of this key does not answer"),
            Some(batch) => match batch.take() {
                Some(reply) => reply,
                None if batch.has_work() => return Err(partition),
                None => Reply::Error("ERR the partition of this key gave no answer"),
            },
        };
        self.next_route += 1;
        Ok(reply)
    }

    fn reset(&mut self) {
        self.steps.clear();
        self.route.clear();
        (self.next_step, self.next_route, self.commands) = (0, 0, 0);
        self.partial = Partial::default();
        self.written.clear();
        for batch in &mut self.batches {
            match batch {
                Some(batch) => batch.clear(),
                lost => *lost = Some(Box::default()),
            }
        }
    }
}
