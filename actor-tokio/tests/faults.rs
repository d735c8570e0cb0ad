//! What the system and the user can refuse a runtime. Each refusal is an error, or one warning, that names the thing, the
//! limit and the way out; shards that had started by then are gone again, to the last thread and descriptor.
#![cfg(target_os = "linux")]

#[path = "os/census.rs"]
mod census;
#[path = "os/cgroup.rs"]
mod cgroup;
#[path = "os/child.rs"]
mod child;
#[path = "os/log.rs"]
mod log;
#[path = "os/threads.rs"]
mod threads;

use std::{
    env, fs,
    os::fd::AsRawFd,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use actor_tokio::{BuildError, Builder, prelude::*};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use self::{
    census::{Census, warm_up},
    cgroup::Cgroup,
    child::{is_child, rerun, skip},
    log::Warnings,
    threads::own_cpus,
};

#[actor]
struct Echo;

#[actor]
impl Echo {
    pub async fn echo(&self, text: String) -> String {
        tokio::task::yield_now().await;
        text
    }
}

fn two_shards() -> Builder {
    ShardedRuntime::builder().cores(2).pin(Pin::Never)
}

#[track_caller]
fn assert_names(message: &str, words: &[&str]) {
    for word in words {
        assert!(message.contains(word), "{message:?} lacks {word:?}");
    }
}

/// Each shard answers.
fn assert_works(rt: &ShardedRuntime) {
    rt.block_on(async {
        for shard in rt.shard_ids() {
            let echo = rt.spawn(|| Echo).on(shard).await.expect("spawned");
            assert_eq!(echo.echo("hello".into()).await.expect("an answer"), "hello");
        }
    });
}

// === what the user asks for ===

#[test]
fn impossible_settings() {
    if !is_child() {
        return rerun("impossible_settings", &["env"], &[]);
    }
    let more = own_cpus().len() + 1;
    let asked = format!("cores({more})");
    let new = ShardedRuntime::builder;
    let cases: [(Builder, &[&str]); 10] = [
        (new().cores(0), &["cores(0)", "at least 1"]),
        (new().cores(more), &[&asked, "affinity mask", "Pin::Never"]),
        (new().cores(more).pin(Pin::Always), &[&asked, "affinity mask", "Pin::Never"]),
        (new().cores(1_025).pin(Pin::Never), &["1025", "1024"]),
        (new().core_ids([]), &["core_ids([])", "at least 1"]),
        (new().core_ids([100_000]), &["CPU 100000", "affinity mask"]),
        (new().core_ids([own_cpus()[0]; 2]), &["more than once"]),
        (two_shards().mailbox_capacity(0), &["mailbox_capacity is 0", "at least 1"]),
        (two_shards().ring_capacity(0), &["ring_capacity is 0", "at least 1"]),
        (two_shards().max_blocking_threads(0), &["max_blocking_threads is 0", "at least 1"]),
    ];
    let before = Census::take();
    for (builder, words) in cases {
        let asked = format!("{builder:?}");
        assert_names(&builder.build().expect_err(&asked).to_string(), words);
        before.assert_back(&asked);
    }
}

#[test]
fn a_shard_of_another_runtime_and_a_mailbox_of_nothing() {
    let rt = two_shards().build().unwrap();
    rt.block_on(async {
        for shard in [2, u16::MAX] {
            let error = rt.spawn(|| Echo).on(ShardId::new(shard)).await.unwrap_err();
            assert!(matches!(error, SpawnError::NoSuchShard { shards: 2, .. }), "{error:?}");
            assert_names(&error.to_string(), &[&shard.to_string(), "has 2", "shard_ids()"]);
        }
        let error = rt.spawn(|| Echo).mailbox(0).await.unwrap_err();
        assert!(matches!(error, SpawnError::NoCapacity), "{error:?}");
        assert_names(&error.to_string(), &["0", "at least 1"]);
    });
    assert_works(&rt);
}

#[test]
fn a_start_hook_that_panics_on_any_shard() {
    const SHARDS: usize = 3;
    if !is_child() {
        return rerun("a_start_hook_that_panics_on_any_shard", &["env"], &[]);
    }
    std::panic::set_hook(Box::new(|_| {}));
    let before = Census::take();
    for victim in 0..SHARDS {
        let ran = Arc::new(AtomicUsize::new(0));
        let hook = {
            let ran = ran.clone();
            move |shard: ShardId| {
                ran.fetch_add(1, SeqCst);
                assert_ne!(shard.index(), victim, "by the test");
            }
        };
        let builder = ShardedRuntime::builder().cores(SHARDS).pin(Pin::Never).on_shard_start(hook);
        let error = builder.build().unwrap_err();
        assert!(matches!(&error, BuildError::StartHook { shard, .. } if shard.index() == victim), "{error:?}");
        assert_names(&error.to_string(), &["on_shard_start", "by the test"]);
        before.assert_back("after a panic in the start hook");
        assert_eq!(Arc::strong_count(&ran), 1, "the hook is gone");
    }
}

// === what the system refuses ===

/// Takes every free number below the highest descriptor, so that a limit counts from there.
fn fill_gaps() -> Vec<fs::File> {
    let open = fs::read_dir("/proc/self/fd").unwrap();
    let highest = open.map(|fd| fd.unwrap().file_name().to_str().unwrap().parse().unwrap()).max().unwrap();
    let mut taken = Vec::new();
    while taken.last().is_none_or(|file: &fs::File| file.as_raw_fd() < highest) {
        taken.push(fs::File::open("/dev/null").unwrap());
    }
    taken
}

/// Lets the process open `more` descriptors beside `taken` while `f` runs.
fn with_descriptors<T>(taken: &[fs::File], more: u64, f: impl FnOnce() -> T) -> T {
    let before = getrlimit(Resource::Nofile);
    let next = taken.last().unwrap().as_raw_fd() as u64 + 1;
    setrlimit(Resource::Nofile, Rlimit { current: Some(next + more), maximum: before.maximum }).unwrap();
    let result = f();
    setrlimit(Resource::Nofile, before).unwrap();
    result
}

#[test]
fn no_descriptor_at_any_point_of_the_start() {
    if !is_child() {
        return rerun("no_descriptor_at_any_point_of_the_start", &["env"], &[]);
    }
    warm_up();
    let taken = fill_gaps();
    let before = Census::take();
    let mut refused = 0;
    let rt = loop {
        match with_descriptors(&taken, refused, || two_shards().build()) {
            Ok(rt) => break rt,
            Err(error) => {
                assert!(matches!(error, BuildError::Descriptors { .. }), "{error:?}");
                assert_names(&error.to_string(), &["shard", "Too many open files", "ulimit -n", "cores"]);
                before.assert_back("after a start without descriptors");
                refused += 1;
            }
        }
    };
    // A doorbell, an epoll and its own eventfd each, at least.
    assert!(refused >= 6, "{refused}");
    assert_works(&rt);
    rt.block_on(rt.shutdown());
    drop(rt);
    before.assert_back("after the shutdown");
}

#[test]
fn no_thread_at_any_point_of_the_start() {
    const NAME: &str = "no_thread_at_any_point_of_the_start";
    const SHARDS: usize = 3;
    const GROUP: &str = "PIDS_GROUP";
    if !is_child() {
        return match Cgroup::with("pids", &[("pids.max", "max")]) {
            Ok(group) => {
                let wrapper = group.wrapper();
                rerun(NAME, &wrapper, &[(GROUP, wrapper[3])]);
            }
            Err(why) => skip(NAME, &why),
        };
    }
    let group = env::var(GROUP).unwrap();
    let before = Census::take();
    let threads: usize = fs::read_to_string(format!("{group}/pids.current")).unwrap().trim().parse().unwrap();
    let allow = |more: usize| {
        // The kernel uncharges a thread a moment after it is gone from sight.
        while fs::read_to_string(format!("{group}/pids.current")).unwrap().trim() != threads.to_string() {
            std::thread::yield_now();
        }
        fs::write(format!("{group}/pids.max"), (threads + more).to_string()).unwrap();
    };
    let builder = || ShardedRuntime::builder().cores(SHARDS).pin(Pin::Never);
    for more in 0..SHARDS {
        allow(more);
        let error = builder().build().unwrap_err();
        assert!(matches!(&error, BuildError::Thread { shard, .. } if shard.index() == more), "{error:?}");
        assert_names(&error.to_string(), &["thread", "unavailable", "ulimit -u", "cores"]);
        before.assert_back("after a start without threads");
    }

    // Just enough for the shards: none for an orderly end, none for the timer of callers outside.
    allow(SHARDS);
    let warnings = Warnings::collect();
    let rt = builder().build().unwrap();
    assert_works(&rt);
    rt.block_on(rt.shutdown());
    drop(rt);
    before.assert_back("after a shutdown without a thread for it");
    let said = warnings.take();
    assert!(said.iter().any(|text| text.contains("timer thread") && text.contains("pids.max")), "{said:?}");
    assert!(said.iter().any(|text| text.contains("shutdown")), "{said:?}");
}

#[test]
fn no_pin() {
    const NAME: &str = "no_pin";
    const STRACE: [&str; 8] = [
        "strace",
        "-f",
        "-o",
        "/dev/null",
        "-e",
        "trace=sched_setaffinity",
        "-e",
        "inject=sched_setaffinity:error=EPERM",
    ];
    if !is_child() {
        if !child::works(&[&STRACE[..], &["true"]].concat()) {
            return skip(NAME, "strace is not there, or may not trace");
        }
        return rerun(NAME, &STRACE, &[]);
    }
    let warnings = Warnings::collect();
    let allowed = own_cpus();
    let before = Census::take();

    let error = ShardedRuntime::builder().core_ids(allowed.clone()).pin(Pin::Always).build().unwrap_err();
    assert!(matches!(error, BuildError::Pin(_)), "{error:?}");
    let cpu = format!("CPU {}", allowed[0]);
    assert_names(&error.to_string(), &["shard 0", &cpu, "not permitted", "sched_setaffinity", "Pin::Never"]);
    before.assert_back("after a refused pin");
    assert_eq!(warnings.take(), [""; 0]);

    let rt = ShardedRuntime::builder().core_ids(allowed.clone()).build().unwrap();
    assert_works(&rt);
    for thread in threads::named("actor-shard") {
        assert_eq!(thread.allowed, allowed, "{thread:?}");
    }
    rt.block_on(rt.shutdown());
    let said = warnings.take();
    assert_eq!(said.len(), 1, "{said:?}");
    assert_names(&said[0], &["unpinned", &cpu.replace("CPU ", "cpu="), "not permitted", "seccomp", "Pin::Never"]);
}

// === the end ===

#[test]
fn shutdown_joins_every_thread() {
    /// Counts itself when its thread's locals are destroyed, which is before a join of the thread returns.
    struct AtExit(Arc<AtomicUsize>);
    impl Drop for AtExit {
        fn drop(&mut self) {
            self.0.fetch_add(1, SeqCst);
        }
    }
    thread_local! {
        static AT_EXIT: std::cell::OnceCell<AtExit> = const { std::cell::OnceCell::new() };
    }

    const SHARDS: usize = 4;
    for round in 0..20 {
        let ended = Arc::new(AtomicUsize::new(0));
        let counter = ended.clone();
        let rt = ShardedRuntime::builder()
            .cores(SHARDS)
            .pin(Pin::Never)
            .on_shard_start(move |_| AT_EXIT.with(|cell| assert!(cell.set(AtExit(counter.clone())).is_ok())))
            .build()
            .unwrap();
        assert_works(&rt);
        if round % 2 == 0 {
            let report = rt.block_on(rt.shutdown());
            assert!(report.is_clean(), "{report:?}");
        } else {
            drop(rt);
        }
        assert_eq!(ended.load(SeqCst), SHARDS);
    }
}

#[test]
fn a_thousand_runtimes_leave_nothing_behind() {
    const NAME: &str = "a_thousand_runtimes_leave_nothing_behind";
    if !is_child() {
        return rerun(NAME, &["env"], &[]);
    }
    let warnings = Warnings::collect();
    let before = Census::take();
    let mut memory = 0;
    for cycle in 0..1_000 {
        let rt = two_shards().build().unwrap();
        let kept = rt.block_on(async {
            let echo = rt.spawn(|| Echo).await.unwrap();
            echo.echo("hello".into()).await.unwrap();
            echo
        });
        match cycle % 4 {
            0 => assert!(rt.block_on(rt.shutdown()).is_clean()),
            1 => {
                drop(rt.shutdown_timeout(Duration::from_secs(5)));
                drop(rt);
            }
            // In async code.
            2 => tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async { drop(rt) }),
            _ => drop(rt),
        }
        assert!(matches!(kept.echo("again".into()).blocking(), Err(AskError::Closed | AskError::Died(_))));
        if cycle == 200 {
            memory = resident();
        }
    }
    before.assert_back("after 1,000 cycles");
    let grown = resident().saturating_sub(memory);
    assert!(grown <= 1_024, "{grown} KiB more than after 200 cycles");
    assert_eq!(warnings.take(), [""; 0], "an end in order is nothing to warn of");
}

/// The memory of this process, in KiB.
fn resident() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}
