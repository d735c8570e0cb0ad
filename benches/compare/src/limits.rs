//! What the machine allows, and what bare queues between two pinned threads do: measured in the same rounds, since it
//! drifts with the hour as all else does.

use std::{
    hint::spin_loop,
    io,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use crossbeam_utils::CachePadded;
use rtrb::{PushError, RingBuffer};
use rustix::{
    buffer::spare_capacity,
    event::{EventfdFlags, epoll, eventfd},
    fd::OwnedFd,
};

use crate::{
    cpus::{Pair, pin},
    ticks,
    workloads::Latencies,
};

/// A cache line to the other CPU and back, in nanoseconds: what no dialogue between threads can beat.
pub fn cache_line(cpus: &Pair, count: u32) -> f64 {
    let line = || CachePadded::new(AtomicU64::new(0));
    let lines = Arc::new((line(), line()));
    dialogue(
        cpus,
        {
            let lines = lines.clone();
            move || {
                for turn in 1..=u64::from(count) {
                    while lines.0.load(Ordering::Acquire) != turn {
                        spin_loop();
                    }
                    lines.1.store(turn, Ordering::Release);
                }
            }
        },
        move || {
            let start = Instant::now();
            for turn in 1..=u64::from(count) {
                lines.0.store(turn, Ordering::Release);
                while lines.1.load(Ordering::Acquire) != turn {
                    spin_loop();
                }
            }
            start.elapsed().as_nanos() as f64 / f64::from(count)
        },
    )
}

/// A value that has a cache line for itself, as a message of ours has.
#[repr(align(64))]
pub struct Line(u64);

impl From<u64> for Line {
    fn from(value: u64) -> Self {
        Self(value)
    }
}

impl From<Line> for u64 {
    fn from(line: Line) -> Self {
        line.0
    }
}

/// One value through a ring for one producer and one consumer that both spin, in nanoseconds.
pub fn rtrb_tell<T: From<u64> + Into<u64> + Send + 'static>(cpus: &Pair, count: u32, capacity: usize) -> f64 {
    let (mut producer, mut consumer) = RingBuffer::<T>::new(capacity);
    stream(
        cpus,
        count,
        move || {
            let mut sum = 0u64;
            for _ in 0..count {
                sum = sum.wrapping_add(spin_until(|| consumer.pop().ok()).into());
            }
            sum
        },
        move |value| {
            let mut value = T::from(value);
            while let Err(PushError::Full(back)) = producer.push(value) {
                value = back;
                spin_loop();
            }
        },
    )
}

/// A value through one such ring and an answer through another.
pub fn rtrb_ask(cpus: &Pair, count: u32) -> Latencies {
    let (mut ask, mut asked) = RingBuffer::<u64>::new(64);
    let (mut answer, mut answered) = RingBuffer::<u64>::new(64);
    dialogue(
        cpus,
        move || {
            for _ in 0..count {
                let value = spin_until(|| asked.pop().ok());
                answer.push(value + 1).expect("one at a time");
            }
        },
        move || {
            Latencies::of(count, || {
                ask.push(1).expect("one at a time");
                spin_until(|| answered.pop().ok());
            })
        },
    )
}

/// One value through a crossbeam channel between threads that block, in nanoseconds.
pub fn crossbeam_tell(cpus: &Pair, count: u32, capacity: usize) -> f64 {
    let (sender, receiver) = crossbeam_channel::bounded::<u64>(capacity);
    stream(
        cpus,
        count,
        move || receiver.iter().take(count as usize).fold(0, u64::wrapping_add),
        move |value| sender.send(value).expect("the other end lives"),
    )
}

/// A value through one such channel and an answer through another.
pub fn crossbeam_ask(cpus: &Pair, count: u32) -> Latencies {
    let (ask, asked) = crossbeam_channel::bounded::<u64>(64);
    let (answer, answered) = crossbeam_channel::bounded::<u64>(64);
    dialogue(
        cpus,
        move || {
            for value in asked.iter().take(count as usize) {
                answer.send(value + 1).expect("the other end lives");
            }
        },
        move || {
            Latencies::of(count, || {
                ask.send(1).expect("the other end lives");
                answered.recv().expect("the other end lives");
            })
        },
    )
}

