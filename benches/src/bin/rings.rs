//! The engine's rings beside each other, and beside a channel: what a message costs on its way from thread to thread.
//!
//! ```text
//! cargo run --release -p benches --bin rings -- --human
//! ```
//!
//! A message has 56 bytes, as an envelope has. The consumer has the second CPU that the process may use, all producers the
//! first. Subjects take turns, round after round; what is said is the median of the rounds.

use std::{
    error::Error,
    hint::spin_loop,
    sync::{
        Barrier,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use actor_core::rings::{LanesRing, Mark, MutexRing, Producer, Ready, Ring, VyukovRing};
use lexopt::prelude::*;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// What is sent.
type Message = [u64; 7];

/// Messages that a producer sends before it settles, as an actor does in a poll.
const POLL: usize = 32;

/// A queue that is measured.
trait Queue: Sync {
    fn new(capacity: usize) -> Self;
    fn push(&self, shard: u16, message: Message) -> Result<Mark, Message>;
    fn settle(&self, mark: Mark);
    /// The one consumer's.
    fn pop(&self) -> Option<Message>;
}

/// One of ours, with its word.
struct Ours<R> {
    ring: R,
    ready: Ready,
}

impl<R: Ring<Message>> Queue for Ours<R> {
    fn new(capacity: usize) -> Self {
        Self { ring: R::new(capacity), ready: Ready::new() }
    }

    #[inline]
    fn push(&self, shard: u16, message: Message) -> Result<Mark, Message> {
        // SAFETY: in each measurement a shard is one thread.
        unsafe { self.ring.push(&self.ready, Producer::Shard(shard), message) }
    }

    #[inline]
    fn settle(&self, mark: Mark) {
        self.ready.settle(mark);
    }

    #[inline]
    fn pop(&self) -> Option<Message> {
        // SAFETY: each measurement pops on one thread.
        unsafe { self.ring.pop(&self.ready) }
    }
}

/// The yardstick.
struct Crossbeam(crossbeam_channel::Sender<Message>, crossbeam_channel::Receiver<Message>);

impl Queue for Crossbeam {
    fn new(capacity: usize) -> Self {
        let (sender, receiver) = crossbeam_channel::bounded(capacity);
        Self(sender, receiver)
    }

    #[inline]
    fn push(&self, _: u16, message: Message) -> Result<Mark, Message> {
        self.0.try_send(message).map(|()| Mark::NONE).map_err(crossbeam_channel::TrySendError::into_inner)
    }

    #[inline]
    fn settle(&self, _: Mark) {}

    #[inline]
    fn pop(&self) -> Option<Message> {
        self.1.try_recv().ok()
    }
}

/// What is measured.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Row {
    /// One thread pushes a poll's messages and pops them.
    Alone,
    /// So many producers, a capacity, and messages between two settlings.
    Stream { producers: u16, capacity: usize, poll: usize },
    /// One message goes to and fro.
    PingPong,
}

const ROWS: [Row; 9] = [
    Row::Alone,
    Row::Stream { producers: 1, capacity: 64, poll: POLL },
    Row::Stream { producers: 1, capacity: 256, poll: POLL },
    Row::Stream { producers: 1, capacity: 1024, poll: POLL },
    Row::Stream { producers: 1, capacity: 1024, poll: 1 },
    Row::Stream { producers: 2, capacity: 1024, poll: POLL },
    Row::Stream { producers: 4, capacity: 1024, poll: POLL },
    Row::Stream { producers: 8, capacity: 1024, poll: POLL },
    Row::PingPong,
];

impl Row {
    fn name(self) -> String {
        match self {
            Self::Alone => "one thread, push & pop".to_owned(),
            Self::Stream { producers, capacity, poll } => {
                let settled = if poll == 1 { ", each settled" } else { "" };
                format!("{producers}:1, capacity {capacity}{settled}")
            }
            Self::PingPong => "ping-pong, round trip".to_owned(),
        }
    }

    /// Nanoseconds per message, or per round trip.
    fn measure<Q: Queue>(self, messages: usize) -> f64 {
        match self {
            Self::Alone => alone::<Q>(messages),
            Self::Stream { producers, capacity, poll } => stream::<Q>(producers, capacity, poll, messages),
            Self::PingPong => ping_pong::<Q>(messages / 8),
        }
    }
}

fn message(number: usize) -> Message {
    [number as u64; 7]
}

/// Waits without a system call for a moment, then lets others run.
struct Patience(u32);

impl Patience {
    fn wait(&mut self) {
        self.0 += 1;
        if self.0 < 1000 {
            spin_loop();
        } else {
            thread::yield_now();
        }
    }
}

fn alone<Q: Queue>(messages: usize) -> f64 {
    let queue = Q::new(1024);
    let start = Instant::now();
    for poll in 0..messages / POLL {
        let mut mark = Mark::NONE;
        for number in 0..POLL {
            mark = mark.and(queue.push(0, message(poll + number)).expect("there is room"));
        }
        queue.settle(mark);
        while let Some(message) = queue.pop() {
            std::hint::black_box(message);
        }
    }
    per(start.elapsed(), messages)
}

fn stream<Q: Queue>(producers: u16, capacity: usize, poll: usize, messages: usize) -> f64 {
    let queue = Q::new(capacity);
    let each = messages / usize::from(producers);
    let barrier = Barrier::new(usize::from(producers) + 1);
    thread::scope(|scope| {
        for shard in 0..producers {
            let (queue, barrier) = (&queue, &barrier);
            scope.spawn(move || {
                pin(0);
                barrier.wait();
                let mut marked = Mark::NONE;
                for number in 0..each {
                    let mut patience = Patience(0);
                    let mut message = message(number);
                    marked = marked.and(loop {
                        match queue.push(shard, message) {
                            Ok(mark) => break mark,
                            Err(back) => message = back,
                        }
                        // Who waits must have settled.
                        queue.settle(marked);
                        // The others of this CPU are to have it.
                        if producers > 1 { thread::yield_now() } else { patience.wait() }
                    });
                    if number % poll == poll - 1 {
                        queue.settle(marked);
                        marked = Mark::NONE;
                    }
                }
                queue.settle(marked);
            });
        }
        let consumer = scope.spawn(|| {
            pin(1);
            barrier.wait();
            let start = Instant::now();
            let mut received = 0;
            let mut patience = Patience(0);
            while received < each * usize::from(producers) {
                if let Some(message) = queue.pop() {
                    std::hint::black_box(message);
                    received += 1;
                    patience = Patience(0);
                } else {
                    patience.wait();
                }
            }
            per(start.elapsed(), received)
        });
        consumer.join().expect("the consumer")
    })
}

fn ping_pong<Q: Queue>(rounds: usize) -> f64 {
    let (there, back) = (Q::new(1024), Q::new(1024));
    let is_over = AtomicBool::new(false);
    let send = |queue: &Q, number| {
        let mark = queue.push(0, message(number)).expect("there is room");
        queue.settle(mark);
    };
    let receive = |queue: &Q| {
        let mut patience = Patience(0);
        loop {
            if let Some(message) = queue.pop() {
                return Some(message);
            }
            if is_over.load(Ordering::Relaxed) {
                return None;
            }
            patience.wait();
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            pin(1);
            while let Some(message) = receive(&there) {
                send(&back, message[0] as usize);
            }
        });
        let asker = scope.spawn(|| {
            pin(0);
            let mut start = Instant::now();
            for number in 0..rounds + 100 {
                if number == 100 {
                    start = Instant::now();
                }
                send(&there, number);
                receive(&back);
            }
            let taken = start.elapsed();
            is_over.store(true, Ordering::Relaxed);
            per(taken, rounds)
        });
        asker.join().expect("the asker")
    })
}

