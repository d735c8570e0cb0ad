//! This process's threads, as the kernel shows them.

use std::fs;

/// A thread's name and the CPUs it may run on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Thread {
    pub name: String,
    pub allowed: Vec<usize>,
}

/// All threads of this process, sorted.
pub fn threads() -> Vec<Thread> {
    let tasks = fs::read_dir("/proc/self/task").expect("own threads");
    let mut threads: Vec<_> = tasks
        // A thread may end while we look.
        .filter_map(|task| fs::read_to_string(task.ok()?.path().join("status")).ok())
        .map(|status| Thread { name: field(&status, "Name:"), allowed: cpus(&field(&status, "Cpus_allowed_list:")) })
        .collect();
    threads.sort();
    threads
}

/// The threads whose name begins so.
pub fn named(prefix: &str) -> Vec<Thread> {
    threads().into_iter().filter(|thread| thread.name.starts_with(prefix)).collect()
}

/// The CPUs that the calling thread may run on.
pub fn own_cpus() -> Vec<usize> {
    cpus(&field(&fs::read_to_string("/proc/thread-self/status").expect("own status"), "Cpus_allowed_list:"))
}

fn field(status: &str, name: &str) -> String {
    status.lines().find_map(|line| line.strip_prefix(name)).expect(name).trim().to_owned()
}

/// Reads `0-2,5`.
fn cpus(list: &str) -> Vec<usize> {
    let number = |text: &str| text.parse::<usize>().expect("a CPU number");
    list.split(',')
        .flat_map(|part| match part.split_once('-') {
            Some((first, last)) => number(first)..=number(last),
            None => number(part)..=number(part),
        })
        .collect()
}
