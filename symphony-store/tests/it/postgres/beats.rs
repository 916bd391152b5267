//! Live runs of a large fleet: their beats are answered in time, and none of them is taken for dead.
//!
//! `SYMPHONY_TEST_BEATS` says how many runs beat for how many seconds, `10000x1800` for example. They have the times of a lease in production;
//! the few runs of each change have a tenth, so that a run that is forgotten is silent long before the end.

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use symphony_core::agent::AgentType;
use symphony_core::id::{ProjectId, RunId};
use symphony_core::placement::{Host, Lease, Pool};
use symphony_core::run::{Fence, Run, RunTarget, Usage};
use symphony_core::unit::Tokens;
use symphony_store::{Beat, ClaimLimits, ClaimRequest, NewProject, RunProgress, Store};

use super::new_store;
use super::server::Server;
use crate::support::{by, human, new_issue, request, system};

/// Runs of one project.
const RUNS_OF_PROJECT: usize = 100;
/// Runs that are claimed in one transaction.
const CLAIMS: usize = 16;
/// Sessions that beat. In a fleet each run has one of its own, or a pooler's.
const SESSIONS: usize = 32;
/// How long a beat may take, from the moment at which it is due, for 99 of a hundred.
const BEAT_MAX: Duration = Duration::from_secs(1);
/// Time between two looks of the control.
const LOOK: Duration = Duration::from_secs(1);

/// How many runs beat, for how long, and with which lease.
#[derive(Debug, Clone, Copy)]
struct Load {
    runs: usize,
    during: Duration,
    lease: Lease,
}

impl Load {
    fn asked() -> Self {
        let tenth = Lease::default().shortened(NonZeroU64::new(10).unwrap());
        let Ok(asked) = std::env::var("SYMPHONY_TEST_BEATS") else {
            return Self {
                runs: 1_000,
                during: Duration::from_secs(30),
                lease: tenth,
            };
        };
        let (runs, seconds) = asked.split_once('x').expect("RUNSxSECONDS");
        Self {
            runs: runs.parse().unwrap(),
            during: Duration::from_secs(seconds.parse().unwrap()),
            lease: Lease::default(),
        }
    }

    /// Returns when a run beats for the first time: the beats of all are spread evenly over the time between two of one.
    fn offset(&self, number: usize) -> Duration {
        let [number, runs] = [number, self.runs].map(|count| u32::try_from(count).unwrap());
        self.pause() * number / runs
    }

    /// Returns the time between two beats of a run.
    fn pause(&self) -> Duration {
        Duration::from_millis(self.lease.beat_ms())
    }
}

/// A live run on its host.
#[derive(Debug, Clone)]
struct LiveRun {
    number: usize,
    run: RunId,
    fence: Fence,
}

fn pool() -> Pool {
    Pool::parse("linux").unwrap()
}

/// Adds a project with as many runs that wait in the pool.
fn add_runs(store: &mut Store, number: usize, count: usize) {
    let id = ProjectId::parse(format!("p{number}")).unwrap();
    let prefix: String = format!("{number:03}")
        .bytes()
        .map(|digit| char::from(b'A' + digit - b'0'))
        .collect();
    let new = NewProject {
        id: id.clone(),
        name: format!("Project {number}"),
        root: format!("/p{number}").into(),
        prefix,
    };
    store.add_project(&human(0), &new).unwrap();
    let requests: Vec<ClaimRequest> = (0..count)
        .map(|issue| {
            let mut new = new_issue(&format!("issue {issue}"));
            new.project = id.clone();
            let issue = store.add_issue(&human(1), &new).unwrap();
            let target = RunTarget::Issue(issue.id.clone());
            let mut request = request(&format!("run-{}", issue.id), target, AgentType::Worker);
            request.start.project = id.clone();
            request.start.phase = issue.phase();
            request
        })
        .collect();
    let pools = BTreeMap::from([(id, pool())]);
    let limits = ClaimLimits::total(u32::MAX);
    for some in requests.chunks(CLAIMS) {
        let claims = store
            .claim_for_pools(&system(2), some, &limits, &pools)
            .unwrap();
        assert!(claims.iter().all(Result::is_ok), "{claims:?}");
    }
}

/// Takes runs for a host until none waits, and records what each has spent.
fn take_all(store: &mut Store, host: &Host) -> Vec<Run> {
    let mut taken = Vec::new();
    while let Some(run) = store.take(&pool(), host).unwrap() {
        let progress = RunProgress {
            last_event: "[text] at work".into(),
            usage: Usage {
                input_tokens: Tokens::new(1_000),
                ..Usage::default()
            },
        };
        store
            .record_progress(&by(&run, 3), &run.id, &progress)
            .unwrap();
        taken.push(run);
    }
    taken
}

