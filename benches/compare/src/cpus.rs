//! The two CPUs of a measurement, what runs on them, and what it uses.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use rustix::{
    thread::{CpuSet, sched_getaffinity, sched_setaffinity},
    time::{ClockId, clock_gettime},
};

use crate::ticks;

/// The CPU of the client and that of the actor that it talks to.
#[derive(Clone, Copy)]
pub struct Pair {
    pub client: usize,
    pub actor: usize,
}

impl Pair {
    /// The first two that this process may use.
    pub fn of_process() -> Result<Self, Box<dyn std::error::Error>> {
        let allowed = sched_getaffinity(None)?;
        let mut cpus = (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu));
        match (cpus.next(), cpus.next()) {
            (Some(client), Some(actor)) => Ok(Self { client, actor }),
            _ => Err("two CPUs are needed".into()),
        }
    }
}

/// Pins this thread.
pub fn pin(cpu: usize) {
    let mut set = CpuSet::new();
    set.set(cpu);
    sched_setaffinity(None, &set).expect("a CPU of the process's own mask");
}

/// The CPU time of the process so far.
pub fn process_time() -> Duration {
    time_of(ClockId::ProcessCPUTime)
}

fn time_of(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    Duration::new(time.tv_sec.cast_unsigned(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// The CPU time that all processes of the machine have used so far, in steps of 10 ms.
pub fn machine_time() -> io::Result<Duration> {
    let stat = std::fs::read_to_string("/proc/stat")?;
    let fields = stat.lines().next().unwrap_or_default().split_ascii_whitespace().skip(1);
    // user nice system idle iowait irq softirq: all but idle and iowait. Hundredths of a second by the kernel's ABI.
    let busy = fields.take(7).enumerate().filter(|(at, _)| !matches!(at, 3 | 4));
    Ok(Duration::from_millis(busy.filter_map(|(_, field)| field.parse::<u64>().ok()).sum::<u64>() * 10))
}

/// A thread that computes without end on one CPU, until it is dropped.
pub struct Neighbour {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    stop: AtomicBool,
    used: AtomicU64,
}

impl Neighbour {
    pub fn on(cpu: usize) -> Self {
        let shared = Arc::new(Shared::default());
        let thread = thread::spawn({
            let shared = shared.clone();
            move || {
                pin(cpu);
                while !shared.stop.load(Ordering::Relaxed) {
                    ticks::burn(Duration::from_micros(50));
                    let used = time_of(ClockId::ThreadCPUTime).as_nanos();
                    shared.used.store(u64::try_from(used).unwrap_or(u64::MAX), Ordering::Relaxed);
                }
            }
        });
        Self { shared, thread: Some(thread) }
    }

    /// The CPU time that it has had.
    pub fn meter(&self) -> impl Fn() -> Duration + Send + 'static {
        let shared = self.shared.clone();
        move || Duration::from_nanos(shared.used.load(Ordering::Relaxed))
    }
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().expect("it only computes");
        }
    }
}
