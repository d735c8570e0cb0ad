//! What is measured: rows, each with the subjects that it is run on.

mod asks;
mod callers;
mod latencies;
mod tells;

use std::time::Duration;

use actor_tokio::Spin;

pub use self::latencies::Latencies;
use self::{asks::Asks, callers::ManyCallers, latencies::Figure, tells::Tells};
use crate::{
    cpus::Pair,
    limits,
    options::Scale,
    subject::{Place, Subject},
    subjects::{Actix, Callers, Kameo, Ours, Ractor, TokioMpsc, Xtra},
};

/// One figure of one run.
pub struct Sample {
    pub row: String,
    pub unit: &'static str,
    pub value: f64,
}

impl Sample {
    fn nanos(row: impl Into<String>, value: f64) -> Self {
        Self { row: row.into(), unit: "ns", value }
    }
}

/// Subjects that take turns. `id` is what `--only` knows.
pub struct Row {
    pub id: &'static str,
    pub about: String,
    pub cases: Vec<Case>,
}

/// One subject at one workload.
pub struct Case {
    pub subject: &'static str,
    pub run: Box<Run>,
}

type Run = dyn Fn(&Pair, Scale) -> Vec<Sample>;

/// Something that every subject can be put through.
trait Workload: Clone + 'static {
    fn run<S: Subject>(&self, subject: &S, cpus: &Pair, scale: Scale) -> Vec<Sample>;
}

/// The peers' mailboxes, and ours beside them.
const MAILBOX: usize = 1024;
const LARGE_MAILBOX: usize = 16_384;
/// Longer than anybody spins.
const LONG_PAUSE: Duration = Duration::from_millis(1);
const SPARSE_PAUSE: Duration = Duration::from_micros(200);
const ALWAYS: Duration = Duration::from_micros(50);

/// All rows.
pub fn rows() -> Vec<Row> {
    use Figure::{CpuPerAsk, Mean, NeighbourShare, P50, P99};
    let tells = |name, place, mailbox| Tells { row: name, place, mailbox };
    let asks = |name, figures| Asks { row: name, figures, ..Asks::HOT };

    let w1_st = tells("W1 St tell", Place::Same, MAILBOX);
    let w1_x = tells("W1 X tell", Place::Across, MAILBOX);
    let w1_large = tells("W1 X tell, mailbox 16384", Place::Across, LARGE_MAILBOX);
    let w2_st = Asks { place: Place::Same, ..asks("W2 St ask", &[Mean]) };
    let w2_hot = asks("W2 X ask hot", &[P50, P99, CpuPerAsk]);
    let w2_sleeping = Asks { pause: Some(LONG_PAUSE), count: 300, ..asks("W2 X ask sleeping", &[P50, P99]) };
    let w2_sparse = Asks { pause: Some(SPARSE_PAUSE), count: 2_000, ..asks("W2 X ask sparse", &[P50, CpuPerAsk]) };
    let busy = Asks { busy: true, count: 5_000, ..asks("busy actors, ask", &[P50, P99]) };
    let near = &[P50, P99, CpuPerAsk, NeighbourShare];
    let near_hot = Asks { neighbour: true, ..asks("neighbour, ask hot", near) };
    let near_sparse = Asks { neighbour: true, ..Asks { row: "neighbour, ask sparse", figures: near, ..w2_sparse } };

    let across =
        |extra: Vec<Case>, ours: Vec<Case>, peers: Vec<Case>| [ours, peers, extra].into_iter().flatten().collect();
    vec![
        Row {
            id: "W1-St",
            about: "one tells one on its own thread; mailbox 1024".into(),
            cases: [vec![case("ours", OURS, w1_st)], peers(w1_st)].into_iter().flatten().collect(),
        },
        Row {
            id: "W1-X",
            about: "one tells one on another thread; mailbox and ring 1024".into(),
            cases: across(bare_tells(w1_x), policies(w1_x), peers(w1_x)),
        },
        Row {
            id: "W1-X-large",
            about: "the same with room for 16384, where it is bounded".into(),
            cases: across(
                bare_tells(w1_large),
                vec![case("ours", OURS, w1_large)],
                vec![
                    case("kameo", Kameo, w1_large),
                    case("xtra", Xtra, w1_large),
                    case("tokio mpsc", TokioMpsc, w1_large),
                ],
            ),
        },
        Row {
            id: "W2-St",
            about: "one asks one on its own thread".into(),
            cases: [vec![case("ours", OURS, w2_st)], peers(w2_st)].into_iter().flatten().collect(),
        },
        Row {
            id: "W2-X-hot",
            about: "one asks one on another thread, back to back".into(),
            cases: across(
                vec![
                    limit("cache line", |cpus, scale| {
                        vec![Sample::nanos("W2 X ask hot, p50", limits::cache_line(cpus, scale.of(1_000_000)))]
                    }),
                    limit("rtrb, both spin", move |cpus, scale| {
                        limits::rtrb_ask(cpus, scale.of(200_000)).samples(w2_hot.row, &[P50, P99])
                    }),
                    limit("crossbeam, threads", move |cpus, scale| {
                        limits::crossbeam_ask(cpus, scale.of(100_000)).samples(w2_hot.row, &[P50, P99])
                    }),
                ],
                policies(w2_hot),
                peers(w2_hot),
            ),
        },
        Row {
            id: "W2-X-sleeping",
            about: "one asks one on another thread, 1 ms after the last answer".into(),
            cases: across(
                vec![
                    limit("eventfd + epoll, bare", move |cpus, scale| {
                        limits::eventfd_wake(cpus, scale.of(300), w2_sleeping.pause)
                            .samples(w2_sleeping.row, w2_sleeping.figures)
                    }),
                    limit("park, bare", move |cpus, scale| {
                        limits::park_wake(cpus, scale.of(300), w2_sleeping.pause)
                            .samples(w2_sleeping.row, w2_sleeping.figures)
                    }),
                ],
                policies(w2_sleeping),
                peers(w2_sleeping),
            ),
        },
        Row {
            id: "W2-X-sparse",
            about: "one asks one on another thread, 200 µs after the last answer".into(),
            cases: across(
                vec![limit("the pause alone", move |cpus, scale| asks::pauses_alone(&w2_sparse, cpus, scale))],
                policies(w2_sparse),
                peers(w2_sparse),
            ),
        },
        Row {
            id: "W3-St",
            about: "64 ask one on their own thread, back to back".into(),
            cases: callers(ManyCallers { row: "W3 St 64 callers", place: Place::Same }),
        },
        Row {
            id: "W3-X",
            about: "64 ask one on another thread, back to back".into(),
            cases: callers(ManyCallers { row: "W3 X 64 callers", place: Place::Across }),
        },
        Row {
            id: "busy",
            about: "W2 X hot, beside an actor (a task) on each thread that works for 1 µs a poll and wakes itself"
                .into(),
            cases: across(vec![], policies(busy), peers(busy)),
        },
        Row {
            id: "wake",
            about: "two threads wake each other, back to back".into(),
            cases: vec![
                limit("eventfd + epoll, bare", |cpus, scale| {
                    limits::eventfd_wake(cpus, scale.of(20_000), None).samples("wake round trip", &[P50, P99])
                }),
                limit("park, bare", |cpus, scale| {
                    limits::park_wake(cpus, scale.of(20_000), None).samples("wake round trip", &[P50, P99])
                }),
            ],
        },
        Row {
            id: "neighbour-hot",
            about: "W2 X hot, with a thread that computes on the asked actor's CPU".into(),
            cases: across(vec![case("tokio mpsc", TokioMpsc, near_hot)], policies(near_hot), vec![]),
        },
        Row {
            id: "neighbour-sparse",
            about: "W2 X sparse, with a thread that computes on the asked actor's CPU".into(),
            cases: across(vec![case("tokio mpsc", TokioMpsc, near_sparse)], policies(near_sparse), vec![]),
        },
    ]
}

