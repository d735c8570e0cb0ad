//! Plans for machines that we do not have, and systems that refuse.

use std::fmt::Write as _;
use std::io;
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::{Event, Metadata, Subscriber, span};

use super::{Affinity, CpuError, Machine, Pin, Pinner, Plan, Request, Shards, Source, plan};

fn machine(allowed: impl IntoIterator<Item = usize>, quota: impl Into<Option<f64>>) -> Machine {
    Machine { allowed: allowed.into_iter().collect(), quota: quota.into() }
}

fn planned(machine: &Machine, shards: Shards, pin: Pin) -> Result<Plan, CpuError> {
    plan(machine, &Request { shards, pin })
}

fn cpus(plan: &Plan) -> Vec<Option<usize>> {
    plan.shards.iter().map(|shard| shard.cpu).collect()
}

#[test]
fn one_shard_for_each_allowed_cpu() {
    let plan = planned(&machine([1, 4, 5], None), Shards::PerCpu, Pin::Auto).unwrap();
    assert_eq!(cpus(&plan), [Some(1), Some(4), Some(5)]);
    assert_eq!((plan.source, plan.pinned, plan.throttled), (Source::Affinity, true, false));
}

#[test]
fn a_quota_is_rounded_up_and_unpinned() {
    for (quota, shards) in [(0.01, 1), (0.5, 1), (1.0, 1), (1.5, 2), (3.0, 3), (3.2, 4)] {
        let plan = planned(&machine(0..4, quota), Shards::PerCpu, Pin::Auto).unwrap();
        assert_eq!(cpus(&plan), vec![None; shards], "quota {quota}");
        assert_eq!((plan.source, plan.pinned, plan.throttled), (Source::Quota, false, true));
    }
}

#[test]
fn a_quota_that_does_not_bind_changes_nothing() {
    for quota in [4.0, 64.0] {
        let plan = planned(&machine(0..4, quota), Shards::PerCpu, Pin::Auto).unwrap();
        assert_eq!((plan.shards.len(), plan.source, plan.pinned), (4, Source::Affinity, true));
    }
}

#[test]
fn always_pins_under_a_quota_too() {
    let plan = planned(&machine([2, 3, 6], 1.5), Shards::PerCpu, Pin::Always).unwrap();
    assert_eq!(cpus(&plan), [Some(2), Some(3)]);
}

#[test]
fn cores_overrule_the_quota_but_not_its_reason_to_unpin() {
    let plan = planned(&machine(0..4, 1.0), Shards::Cores(3), Pin::Auto).unwrap();
    assert_eq!(cpus(&plan), [None; 3]);
    assert_eq!((plan.source, plan.throttled), (Source::Cores, true));
}

#[test]
fn cores_take_the_first_allowed_cpus() {
    let plan = planned(&machine([3, 5, 7], None), Shards::Cores(2), Pin::Auto).unwrap();
    assert_eq!(cpus(&plan), [Some(3), Some(5)]);
}

#[test]
fn named_cpus_are_pinned_in_their_order_under_a_quota_too() {
    let plan = planned(&machine(0..4, 1.0), Shards::CoreIds(vec![3, 0]), Pin::Auto).unwrap();
    assert_eq!(cpus(&plan), [Some(3), Some(0)]);
    assert_eq!(plan.source, Source::CoreIds);

    let plan = planned(&machine(0..4, None), Shards::CoreIds(vec![3, 0]), Pin::Never).unwrap();
    assert_eq!(cpus(&plan), [None, None]);
}

#[test]
fn unpinned_shards_may_outnumber_the_cpus() {
    let plan = planned(&machine(0..2, None), Shards::Cores(1_024), Pin::Never).unwrap();
    assert_eq!(cpus(&plan), vec![None; 1_024]);
}

#[test]
fn without_a_mask_only_an_unpinned_number_will_do() {
    let blind = machine([], 1.0);
    assert!(planned(&blind, Shards::Cores(3), Pin::Never).is_ok());
    for (shards, pin) in [(Shards::PerCpu, Pin::Never), (Shards::PerCpu, Pin::Auto), (Shards::Cores(3), Pin::Auto)] {
        assert_eq!(planned(&blind, shards, pin), Err(CpuError::MaskUnknown));
    }
}

