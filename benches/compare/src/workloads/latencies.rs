//! How long each of many round trips took.

use std::{thread, time::Duration};

use super::Sample;
use crate::{cpus, ticks};

/// What a row says of its round trips.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Figure {
    Mean,
    P50,
    P99,
    /// CPU time of the whole process, less the neighbour's.
    CpuPerAsk,
    /// Of its CPU's time, the neighbour's.
    NeighbourShare,
}

/// Round trips, and what they cost.
#[derive(Default)]
pub struct Latencies {
    ticks: Vec<u64>,
    pub cpu: Duration,
    pub neighbour: Duration,
    pub wall: Duration,
}

impl Latencies {
    pub fn with_capacity(count: u32) -> Self {
        Self { ticks: Vec::with_capacity(count as usize), ..Self::default() }
    }

    /// Of round trips back to back: one reading of the clock is an end and the next beginning.
    pub fn of(count: u32, mut trip: impl FnMut()) -> Self {
        let mut latencies = Self::with_capacity(count);
        let mut start = ticks::now();
        for _ in 0..count {
            trip();
            let end = ticks::now();
            latencies.push(end - start);
            start = end;
        }
        latencies
    }

    /// Of round trips with a pause before each, if any.
    pub fn paced(count: u32, pause: Option<Duration>, mut trip: impl FnMut()) -> Self {
        let Some(pause) = pause else {
            return Self::of(count, trip);
        };
        let mut latencies = Self::with_capacity(count);
        for _ in 0..count {
            thread::sleep(pause);
            let start = ticks::now();
            trip();
            latencies.push(ticks::now() - start);
        }
        latencies
    }

    #[inline]
    pub fn push(&mut self, ticks: u64) {
        self.ticks.push(ticks);
    }

    pub fn samples(mut self, row: &str, figures: &[Figure]) -> Vec<Sample> {
        self.ticks.sort_unstable();
        figures.iter().map(|figure| self.sample(row, *figure)).collect()
    }

    fn sample(&self, row: &str, figure: Figure) -> Sample {
        let count = self.ticks.len();
        let named = |name| format!("{row}, {name}");
        match figure {
            Figure::Mean => Sample::nanos(named("mean"), ticks::nanos(self.ticks.iter().sum()) / count as f64),
            Figure::P50 => Sample::nanos(named("p50"), ticks::nanos(self.ticks[count / 2])),
            Figure::P99 => Sample::nanos(named("p99"), ticks::nanos(self.ticks[count * 99 / 100])),
            Figure::CpuPerAsk => Sample::nanos(
                named("CPU per ask"),
                self.cpu.saturating_sub(self.neighbour).as_nanos() as f64 / count as f64,
            ),
            Figure::NeighbourShare => Sample {
                row: named("the neighbour's share"),
                unit: "%",
                value: 100.0 * self.neighbour.as_secs_f64() / self.wall.as_secs_f64(),
            },
        }
    }

    /// What has been used when a measurement begins; `neighbour` reads its meter.
    pub fn meter(neighbour: impl Fn() -> Duration) -> impl Fn(&mut Self) {
        let (cpu, beside, start) = (cpus::process_time(), neighbour(), std::time::Instant::now());
        move |latencies| {
            latencies.cpu = cpus::process_time() - cpu;
            latencies.neighbour = neighbour() - beside;
            latencies.wall = start.elapsed();
        }
    }
}
