//! Medians over rounds, as JSON lines or as a table.

use std::{
    fmt::Write as _,
    io::{self, Write},
    time::{Duration, Instant},
};

use rustix::thread::{CpuSet, sched_getaffinity};

use crate::{cpus, workloads::Sample};

/// All that has been measured.
#[derive(Default)]
pub struct Report {
    cells: Vec<Cell>,
}

struct Cell {
    row: String,
    subject: &'static str,
    unit: &'static str,
    values: Vec<f64>,
    /// What other processes had of the machine meanwhile, from 0 to 1.
    others: Vec<f64>,
}

/// A run is repeated if others had more of the machine than this, in a run long enough to tell.
const MOST_OTHERS: f64 = 0.05;
const LONG_ENOUGH: Duration = Duration::from_millis(150);
const ATTEMPTS: u32 = 3;

impl Report {
    /// Runs one subject, again if the machine was not ours, and keeps the quietest run.
    pub fn measure(&mut self, subject: &'static str, run: impl Fn() -> Vec<Sample>) {
        let mut best = disturbed(&run);
        for _ in 1..ATTEMPTS {
            if best.1 <= MOST_OTHERS {
                break;
            }
            let next = disturbed(&run);
            if next.1 < best.1 {
                best = next;
            }
        }
        let (samples, others) = best;
        for Sample { row, unit, value } in samples {
            let known = self.cells.iter().position(|cell| cell.row == row && cell.subject == subject);
            let at = known.unwrap_or_else(|| {
                self.cells.push(Cell { row, subject, unit, values: Vec::new(), others: Vec::new() });
                self.cells.len() - 1
            });
            self.cells[at].values.push(value);
            self.cells[at].others.push(others);
        }
    }

    pub fn print(&mut self, out: &mut impl Write, human: bool) -> io::Result<()> {
        for cell in &mut self.cells {
            cell.values.sort_by(f64::total_cmp);
            cell.others.sort_by(f64::total_cmp);
        }
        if human { self.table(out) } else { self.lines(out) }
    }

    fn lines(&self, out: &mut impl Write) -> io::Result<()> {
        for cell in &self.cells {
            let Cell { row, subject, unit, values, others } = cell;
            let (row, subject, unit) = (quoted(row), quoted(subject), quoted(unit));
            let (value, min, max) = (median(values), values[0], values[values.len() - 1]);
            write!(out, r#"{{"table":"handles","row":{row},"subject":{subject},"value":{value:.1},"unit":{unit},"#)?;
            write!(out, r#""min":{min:.1},"max":{max:.1},"#)?;
            writeln!(out, r#""rounds":{},"others":{:.2}}}"#, values.len(), median(others))?;
        }
        Ok(())
    }

    fn table(&self, out: &mut impl Write) -> io::Result<()> {
        let mut rows: Vec<&str> = Vec::new();
        for cell in &self.cells {
            if !rows.contains(&cell.row.as_str()) {
                rows.push(&cell.row);
            }
        }
        for row in rows {
            writeln!(out, "\n{row}")?;
            for cell in self.cells.iter().filter(|cell| cell.row == row) {
                let Cell { subject, unit, values, others, .. } = cell;
                writeln!(
                    out,
                    "  {subject:24} {:12.1} {unit:3} ({:.1} to {:.1}; others {:.0} %)",
                    median(values),
                    values[0],
                    values[values.len() - 1],
                    100.0 * median(others)
                )?;
            }
        }
        Ok(())
    }
}

/// The machine's shape, as a JSON line.
pub fn machine(out: &mut impl Write) -> io::Result<()> {
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model =
        cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": ")).map(|(_, name)| name);
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let allowed = sched_getaffinity(None)?;
    let cpus = (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu)).count();
    writeln!(
        out,
        r#"{{"machine":{{"cpu":{},"cpus":{cpus},"kernel":{},"rustc":{}}}}}"#,
        quoted(model.unwrap_or("unknown")),
        quoted(kernel.trim()),
        quoted(env!("COMPARE_RUSTC")),
    )
}

/// The samples of one run, and the share of the machine that other processes had meanwhile.
fn disturbed(run: impl Fn() -> Vec<Sample>) -> (Vec<Sample>, f64) {
    let (start, machine, own) = (Instant::now(), cpus::machine_time(), cpus::process_time());
    let samples = run();
    let wall = start.elapsed();
    let (Ok(before), Ok(after)) = (machine, cpus::machine_time()) else {
        return (samples, 0.0);
    };
    if wall < LONG_ENOUGH {
        return (samples, 0.0);
    }
    let others = after.saturating_sub(before).saturating_sub(cpus::process_time() - own);
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    (samples, others.as_secs_f64() / wall.as_secs_f64() / cpus as f64)
}

fn median(sorted: &[f64]) -> f64 {
    sorted[sorted.len() / 2]
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for char in text.chars() {
        match char {
            '"' | '\\' => quoted.extend(['\\', char]),
            char if char.is_control() => _ = write!(quoted, "\\u{:04x}", u32::from(char)),
            char => quoted.push(char),
        }
    }
    quoted.push('"');
    quoted
}
