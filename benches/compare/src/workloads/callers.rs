//! W3: many ask one at once.

use std::time::Instant;

use super::{MAILBOX, Sample, Workload};
use crate::{
    cpus::Pair,
    options::Scale,
    subject::{Job, Place, Setup, Subject},
};

#[derive(Clone, Copy)]
pub struct ManyCallers {
    pub row: &'static str,
    pub place: Place,
}

const CALLERS: u32 = 64;

impl Workload for ManyCallers {
    fn run<S: Subject>(&self, subject: &S, cpus: &Pair, scale: Scale) -> Vec<Sample> {
        let each = scale.of(10_000);
        let setup = Setup { cpus: *cpus, place: self.place, mailbox: MAILBOX, busy: false };
        let together = subject.clone();
        let nanos = subject.run(&setup, move |actor: S::Ref| {
            Box::pin(async move {
                S::ask(&actor, 0).await;
                let start = Instant::now();
                let jobs = (0..CALLERS).map(|_| -> Job<()> {
                    let actor = actor.clone();
                    Box::pin(async move {
                        for _ in 0..each {
                            S::ask(&actor, 1).await;
                        }
                    })
                });
                together.together(jobs.collect()).await;
                start.elapsed().as_nanos() as f64 / f64::from(CALLERS * each)
            })
        });
        vec![Sample::nanos(self.row, nanos)]
    }
}
