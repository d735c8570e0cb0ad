//! Handles against other actor frameworks, raw channels and the machine's limits; see `README.md`.
#![deny(unsafe_code)]

mod cpus;
mod limits;
mod options;
mod pacer;
mod report;
mod subject;
mod subjects;
mod ticks;
mod workloads;

use std::io;

use options::Options;
use report::Report;
use workloads::Row;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let options = Options::parse()?;
    let mut rows: Vec<Row> = workloads::rows().into_iter().filter(|row| options.wants(row.id)).collect();
    for row in &mut rows {
        row.cases.retain(|case| options.wants_subject(case.subject));
    }
    rows.retain(|row| !row.cases.is_empty());
    if options.list {
        for row in rows {
            println!("{:14} {}", row.id, row.about);
        }
        return Ok(());
    }
    if rows.is_empty() {
        return Err("no such row or subject: see `--list`".into());
    }
    let cpus = cpus::Pair::of_process()?;
    ticks::calibrate();
    report::machine(&mut io::stdout())?;
    let mut report = Report::default();
    for round in 0..options.rounds {
        for row in &rows {
            // Each subject comes first as often as the others: what the one before left behind hits all alike.
            for turn in 0..row.cases.len() {
                let case = &row.cases[(round + turn) % row.cases.len()];
                report.measure(case.subject, || (case.run)(&cpus, options.scale()));
            }
        }
        eprintln!("round {} of {}", round + 1, options.rounds);
    }
    report.print(&mut io::stdout(), options.human)?;
    Ok(())
}