/// A wake of a thread in `epoll_wait` through an `eventfd`, and a wake back. Each asleep when it is woken.
pub fn eventfd_wake(cpus: &Pair, count: u32, pause: Option<Duration>) -> Latencies {
    let (there, back) = (Event::new().expect("an eventfd"), Event::new().expect("an eventfd"));
    let (waits_there, waits_back) = (there.waiter().expect("an epoll"), back.waiter().expect("an epoll"));
    dialogue(
        cpus,
        move || {
            for _ in 0..count {
                waits_there.wait();
                back.ring();
            }
        },
        move || {
            Latencies::paced(count, pause, || {
                there.ring();
                waits_back.wait();
            })
        },
    )
}

/// The same by `park` and `unpark`: a futex.
pub fn park_wake(cpus: &Pair, count: u32, pause: Option<Duration>) -> Latencies {
    let turns = Arc::new((CachePadded::new(AtomicU64::new(0)), CachePadded::new(AtomicU64::new(0))));
    let (known, is_known) = crossbeam_channel::bounded(1);
    let (other_known, other_is_known) = crossbeam_channel::bounded(1);
    let wait = |at: &AtomicU64, turn: u64| {
        while at.load(Ordering::Acquire) != turn {
            thread::park();
        }
    };
    dialogue(
        cpus,
        {
            let turns = turns.clone();
            move || {
                known.send(thread::current()).expect("the client waits");
                let client: thread::Thread = other_is_known.recv().expect("the client says");
                for turn in 1..=u64::from(count) {
                    wait(&turns.0, turn);
                    turns.1.store(turn, Ordering::Release);
                    client.unpark();
                }
            }
        },
        move || {
            other_known.send(thread::current()).expect("the other waits");
            let other: thread::Thread = is_known.recv().expect("the other says");
            let mut turn = 0;
            Latencies::paced(count, pause, || {
                turn += 1;
                turns.0.store(turn, Ordering::Release);
                other.unpark();
                wait(&turns.1, turn);
            })
        },
    )
}

struct Event(Arc<OwnedFd>);

struct Waiter {
    epoll: OwnedFd,
    _event: Arc<OwnedFd>,
}

impl Event {
    fn new() -> io::Result<Self> {
        Ok(Self(Arc::new(eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?)))
    }

    /// Edge-triggered: each ring wakes once, and nothing need be read.
    fn waiter(&self) -> io::Result<Waiter> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let flags = epoll::EventFlags::IN | epoll::EventFlags::ET;
        epoll::add(&epoll, &*self.0, epoll::EventData::new_u64(0), flags)?;
        Ok(Waiter { epoll, _event: self.0.clone() })
    }

    fn ring(&self) {
        rustix::io::write(&self.0, &1u64.to_ne_bytes()).expect("far from the counter's end");
    }
}

impl Waiter {
    fn wait(&self) {
        let mut events = Vec::with_capacity(1);
        while events.is_empty() {
            match epoll::wait(&self.epoll, spare_capacity(&mut events), None) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => panic!("epoll: {error}"),
            }
        }
    }
}

/// Runs the two sides of a dialogue on their CPUs, and gives back what the client says.
fn dialogue<T: Send + 'static>(
    cpus: &Pair,
    other: impl FnOnce() + Send + 'static,
    client: impl FnOnce() -> T + Send + 'static,
) -> T {
    let Pair { client: client_cpu, actor } = *cpus;
    let other = thread::spawn(move || {
        pin(actor);
        other();
    });
    let client = thread::spawn(move || {
        pin(client_cpu);
        client()
    });
    let outcome = client.join().expect("the client");
    other.join().expect("the other side");
    outcome
}

/// Nanoseconds a value, from the first send until the last has been received.
fn stream(
    cpus: &Pair,
    count: u32,
    receive: impl FnOnce() -> u64 + Send + 'static,
    mut send: impl FnMut(u64) + Send + 'static,
) -> f64 {
    let (end, ended) = std::sync::mpsc::channel();
    dialogue(
        cpus,
        move || {
            std::hint::black_box(receive());
            end.send(ticks::now()).expect("the client waits");
        },
        move || {
            let start = ticks::now();
            (0..u64::from(count)).for_each(&mut send);
            ticks::nanos(ended.recv().expect("the receiver ends") - start) / f64::from(count)
        },
    )
}

fn spin_until<T>(mut look: impl FnMut() -> Option<T>) -> T {
    loop {
        if let Some(value) = look() {
            return value;
        }
        spin_loop();
    }
}
