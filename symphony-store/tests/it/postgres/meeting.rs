//! Runs that write at the same moments: how many of their writes begin again because another one came between.

use std::sync::atomic::{AtomicBool, Ordering};

use symphony_core::Timestamp;
use symphony_core::agent::AgentType;
use symphony_core::run::{Run, RunStatus, RunTarget, Usage};
use symphony_core::spending::Spent;
use symphony_core::unit::{Tokens, UsdMicros};
use symphony_store::{Appended, ClaimLimits, ClaimRequest, RunProgress, RunStart, Store};

use super::new_store;
use super::server::Server;
use crate::support::{add, by, finish, project, request, system};

const RUNS: u64 = 16;
/// Each run's progress: 2,000 writes in all.
const WRITES: u64 = 125;
/// How many of a hundred writes may begin again. It was every fifth while all of them met in one row of the project.
const REPEATED_PERCENT_MAX: u64 = 5;
/// How many of a hundred pieces of logs may begin again. It was 23 while they met in a page of an index.
const LOGS_REPEATED_PERCENT_MAX: u64 = 1;
/// How often writes may begin again while two claims of 16 runs each are made and others start.
const CLAIMS_REPEATED_MAX: u64 = 2;
/// How often each run that starts records something at most, while the claims are made.
const PROGRESS_MAX: u64 = 10_000;
/// How often a write of runs that end may begin again on average. It was more than three times before one that failed waited for the
/// others that did.
const ENDS_REPEATED_MAX: u64 = 2;

/// How often a claim of 16 runs begins at most while others end: it is alone after four failures, unless waiting for them takes too long.
/// It was up to 24 times before.
const CLAIM_TRIES_MAX: u64 = 10;

fn usage(tokens: u64) -> Usage {
    Usage {
        input_tokens: Tokens::new(tokens),
        cost: Some(UsdMicros::new(2 * tokens)),
        ..Usage::default()
    }
}

/// What claims a run on a new issue.
fn claim_of(store: &mut Store, n: u64) -> ClaimRequest {
    let issue = add(store, &format!("issue {n}")).id;
    let target = RunTarget::Issue(issue.clone());
    let mut request = request(&format!("run-{n}"), target, AgentType::Worker);
    request.start.phase = store.issue(&issue).unwrap().phase();
    request
}

/// Runs on issues of their own.
pub(super) fn claimed(store: &mut Store, count: u64) -> Vec<Run> {
    let run = |n| {
        let request = claim_of(store, n);
        let limits = ClaimLimits::total(1_000);
        let mut claims = store.claim(&system(2), &[request], &limits).unwrap();
        claims.remove(0).unwrap()
    };
    (0..count).map(run).collect()
}

/// How many transactions were undone in all sessions, once all but the store's have ended.
fn rolled_back(server: &Server) -> u64 {
    let others = "SELECT count(*) FROM pg_stat_activity WHERE datname = 'postgres' AND pid <> pg_backend_pid()";
    server.wait_for(others, "1");
    let sql = "SELECT xact_rollback FROM pg_stat_database WHERE datname = 'postgres'";
    server.ask(sql).trim().parse().unwrap()
}

#[test]
fn runs_that_spend_at_the_same_moment_do_not_wait_for_each_other() {
    let Some(server) = Server::start("-c max_connections=100 ") else {
        return;
    };
    let address = server.address();
    let (mut store, schema) = new_store(&address);
    let runs = claimed(&mut store, RUNS);
    let before = rolled_back(&server);
    std::thread::scope(|scope| {
        for run in &runs {
            let (address, schema) = (&address, &schema);
            scope.spawn(move || {
                let mut store = Store::connect(address, schema).unwrap();
                for n in 1..=WRITES {
                    let progress = RunProgress {
                        last_event: "[text] at work".into(),
                        usage: usage(n),
                    };
                    store
                        .record_progress(&by(run, 5), &run.id, &progress)
                        .unwrap();
                }
            });
        }
    });
    let repeated = rolled_back(&server) - before;
    println!("{repeated} of {} writes began again", RUNS * WRITES);
    let spent = |tokens| Spent {
        tokens: Tokens::new(tokens),
        usd: UsdMicros::new(2 * tokens),
    };
    let now = Timestamp::from_second(5).unwrap();
    let all = |store: &Store| store.spent_in_all(&project(), now).unwrap();
    assert_eq!(all(&store), spent(RUNS * WRITES), "while they live");
    for run in &runs {
        store
            .finish_run(&by(run, 6), &finish(run, RunStatus::Failed, None))
            .unwrap();
    }
    assert_eq!(
        all(&store),
        spent(RUNS * WRITES),
        "and when they have ended"
    );
    let limit = RUNS * WRITES * REPEATED_PERCENT_MAX / 100;
    assert!(repeated <= limit, "{repeated} writes began again");
}

