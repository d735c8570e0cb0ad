//! Where shards run: what was asked for, seen from the kernel.
#![cfg(target_os = "linux")]

#[path = "os/cgroup.rs"]
mod cgroup;
#[path = "os/child.rs"]
mod child;
#[path = "os/threads.rs"]
mod threads;

use actor_tokio::prelude::*;

use self::{
    cgroup::Cgroup,
    child::{is_child, rerun, skip},
    threads::{named, own_cpus},
};

#[actor]
struct Probe;

#[actor]
impl Probe {
    pub fn cpus(&self) -> Vec<usize> {
        own_cpus()
    }

    /// The CPUs of a thread of this shard's blocking pool.
    pub async fn cpus_of_blocking_work(&self) -> Vec<usize> {
        tokio::task::spawn_blocking(own_cpus).await.expect("own_cpus does not panic")
    }
}

/// The CPUs of each shard, in order.
fn cpus_of_shards(rt: &ShardedRuntime) -> Vec<Vec<usize>> {
    rt.block_on(async {
        let mut cpus = Vec::new();
        for shard in rt.shard_ids() {
            let probe = rt.spawn(|| Probe).on(shard).await.expect("spawned");
            cpus.push(probe.cpus().await.expect("an answer"));
        }
        cpus
    })
}

#[test]
fn each_shard_has_a_cpu_of_its_own() {
    let allowed = own_cpus();
    let rt = ShardedRuntime::builder().pin(Pin::Always).cores(allowed.len()).thread_name("own").build().unwrap();
    assert_eq!(cpus_of_shards(&rt), allowed.iter().map(|cpu| vec![*cpu]).collect::<Vec<_>>());
    // From outside as well: the names say which shard a thread is.
    for (index, cpu) in allowed.iter().enumerate() {
        let [thread] = &named(&format!("own-{index}"))[..] else { panic!("one thread a shard") };
        assert_eq!(thread.allowed, [*cpu]);
    }
    assert_eq!(own_cpus(), allowed, "the thread that builds is left alone");
}

#[test]
fn cpus_can_be_named_in_any_order() {
    let mut cpus = own_cpus();
    cpus.reverse();
    let rt = ShardedRuntime::builder().core_ids(cpus.clone()).build().unwrap();
    assert_eq!(cpus_of_shards(&rt), cpus.iter().map(|cpu| vec![*cpu]).collect::<Vec<_>>());
}

#[test]
fn never_leaves_every_cpu_to_every_shard() {
    let allowed = own_cpus();
    let shards = allowed.len() + 2;
    let rt = ShardedRuntime::builder().cores(shards).pin(Pin::Never).build().unwrap();
    assert_eq!(cpus_of_shards(&rt), vec![allowed; shards]);
}

#[test]
fn blocking_work_may_run_on_any_cpu() {
    let allowed = own_cpus();
    let rt = ShardedRuntime::builder().cores(1).pin(Pin::Always).build().unwrap();
    rt.block_on(async {
        let probe = rt.spawn(|| Probe).await.unwrap();
        assert_eq!(probe.cpus().await.unwrap(), [allowed[0]]);
        assert_eq!(probe.cpus_of_blocking_work().await.unwrap(), allowed);
        assert_eq!(probe.cpus().await.unwrap(), [allowed[0]], "the shard stays");
    });
}

#[test]
fn a_mask_of_one_cpu_is_one_shard_there() {
    const NAME: &str = "a_mask_of_one_cpu_is_one_shard_there";
    let allowed = own_cpus();
    if is_child() {
        let rt = ShardedRuntime::builder().pin(Pin::Always).build().unwrap();
        assert_eq!(cpus_of_shards(&rt), [allowed]);
        return;
    }
    let last = allowed[allowed.len() - 1].to_string();
    if !child::works(&["taskset", "-c", &last, "true"]) {
        return skip(NAME, "no taskset");
    }
    rerun(NAME, &["taskset", "-c", &last], &[]);
}

#[test]
fn a_cpuset_of_one_cpu_is_one_shard_there() {
    const NAME: &str = "a_cpuset_of_one_cpu_is_one_shard_there";
    let allowed = own_cpus();
    if is_child() {
        assert_eq!(allowed.len(), 1);
        let rt = ShardedRuntime::builder().build().unwrap();
        assert_eq!(cpus_of_shards(&rt), [allowed]);
        return;
    }
    // A group of the first version takes no process before it has memory nodes too.
    let last = allowed[allowed.len() - 1].to_string();
    match Cgroup::with("cpuset", &[("cpuset.cpus", &last), ("cpuset.mems", "0")]) {
        Ok(group) => rerun(NAME, &group.wrapper(), &[]),
        Err(why) => skip(NAME, &why),
    }
}

/// Each of these is half a CPU less than `shards`.
#[test]
fn a_quota_is_rounded_up_to_unpinned_shards() {
    const NAME: &str = "a_quota_is_rounded_up_to_unpinned_shards";
    let allowed = own_cpus();
    if is_child() {
        let shards = std::env::var("SHARDS").unwrap().parse().unwrap();
        let rt = ShardedRuntime::builder().build().unwrap();
        assert_eq!(cpus_of_shards(&rt), vec![allowed.clone(); shards]);

        let rt = ShardedRuntime::builder().pin(Pin::Always).build().unwrap();
        let first = allowed[..shards].iter().map(|cpu| vec![*cpu]);
        assert_eq!(cpus_of_shards(&rt), first.collect::<Vec<_>>(), "pinned on demand");
        return;
    }
    for shards in 1..=allowed.len() {
        let quota = (shards * 100_000 - 50_000).to_string();
        let one = [("cpu.cfs_period_us", "100000"), ("cpu.cfs_quota_us", &*quota)];
        let two = format!("{quota} 100000");
        let made = Cgroup::with("cpu", &one).or_else(|_| Cgroup::with("cpu", &[("cpu.max", &two)]));
        match made {
            Ok(group) => rerun(NAME, &group.wrapper(), &[("SHARDS", &shards.to_string())]),
            Err(why) => skip(NAME, &why),
        }
    }
}
