//! W2: one asks one.

use std::time::Duration;

use super::{Figure, Latencies, MAILBOX, Sample, Workload};
use crate::{
    cpus::{Neighbour, Pair},
    options::Scale,
    pacer::Pacer,
    subject::{Place, Setup, Subject, Tasks, run_on_tokio},
    ticks,
};

#[derive(Clone, Copy)]
pub struct Asks {
    pub row: &'static str,
    pub figures: &'static [Figure],
    pub place: Place,
    pub count: u32,
    /// Before each ask; none: back to back.
    pub pause: Option<Duration>,
    /// Beside an actor on each thread that always has work.
    pub busy: bool,
    /// Beside a thread on the asked actor's CPU that always computes.
    pub neighbour: bool,
}

/// A row's run ends after this even with fewer asks.
const LONGEST: Duration = Duration::from_secs(1);

impl Asks {
    pub const HOT: Self =
        Self { row: "", figures: &[], place: Place::Across, count: 50_000, pause: None, busy: false, neighbour: false };

    fn setup(&self, cpus: &Pair) -> Setup {
        Setup { cpus: *cpus, place: self.place, mailbox: MAILBOX, busy: self.busy }
    }
}

impl Workload for Asks {
    fn run<S: Subject>(&self, subject: &S, cpus: &Pair, scale: Scale) -> Vec<Sample> {
        let (count, pause) = (scale.of(self.count), self.pause);
        let neighbour = self.neighbour.then(|| Neighbour::on(cpus.actor));
        let meter = neighbour.as_ref().map(Neighbour::meter);
        let read = move || meter.as_ref().map_or(Duration::ZERO, |meter| meter());
        let latencies = subject.run(&self.setup(cpus), move |actor| {
            Box::pin(async move {
                // Long enough for whatever learns from what it sees.
                for _ in 0..count.min(1_000) {
                    S::ask(&actor, 1).await;
                }
                let mut latencies = Latencies::with_capacity(count);
                let meter = Latencies::meter(read);
                let start = ticks::now();
                if let Some(pause) = pause {
                    let pacer = Pacer::new().expect("a timer");
                    for _ in 0..count {
                        pacer.pause(pause).await.expect("a timer");
                        let start = ticks::now();
                        S::ask(&actor, 1).await;
                        latencies.push(ticks::now() - start);
                    }
                } else {
                    let mut before = start;
                    for _ in 0..count {
                        S::ask(&actor, 1).await;
                        let now = ticks::now();
                        latencies.push(now - before);
                        before = now;
                        if ticks::nanos(now - start) > LONGEST.as_nanos() as f64 {
                            break;
                        }
                    }
                }
                meter(&mut latencies);
                latencies
            })
        });
        latencies.samples(self.row, self.figures)
    }
}

/// What a paced row's pauses cost by themselves.
pub fn pauses_alone(asks: &Asks, cpus: &Pair, scale: Scale) -> Vec<Sample> {
    let (count, pause) = (scale.of(asks.count), asks.pause.unwrap_or_default());
    let setup = Setup { place: Place::Same, ..asks.setup(cpus) };
    let latencies = run_on_tokio(Tasks::Send, &setup, async {}, move |()| {
        Box::pin(async move {
            let mut latencies = Latencies::with_capacity(count);
            let pacer = Pacer::new().expect("a timer");
            let meter = Latencies::meter(|| Duration::ZERO);
            for _ in 0..count {
                pacer.pause(pause).await.expect("a timer");
                latencies.push(0);
            }
            meter(&mut latencies);
            latencies
        })
    });
    latencies.samples(asks.row, &[Figure::CpuPerAsk])
}
