//! What a process holds: threads and file descriptors.

use std::{
    fs, thread,
    time::{Duration, Instant},
};

/// How many there were.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Census {
    threads: usize,
    descriptors: usize,
}

/// Has Tokio make what it makes once for a process: with its `signal` feature, which some crate of a workspace turns on
/// for all, that is a pair of sockets.
pub fn warm_up() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| drop(tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")));
}

impl Census {
    pub fn take() -> Self {
        warm_up();
        let count = |path| fs::read_dir(path).expect(path).count();
        Self { threads: count("/proc/self/task"), descriptors: count("/proc/self/fd") }
    }

    /// Waits until it is so again. A thread that was joined, and one that lingers, are in `/proc` a little longer.
    #[track_caller]
    pub fn assert_back(self, when: &str) {
        let end = Instant::now() + Duration::from_secs(10);
        loop {
            let now = Self::take();
            if now == self {
                return;
            }
            assert!(Instant::now() < end, "{when}: {now:?}, before it was {self:?}; threads: {:?}", names());
            thread::yield_now();
        }
    }
}

fn names() -> Vec<String> {
    let tasks = fs::read_dir("/proc/self/task").expect("own threads");
    tasks.filter_map(|task| fs::read_to_string(task.ok()?.path().join("comm")).ok()).collect()
}