const OURS: Ours = Ours { spin: Spin::Auto, callers: Callers::Actors };

/// Ours, by what a shard does before it sleeps.
fn policies<W: Workload>(workload: W) -> Vec<Case> {
    vec![
        case("ours", OURS, workload.clone()),
        case("ours, no spin", Ours { spin: Spin::Off, ..OURS }, workload.clone()),
        case("ours, always spin", Ours { spin: Spin::Always(ALWAYS), ..OURS }, workload),
    ]
}

fn callers(workload: ManyCallers) -> Vec<Case> {
    let mut cases = policies(workload);
    cases.push(case("ours, tasks ask", Ours { callers: Callers::Tasks, ..OURS }, workload));
    cases.extend(peers(workload));
    cases
}

/// The frameworks, and what one writes without.
fn peers<W: Workload>(workload: W) -> Vec<Case> {
    vec![
        case("kameo", Kameo, workload.clone()),
        case("ractor", Ractor, workload.clone()),
        case("actix", Actix, workload.clone()),
        case("xtra", Xtra, workload.clone()),
        case("tokio mpsc", TokioMpsc, workload),
    ]
}

/// Queues without actors, as far as a message goes one way.
fn bare_tells(tells: Tells) -> Vec<Case> {
    let Tells { row, mailbox, .. } = tells;
    let sample = move |nanos| vec![Sample::nanos(row, nanos)];
    vec![
        limit("rtrb, both spin", move |cpus, scale| {
            sample(limits::rtrb_tell::<u64>(cpus, scale.of(4_000_000), mailbox))
        }),
        limit("rtrb of cache lines", move |cpus, scale| {
            sample(limits::rtrb_tell::<limits::Line>(cpus, scale.of(4_000_000), mailbox))
        }),
        limit("crossbeam, threads", move |cpus, scale| {
            sample(limits::crossbeam_tell(cpus, scale.of(2_000_000), mailbox))
        }),
    ]
}

fn case<S: Subject>(name: &'static str, subject: S, workload: impl Workload) -> Case {
    Case { subject: name, run: Box::new(move |cpus, scale| workload.run(&subject, cpus, scale)) }
}

fn limit(name: &'static str, run: impl Fn(&Pair, Scale) -> Vec<Sample> + 'static) -> Case {
    Case { subject: name, run: Box::new(run) }
}