#[test]
fn runs_that_end_at_the_same_moment_do_not_begin_again_and_again() {
    let Some(server) = Server::start("-c max_connections=100 ") else {
        return;
    };
    let address = server.address();
    let (mut store, schema) = new_store(&address);
    let runs = claimed(&mut store, 10 * RUNS);
    let before = rolled_back(&server);
    std::thread::scope(|scope| {
        for some in runs.chunks(10) {
            let (address, schema) = (&address, &schema);
            scope.spawn(move || {
                let mut store = Store::connect(address, schema).unwrap();
                for run in some {
                    let progress = RunProgress {
                        last_event: "[text] at work".into(),
                        usage: usage(10),
                    };
                    let context = by(run, 5);
                    store.record_progress(&context, &run.id, &progress).unwrap();
                    let end = finish(run, RunStatus::Failed, None);
                    store.finish_run(&by(run, 6), &end).unwrap();
                }
            });
        }
    });
    let repeated = rolled_back(&server) - before;
    let writes = 2 * runs.len() as u64;
    println!("{repeated} of {writes} writes began again");
    let limit = writes * ENDS_REPEATED_MAX;
    assert!(repeated <= limit, "{repeated} writes began again");
}

#[test]
fn logs_that_grow_at_the_same_moment_do_not_wait_for_each_other() {
    let Some(server) = Server::start("-c max_connections=100 ") else {
        return;
    };
    let address = server.address();
    let (mut store, schema) = new_store(&address);
    let runs = claimed(&mut store, RUNS);
    let before = rolled_back(&server);
    std::thread::scope(|scope| {
        for run in &runs {
            let (address, schema) = (&address, &schema);
            scope.spawn(move || {
                let mut store = Store::connect(address, schema).unwrap();
                for n in 0..WRITES {
                    let stored = store
                        .append_run_log(&run.id, run.fence, 5 * n, b"text\n")
                        .unwrap();
                    assert_eq!(stored, Appended::Stored { next: 5 * (n + 1) });
                }
            });
        }
    });
    let repeated = rolled_back(&server) - before;
    println!("{repeated} of {} pieces began again", RUNS * WRITES);
    for run in &runs {
        let pieces = store.run_log(&run.id, 0, 1_000).unwrap();
        assert_eq!(pieces.len() as u64, WRITES);
    }
    let limit = RUNS * WRITES * LOGS_REPEATED_PERCENT_MAX / 100;
    assert!(repeated <= limit, "{repeated} pieces began again");
}

#[test]
fn runs_that_start_do_not_keep_a_claim_from_its_turn() {
    let Some(server) = Server::start("-c max_connections=100 ") else {
        return;
    };
    let address = server.address();
    let (mut store, schema) = new_store(&address);
    let runs = claimed(&mut store, RUNS);
    let next = (RUNS..3 * RUNS).map(|n| claim_of(&mut store, n));
    let next: Vec<ClaimRequest> = next.collect();
    let before = rolled_back(&server);
    let is_claimed = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for run in &runs {
            let (address, schema, is_claimed) = (&address, &schema, &is_claimed);
            scope.spawn(move || {
                let mut store = Store::connect(address, schema).unwrap();
                let mut n = 0;
                while !is_claimed.load(Ordering::SeqCst) && n < PROGRESS_MAX {
                    n += 1;
                    let context = by(run, 5);
                    let start = RunStart::default();
                    store.record_start(&context, &run.id, &start).unwrap();
                    let progress = RunProgress {
                        last_event: "[text] at work".into(),
                        usage: usage(n),
                    };
                    store.record_progress(&context, &run.id, &progress).unwrap();
                }
            });
        }
        let claims = next
            .chunks(16)
            .map(|requests| store.claim(&system(2), requests, &ClaimLimits::total(1_000)));
        let claims: Vec<_> = claims.collect();
        is_claimed.store(true, Ordering::SeqCst);
        for claims in claims {
            assert!(claims.unwrap().iter().all(Result::is_ok));
        }
    });
    let repeated = rolled_back(&server) - before;
    println!("{repeated} writes began again");
    assert!(repeated <= CLAIMS_REPEATED_MAX, "{repeated} began again");
}

#[test]
fn runs_that_end_do_not_keep_a_claim_from_its_turn() {
    let Some(server) = Server::start("-c max_connections=100 ") else {
        return;
    };
    let address = server.address();
    let (mut store, schema) = new_store(&address);
    let runs = claimed(&mut store, 20 * RUNS);
    let next: Vec<ClaimRequest> = (0..4 * RUNS)
        .map(|n| claim_of(&mut store, 20 * RUNS + n))
        .collect();
    let newest = format!("SELECT id FROM {schema}.engine_session ORDER BY at DESC LIMIT 1");
    let session = server.ask(&newest).trim().to_owned();
    let begun = || -> u64 {
        let begun = format!("SELECT write FROM {schema}.engine_session WHERE id = '{session}'");
        server.ask(&begun).trim().parse().unwrap()
    };
    std::thread::scope(|scope| {
        for some in runs.chunks(20) {
            let (address, schema) = (&address, &schema);
            scope.spawn(move || {
                let mut store = Store::connect(address, schema).unwrap();
                for run in some {
                    let end = finish(run, RunStatus::Failed, None);
                    store.finish_run(&by(run, 6), &end).unwrap();
                }
            });
        }
        for requests in next.chunks(16) {
            let before = begun();
            let claims = store.claim(&system(2), requests, &ClaimLimits::total(1_000));
            assert!(claims.unwrap().iter().all(Result::is_ok));
            let tries = begun() - before;
            println!("a claim of {} runs was begun {tries} times", requests.len());
            assert!(tries <= CLAIM_TRIES_MAX, "{tries} times");
        }
    });
}
