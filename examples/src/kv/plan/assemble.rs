//! From the answers of the partitions to replies, in the order of the commands.

use super::Plan;
use crate::kv::blob::Blob;
use crate::kv::info::Sections;
use crate::kv::output::Output;
use crate::kv::reply::{Reply, Stats};
use crate::kv::resp::{Version, Writer};
use crate::kv::session::Session;

/// What a reply is made of.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
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
pub(super) struct Partial {
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

impl Plan {
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
            Step::Array(count) | Step::Sum(count) | Step::AllOk(count) | Step::Keys(count) | Step::Info(_, count) => {
                count
            }
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
        let partitions = self.router.partitions() as u64;
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use bytes::{Bytes, BytesMut};

    use super::*;
    use crate::kv::batch::ANSWERS;
    use crate::kv::command::{self, Front};
    use crate::kv::info::ServerInfo;
    use crate::kv::keyspace::Keyspace;
    use crate::kv::resp::{Args, rewrite_inline};
    use crate::kv::router::Router;
    use crate::kv::store::Store;

    /// A connection without a socket, in front of two partitions.
    struct Bench {
        session: Session,
        plan: Plan,
        stores: [Store; 2],
        out: Output,
    }

    impl Bench {
        fn new() -> Self {
            let address = "127.0.0.1:1".parse().unwrap();
            let server = Arc::new(ServerInfo::new(address, 2, Duration::from_secs(1)));
            Self {
                session: Session::new(server, 0, address, address),
                plan: Plan::new(Router::new(2)),
                stores: Default::default(),
                out: Output::default(),
            }
        }

        fn plan(&mut self, lines: &str) {
            let mut input = BytesMut::new();
            for line in lines.lines() {
                let at = input.len();
                rewrite_inline(line.as_bytes(), &mut input).unwrap();
                let args = Args::decode(&input, at).unwrap();
                command::plan(&mut Front { session: &mut self.session, plan: &mut self.plan }, &args);
            }
            let capacity = input.capacity();
            self.plan.seal(&input.freeze(), capacity);
        }

        /// Runs what a partition is asked, or loses it.
        fn run(&mut self, partition: usize, is_lost: bool) {
            let Some(mut batch) = self.plan.send(partition) else { return };
            batch.run(&mut self.stores[partition]);
            self.plan.returned(partition, (!is_lost).then_some(batch));
        }

        fn assemble(&mut self) -> Assembled {
            self.plan.assemble(&self.session, &mut self.out)
        }

        /// What has been written, in lines.
        fn written(&mut self) -> String {
            let text = Bytes::copy_from_slice(self.out.single().unwrap());
            self.out.advance(text.len());
            String::from_utf8(text.to_vec()).unwrap().replace("\r\n", " ")
        }
    }

    #[test]
    fn replies_are_in_the_order_of_the_commands_whoever_answers_first() {
        let mut bench = Bench::new();
        bench.plan(
            "SET a 1\nPING\nMSET b 2 c 3 d 4 e 5\nMGET e d none c b a\nHELLO 3\nGET none\nDEL a b c\nDBSIZE\nnosuch",
        );
        bench.run(1, false);
        bench.run(0, false);
        assert_eq!(bench.assemble(), Assembled::All);
        let written = bench.written();
        assert!(written.starts_with("+OK +PONG +OK *6 $1 5 $1 4 $-1 $1 3 $1 2 $1 1 %7 "), "{written}");
        assert!(written.contains("*0 _ :3 :2 -ERR unknown command 'nosuch'"), "{written}");
        assert!(bench.plan.is_empty());
    }

    #[test]
    fn a_partition_that_is_gone_fails_its_own_keys_only() {
        let mut bench = Bench::new();
        bench.plan("MSET a 1 b 2 c 3 d 4 e 5 f 6 g 7 h 8");
        bench.run(0, false);
        bench.run(1, false);
        assert_eq!((bench.assemble(), bench.written()), (Assembled::All, "+OK ".to_owned()));
        bench.plan("MGET a b c d e f g h\nDBSIZE\nPING");
        bench.run(0, false);
        bench.run(1, true);
        assert_eq!(bench.assemble(), Assembled::All);
        let written = bench.written();
        let (found, lost) = (written.matches("$1 ").count(), written.matches("-ERR ").count());
        assert_eq!((found, lost), (bench.stores[0].len(), bench.stores[1].len() + 1), "{written}");
        assert!(written.ends_with("+PONG "));
        bench.plan("MGET a b c d e f g h");
        bench.run(0, false);
        bench.run(1, false);
        assert_eq!(bench.assemble(), Assembled::All);
        assert_eq!(bench.written().matches("$1 ").count(), 8, "the next round is whole again");
    }

    #[test]
    fn a_partition_stops_at_its_share_of_the_answers_and_is_asked_again() {
        let mut bench = Bench::new();
        let value = "v".repeat(ANSWERS / 8);
        bench.plan(&format!("SET big {value}\n{}PING", "GET big\n".repeat(100)));
        let (mut rounds, mut most, mut replies) = (0, 0, 0);
        loop {
            bench.run(0, false);
            bench.run(1, false);
            let assembled = bench.assemble();
            most = most.max(bench.out.len());
            rounds += 1;
            replies += bench.out.len() / value.len();
            bench.out = Output::default();
            if assembled == Assembled::All {
                break;
            }
        }
        assert_eq!(replies, 100);
        assert!(rounds > 10 && most < ANSWERS, "{rounds} rounds, {most} bytes at most");
    }
}