/// Every refusal names the thing, the limit and the way out.
#[test]
fn refusals_say_what_to_do() {
    let two = machine(0..2, None);
    let cases = [
        (Shards::Cores(0), Pin::Auto, &["cores(0)", "at least 1", "leave `cores` out"][..]),
        (Shards::Cores(0), Pin::Never, &["cores(0)"]),
        (Shards::Cores(3), Pin::Auto, &["cores(3)", "2 CPU", "affinity mask", "0-1", "Pin::Never"]),
        (Shards::Cores(3), Pin::Always, &["cores(3)", "at most 2", "widen the mask"]),
        (Shards::Cores(1_025), Pin::Never, &["1025", "1024", "at most"]),
        (Shards::CoreIds(vec![]), Pin::Auto, &["core_ids([])", "at least 1", "leave `core_ids` out"]),
        (Shards::CoreIds(vec![0, 2]), Pin::Auto, &["CPU 2", "affinity mask", "0-1", "widen"]),
        (Shards::CoreIds(vec![usize::MAX]), Pin::Never, &["CPU 18446744073709551615"]),
        (Shards::CoreIds(vec![1, 0, 1]), Pin::Auto, &["CPU 1", "at most 1 shard", "Pin::Never"]),
    ];
    for (shards, pin, words) in cases {
        let asked = format!("{shards:?}, {pin:?}");
        let message = planned(&two, shards, pin).expect_err(&asked).to_string();
        for word in words {
            assert!(message.contains(word), "{asked}: {message:?} lacks {word:?}");
        }
    }
}

/// A system that answers as it is told, and notes the masks it was given.
#[derive(Clone)]
struct Stub {
    restrict: Result<(), i32>,
    current: Vec<usize>,
    given: Arc<Mutex<Vec<Vec<usize>>>>,
}

impl Affinity for Stub {
    fn current(&self) -> io::Result<Vec<usize>> {
        Ok(self.current.clone())
    }

    fn restrict(&self, cpus: &[usize]) -> io::Result<()> {
        self.given.lock().unwrap().push(cpus.to_vec());
        self.restrict.map_err(io::Error::from_raw_os_error)
    }
}

const EPERM: i32 = 1;

fn stub(restrict: Result<(), i32>, current: &[usize]) -> Stub {
    Stub { restrict, current: current.to_vec(), given: Arc::default() }
}

fn pinner(stub: &Stub, policy: Pin) -> Pinner {
    Pinner::new(Box::new(stub.clone()), &machine(0..2, None), policy)
}

#[test]
fn a_pin_that_takes_is_true() {
    assert!(pinner(&stub(Ok(()), &[1]), Pin::Always).pin(0, 1).unwrap());
}

#[test]
fn a_refused_pin_is_an_error_only_on_demand() {
    let refusing = stub(Err(EPERM), &[0, 1]);
    assert!(!pinner(&refusing, Pin::Auto).pin(0, 1).unwrap());

    let error = pinner(&refusing, Pin::Always).pin(3, 1).unwrap_err();
    assert_eq!((error.shard, error.cpu, error.source.raw_os_error()), (3, 1, Some(EPERM)));
    let message = error.to_string();
    for word in ["shard 3", "CPU 1", "not permitted", "sched_setaffinity", "Pin::Never"] {
        assert!(message.contains(word), "{message:?} lacks {word:?}");
    }
}

#[test]
fn a_pin_without_effect_is_a_refusal() {
    let ignoring = stub(Ok(()), &[0, 1]);
    assert!(!pinner(&ignoring, Pin::Auto).pin(0, 1).unwrap());
    assert!(pinner(&ignoring, Pin::Always).pin(0, 1).is_err());
}

#[test]
fn a_thread_of_the_blocking_pool_gets_the_whole_mask_back() {
    let system = stub(Ok(()), &[0, 1]);
    pinner(&system, Pin::Auto).unpin();
    assert_eq!(*system.given.lock().unwrap(), [[0, 1]]);
}

#[test]
fn a_refusal_is_said_once_for_all_shards() {
    let log = logged(|| {
        let pinner = pinner(&stub(Err(EPERM), &[0, 1]), Pin::Auto);
        for cpu in 0..2 {
            pinner.pin(cpu, cpu).unwrap();
            pinner.unpin();
        }
    });
    assert_eq!(log.lines().count(), 1, "{log}");
    for word in ["WARN", "shard=0", "cpu=0", "not permitted", "allowed=0-1", "sched_setaffinity", "Pin::Never"] {
        assert!(log.contains(word), "{log:?} lacks {word:?}");
    }
}

#[test]
fn the_start_says_what_the_process_got() {
    let log = logged(|| planned(&machine([1, 2, 5], None), Shards::PerCpu, Pin::Auto).unwrap().announce());
    for word in ["INFO", "shards=3", "source=affinity mask", "pinned=true", "throttled=false", "cpus=1-2,5"] {
        assert!(log.contains(word), "{log:?} lacks {word:?}");
    }
}

/// What `f` logs on this thread: a line for each event.
fn logged(f: impl FnOnce()) -> String {
    let log = Log::default();
    tracing::subscriber::with_default(log.clone(), f);
    let text = log.0.lock().unwrap();
    text.clone()
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<String>>);

impl Subscriber for Log {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn event(&self, event: &Event<'_>) {
        struct Line<'a>(&'a mut String);
        impl Visit for Line<'_> {
            fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
                write!(self.0, " {field}={value:?}").unwrap();
            }
        }

        let mut text = self.0.lock().unwrap();
        write!(text, "{}", event.metadata().level()).unwrap();
        event.record(&mut Line(&mut text));
        text.push('\n');
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}