fn per(time: Duration, count: usize) -> f64 {
    time.as_nanos() as f64 / count as f64
}

/// Pins this thread to the first or the second CPU of the process's mask, or to the only one.
fn pin(index: usize) {
    let allowed = sched_getaffinity(None).expect("the process's mask");
    let cpus: Vec<_> = (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu)).collect();
    let mut set = CpuSet::new();
    set.set(cpus[index % cpus.len()]);
    sched_setaffinity(None, &set).expect("a CPU of the process's own mask");
}

/// Measures one row once.
type Measure = fn(Row, usize) -> f64;

const SUBJECTS: [(&str, Measure); 4] = [
    ("lanes", Row::measure::<Ours<LanesRing<Message>>>),
    ("vyukov", Row::measure::<Ours<VyukovRing<Message>>>),
    ("mutex", Row::measure::<Ours<MutexRing<Message>>>),
    ("crossbeam", Row::measure::<Crossbeam>),
];

fn main() -> Result<(), Box<dyn Error>> {
    let (mut rounds, mut messages, mut human) = (7, 2_000_000, false);
    let mut parser = lexopt::Parser::from_env();
    while let Some(arg) = parser.next()? {
        match arg {
            Long("rounds") => rounds = parser.value()?.parse()?,
            Long("quick") => (rounds, messages) = (1, 20_000),
            Long("human") => human = true,
            _ => return Err(arg.unexpected().into()),
        }
    }
    if rounds == 0 {
        return Err("--rounds is 0: at least one is needed".into());
    }
    let mut values = vec![Vec::new(); ROWS.len() * SUBJECTS.len()];
    for _ in 0..rounds {
        for (row, kind) in ROWS.iter().enumerate() {
            for (subject, (_, measure)) in SUBJECTS.iter().enumerate() {
                // On a thread of its own: it pins itself.
                let value = thread::scope(|scope| scope.spawn(|| measure(*kind, messages)).join());
                values[row * SUBJECTS.len() + subject].push(value.map_err(|_| "a measurement panicked")?);
            }
        }
    }
    for (row, kind) in ROWS.iter().enumerate() {
        let row_values = &mut values[row * SUBJECTS.len()..][..SUBJECTS.len()];
        if human {
            print!("{:32}", kind.name());
        }
        for (values, (subject, _)) in row_values.iter_mut().zip(SUBJECTS) {
            values.sort_by(f64::total_cmp);
            let (value, min, max) = (values[values.len() / 2], values[0], values[values.len() - 1]);
            if human {
                print!("{subject:>12} {value:7.1} ns");
            } else {
                println!(
                    r#"{{"table":"rings","row":"{}","subject":"{subject}","value":{value:.1},"unit":"ns","min":{min:.1},"max":{max:.1},"rounds":{rounds}}}"#,
                    kind.name()
                );
            }
        }
        if human {
            println!();
        }
    }
    Ok(())
}
