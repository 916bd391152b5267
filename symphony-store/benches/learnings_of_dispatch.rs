//! The learnings of a dispatch out of 100,000, beside the process start of `node -e 0`, in turn in the same run.
//!
//! `cargo bench -p symphony-store -- [COUNT]`. What is timed opens the database anew each time, as a supervisor does.
//! Equality comes first: what is streamed must be what ranking the loaded records gives.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a benchmark reads clocks and arguments, starts its peer, and prints"
)]

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use symphony_core::Timestamp;
use symphony_core::id::{LearningId, ProjectId};
use symphony_core::issue::CommentAuthor;
use symphony_core::learning::{Learning, LearningState, LearningType};
use symphony_learning::{Options, Subject, rank_best};
use symphony_store::{Context, LearningFilter, LearningRecord, NewProject, Store};

/// Rounds of each; the shortest counts, because what else the machine does only adds.
const ROUNDS: usize = 15;
const COUNT: u64 = 100_000;
const WORDS: &[&str] = &[
    "always",
    "never",
    "run",
    "the",
    "tests",
    "before",
    "pushing",
    "cache",
    "database",
    "migration",
    "parser",
    "timeout",
    "retry",
    "in",
    "src",
    "module",
    "build",
    "fails",
    "when",
    "locale",
    "is",
    "unset",
    "use",
    "pnpm",
    "instead",
    "of",
    "npm",
    "fixtures",
    "must",
    "be",
    "sorted",
    "because",
    "order",
    "matters",
    "docker",
    "image",
    "needs",
    "network",
    "flaky",
    "on",
    "slow",
    "machines",
    "check",
    "exit",
    "code",
];

/// A generator with a fixed seed (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((x ^ (x >> 31)) % limit as u64).unwrap()
    }

    fn words(&mut self, from: usize, to: usize) -> String {
        let count = from + self.below(to - from);
        let words: Vec<&str> = (0..count).map(|_| WORDS[self.below(WORDS.len())]).collect();
        words.join(" ")
    }
}

fn now() -> Timestamp {
    "2026-06-01T00:00:00Z".parse().unwrap()
}

fn record(number: u64, random: &mut Random, project: &ProjectId) -> LearningRecord {
    let kinds = [
        None,
        Some(LearningType::Convention),
        Some(LearningType::Pattern),
        Some(LearningType::Gotcha),
    ];
    let age = i64::try_from(random.below(180 * 86_400)).unwrap();
    LearningRecord {
        learning: Learning {
            id: LearningId::parse(format!("0199aaaa-0000-7000-8000-{number:012x}")).unwrap(),
            pattern: format!("{} (case {})", random.words(8, 24), random.below(40_000)),
            learning_type: kinds[random.below(kinds.len())],
            applies_to: (0..random.below(3))
                .map(|_| format!("src/{}.rs", WORDS[random.below(WORDS.len())]))
                .collect(),
            labels: (0..random.below(4))
                .map(|_| WORDS[random.below(WORDS.len())].to_owned())
                .collect(),
            created_at: Timestamp::from_second(now().as_second() - age).unwrap(),
        },
        project: project.clone(),
        issue: None,
        run: None,
        commit: None,
        author: CommentAuthor::Human,
        state: LearningState::Accepted,
        sources: vec![],
    }
}

fn fill(path: &Path, count: u64, project: &ProjectId) {
    let mut store = Store::open(path).unwrap();
    let new = NewProject {
        id: project.clone(),
        name: "Demo".into(),
        root: "/demo".into(),
        prefix: "DEM".into(),
    };
    store.add_project(&Context::human(now()), &new).unwrap();
    let mut random = Random(7);
    let records: Vec<LearningRecord> = (0..count)
        .map(|number| record(number, &mut random, project))
        .collect();
    let imported = store
        .import_learnings(&Context::human(now()), project, &records)
        .unwrap();
    assert_eq!(imported.added, count);
}

fn subject() -> Subject {
    let description = "The parser in src/parser.rs gives up when the database is slow.\nSee also src/cache.rs and the retry of the migration.";
    Subject::issue(
        "Parser fails on a timeout of the database",
        description,
        &["database", "parser", "build"],
    )
}

fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let value = work();
    (start.elapsed(), value)
}

/// Returns the nanoseconds this thread ran, waiting for others left out. Yielding brings the count up to date.
fn ran() -> Option<u64> {
    std::thread::yield_now();
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok()
}

fn milliseconds(times: &mut [Duration]) -> (f64, f64) {
    times.sort_unstable();
    (
        times[0].as_secs_f64() * 1e3,
        times[times.len() / 2].as_secs_f64() * 1e3,
    )
}

fn main() {
    let count = std::env::args()
        .skip(1)
        .find_map(|argument| argument.parse().ok())
        .unwrap_or(COUNT);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("symphony.db");
    let project = ProjectId::parse("demo").unwrap();
    fill(&path, count, &project);
    let subject = subject();

    let mut store = Store::open_existing(&path).unwrap();
    let streamed = store
        .best_learnings(&project, None, &subject, now(), Options::default())
        .unwrap();
    let records = store.learnings(&LearningFilter::default()).unwrap();
    let learnings: Vec<Learning> = records.into_iter().map(|record| record.learning).collect();
    let loaded = rank_best(&learnings, &subject, now(), Options::default()).unwrap();
    let ids: Vec<&LearningId> = loaded
        .conventions
        .iter()
        .chain(&loaded.tactical)
        .map(|hit| &learnings[hit.index].id)
        .collect();
    assert_eq!(streamed.ids().iter().collect::<Vec<_>>(), ids);
    drop(store);

    let (mut dispatch, mut own, mut node) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let before = ran();
        let (time, best) = timed(|| {
            let mut store = Store::open_existing(&path).unwrap();
            store
                .best_learnings(&project, None, &subject, now(), Options::default())
                .unwrap()
        });
        assert_eq!(best, streamed);
        if let (Some(before), Some(after)) = (before, ran()) {
            own.push(Duration::from_nanos(after - before));
        }
        dispatch.push(time);
        let (time, status) = timed(|| Command::new("node").args(["-e", "0"]).status());
        match status {
            Ok(status) if status.success() => node.push(time),
            other => {
                println!("the peer `node -e 0` could not be measured: {other:?}");
                std::process::exit(1);
            }
        }
    }
    let size = std::fs::metadata(&path).unwrap().len() / (1 << 20);
    let ((best, median), (peer, peer_median)) =
        (milliseconds(&mut dispatch), milliseconds(&mut node));
    println!(
        "{count} learnings, database of {size} MiB, {} given",
        streamed.ids().len()
    );
    println!("{:<28} {:>10} {:>10}", "", "best ms", "median ms");
    println!(
        "{:<28} {best:>10.2} {median:>10.2}",
        "learnings of a dispatch"
    );
    if !own.is_empty() {
        let (best, median) = milliseconds(&mut own);
        println!("{:<28} {best:>10.2} {median:>10.2}", "  of which it ran");
    }
    println!("{:<28} {peer:>10.2} {peer_median:>10.2}", "node -e 0");
    println!(
        "{:<28} {:>10.3} {:>10.3}",
        "ratio (goal < 1)",
        best / peer,
        median / peer_median
    );
}
