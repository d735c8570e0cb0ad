//! W1: one tells one, as fast as it can.

use std::time::Instant;

use super::{Sample, Workload};
use crate::{
    cpus::Pair,
    options::Scale,
    subject::{Place, Setup, Subject},
};

#[derive(Clone, Copy)]
pub struct Tells {
    pub row: &'static str,
    pub place: Place,
    pub mailbox: usize,
}

impl Workload for Tells {
    fn run<S: Subject>(&self, subject: &S, cpus: &Pair, scale: Scale) -> Vec<Sample> {
        let count = scale.of(1_000_000);
        let setup = Setup { cpus: *cpus, place: self.place, mailbox: self.mailbox, busy: false };
        let nanos = subject.run(&setup, move |actor| {
            Box::pin(async move {
                // So that what is made at the first message has been made.
                for _ in 0..count / 10 {
                    S::tell(&actor, 1).await;
                }
                all_handled::<S>(&actor, u64::from(count / 10)).await;
                let start = Instant::now();
                for _ in 0..count {
                    S::tell(&actor, 1).await;
                }
                all_handled::<S>(&actor, u64::from(count + count / 10)).await;
                start.elapsed().as_nanos() as f64 / f64::from(count)
            })
        });
        vec![Sample::nanos(self.row, nanos)]
    }
}

/// Asks until the actor has had all it was told. Once is enough, unless an ask may overtake tells (xtra's does).
async fn all_handled<S: Subject>(actor: &S::Ref, sum: u64) {
    for _ in 0..100_000 {
        if S::ask(actor, 0).await == sum {
            return;
        }
    }
    panic!("messages were lost");
}