/// Beats for some runs until it is over; returns how long each beat took from the moment at which it was due.
fn beat_for(store: &mut Store, runs: &[LiveRun], load: Load, begun: Instant) -> Vec<Duration> {
    let mut took = Vec::new();
    for round in 0.. {
        for live in runs {
            let due = load.offset(live.number) + load.pause() * round;
            if due >= load.during {
                return took;
            }
            std::thread::sleep(due.saturating_sub(begun.elapsed()));
            let beat = store.beat(&live.run, live.fence).unwrap();
            assert!(matches!(beat, Beat::Live { .. }), "{live:?}: {beat:?}");
            took.push(begun.elapsed().saturating_sub(due));
        }
    }
    took
}

/// Asks again and again for silent runs, as ticks do; returns those that were found, and how long the slowest question took.
fn look(store: &Store, lease: Lease, is_over: &AtomicBool) -> (Vec<String>, Duration) {
    let (mut found, mut slowest) = (Vec::new(), Duration::ZERO);
    while !is_over.load(Ordering::SeqCst) {
        let begun = Instant::now();
        let silent = store.silent(lease).unwrap();
        slowest = slowest.max(begun.elapsed());
        found.extend(silent.iter().map(|run| format!("{run:?}")));
        std::thread::sleep(LOOK);
    }
    (found, slowest)
}

fn percentile(sorted: &[Duration], hundredths: usize) -> Duration {
    sorted[(sorted.len() - 1) * hundredths / 100]
}

#[test]
fn beats_of_a_large_fleet_are_answered_in_time_and_no_run_is_taken_for_dead() {
    let Some(server) = Server::start("-c max_connections=100 -c fsync=on ") else {
        return;
    };
    let load = Load::asked();
    let address = server.address();
    let (mut store, schema) = new_store(&address);
    let prepared = Instant::now();
    for number in 0..load.runs.div_ceil(RUNS_OF_PROJECT) {
        let left = load.runs - number * RUNS_OF_PROJECT;
        add_runs(&mut store, number, left.min(RUNS_OF_PROJECT));
    }
    let taken: Vec<Run> = on_sessions(&address, &schema, |session, store| {
        take_all(store, &Host::parse(format!("host-{session}")).unwrap())
    })
    .concat();
    assert_eq!(taken.len(), load.runs);
    let lives: Vec<LiveRun> = taken
        .into_iter()
        .enumerate()
        .map(|(number, run)| LiveRun {
            number,
            run: run.id,
            fence: run.fence,
        })
        .collect();
    println!(
        "{} runs were begun in {:?}",
        lives.len(),
        prepared.elapsed()
    );
    // the first one, which each supervisor sends when it starts: to take all of them took a while
    on_sessions(&address, &schema, |session, store| {
        for live in lives.iter().skip(session).step_by(SESSIONS) {
            store.beat(&live.run, live.fence).unwrap();
        }
    });
    let (begun, is_over) = (Instant::now(), AtomicBool::new(false));
    let (mut took, (silent, slowest)) = std::thread::scope(|scope| {
        let watched = scope.spawn(|| {
            // to this thread: a session is not shared
            let store = store;
            look(&store, load.lease, &is_over)
        });
        let took = on_sessions(&address, &schema, |session, store| {
            let own: Vec<LiveRun> = lives
                .iter()
                .skip(session)
                .step_by(SESSIONS)
                .cloned()
                .collect();
            beat_for(store, &own, load, begun)
        });
        is_over.store(true, Ordering::SeqCst);
        (took.concat(), watched.join().unwrap())
    });
    took.sort_unstable();
    let [half, most, all] = [50, 99, 100].map(|part| percentile(&took, part));
    println!(
        "{} beats of {} runs in {:?}: half took {half:?}, 99 % {most:?}, all {all:?}; the slowest look for silent runs took {slowest:?}",
        took.len(),
        load.runs,
        begun.elapsed(),
    );
    assert_eq!(silent, Vec::<String>::new(), "taken for dead");
    assert!(most < BEAT_MAX, "99 % of the beats took {most:?}");
}

/// Does something on each of the sessions at once; returns what came of it.
fn on_sessions<T: Send>(
    address: &str,
    schema: &str,
    act: impl Fn(usize, &mut Store) -> T + Sync,
) -> Vec<T> {
    std::thread::scope(|scope| {
        let sessions: Vec<_> = (0..SESSIONS)
            .map(|session| {
                let act = &act;
                scope.spawn(move || act(session, &mut Store::connect(address, schema).unwrap()))
            })
            .collect();
        let joined = sessions.into_iter().map(|session| session.join().unwrap());
        joined.collect()
    })
}
