//! Claims: one live run on an issue, whoever asks, however many at once.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use symphony_core::agent::AgentType;
use symphony_core::id::{PhaseName, RunId};
use symphony_core::issue::{IssueEvent, IssueStatus};
use symphony_core::run::{RunStatus, RunTarget};
use symphony_store::{
    ClaimLimits, ClaimRefusal, ClaimRequest, IssueEdit, IssueFilter, Store, StoreError,
};

use crate::support::{
    add, add_project, at, by, finish, human, project, request, store, system, try_claim, worker,
};

#[test]
fn a_claim_moves_the_issue_and_numbers_the_run() {
    let mut store = store();
    let (a, b) = (add(&mut store, "a"), add(&mut store, "b"));
    let (first, second) = (
        worker(&mut store, "r1", &a.id),
        worker(&mut store, "r2", &b.id),
    );
    assert_eq!(first.status, RunStatus::Starting);
    assert!(second.fence > first.fence);
    assert_eq!(
        store.issue(&a.id).unwrap().state.status(),
        IssueStatus::InProgress
    );
}

#[test]
fn a_second_claim_names_the_first_run() {
    let mut store = store();
    let issue = add(&mut store, "a");
    let run = worker(&mut store, "r1", &issue.id);
    let refusal = try_claim(
        &mut store,
        "r2",
        RunTarget::Issue(issue.id),
        AgentType::Worker,
    )
    .unwrap_err();
    assert_eq!(refusal, ClaimRefusal::AlreadyRunning(run.id));
}

#[test]
fn slots_are_counted_in_the_transaction() {
    let mut store = store();
    let issues: Vec<_> = (0..3).map(|i| add(&mut store, &format!("i{i}"))).collect();
    // a claim that finds its own run is granted again, so each has runs of its own
    let mut round = 0;
    let mut requests = || -> Vec<ClaimRequest> {
        round += 1;
        let targets = issues
            .iter()
            .map(|issue| RunTarget::Issue(issue.id.clone()));
        let named = targets
            .enumerate()
            .map(|(at, target)| request(&format!("r{round}-{at}"), target, AgentType::Worker));
        named.collect()
    };
    let mut granted = |limits: &ClaimLimits| -> Vec<bool> {
        let outcome = store.claim(&system(2), &requests(), limits).unwrap();
        outcome.iter().map(Result::is_ok).collect()
    };
    let four = ClaimLimits::total(4);
    let mut of_project = four.clone();
    of_project.by_project = [(project(), 1)].into();
    assert_eq!(granted(&of_project), [true, false, false]);
    let mut of_agent = four.clone();
    of_agent.slots.by_agent = [(AgentType::Worker, 1), (AgentType::Judge, 4)].into();
    assert_eq!(granted(&of_agent), [false, false, false]);
    assert_eq!(granted(&ClaimLimits::total(2)), [false, true, false]);
    let outcome = store.claim(&system(2), &requests(), &four).unwrap();
    let refused: Vec<_> = outcome
        .iter()
        .map(|claim| claim.as_ref().err().cloned())
        .collect();
    let running = |run: &str| Some(ClaimRefusal::AlreadyRunning(RunId::parse(run).unwrap()));
    assert_eq!(refused, [running("r1-0"), running("r3-1"), None]);
    let outcome = store
        .claim(&system(2), &requests()[2..], &ClaimLimits::total(3))
        .unwrap();
    assert_eq!(outcome[0].as_ref().unwrap_err(), &ClaimRefusal::NoSlot);
}

#[test]
fn the_write_of_a_run_that_is_over_is_refused() {
    let mut store = store();
    let issue = add(&mut store, "a");
    let run = worker(&mut store, "r1", &issue.id);
    store
        .finish_run(&system(3), &finish(&run, RunStatus::Succeeded, None))
        .unwrap();
    let error = store
        .add_comment(&by(&run, 4), &issue.id, "late")
        .unwrap_err();
    assert!(matches!(error, StoreError::Superseded { .. }), "{error}");
    store
        .add_comment(&by(&run, 5), &issue.id, "again")
        .unwrap_err();
    assert_eq!(store.comments(&issue.id, 5).unwrap(), []);
    let log = store.events_of_issue(&issue.id).unwrap();
    let refused: Vec<_> = log.iter().filter(|e| e.kind == "write_refused").collect();
    assert_eq!(refused.len(), 1);
    assert_eq!(
        (refused[0].run.as_ref(), refused[0].at),
        (Some(&run.id), at(4))
    );
}

/// Names the database of a parent test to the process it starts.
const DATABASE: &str = "SYMPHONY_TEST_CLAIMS_IN";
const ISSUES: usize = 20;

fn database(folder: &Path) -> (PathBuf, Store) {
    let path = folder.join("symphony.db");
    let mut store = Store::open(&path).unwrap();
    add_project(&mut store);
    for i in 0..ISSUES {
        add(&mut store, &format!("i{i}"));
    }
    (path, store)
}

/// Tries to claim every issue for runs with this name, and returns how many it got.
fn claim_all(path: &Path, name: &str) -> usize {
    let mut store = Store::open(path).unwrap();
    let issues = store.list_issues(&IssueFilter::default()).unwrap().items;
    let claimed = issues.iter().enumerate().filter(|(i, issue)| {
        let target = RunTarget::Issue(issue.id.clone());
        let wanted = request(&format!("r{name}-{i}"), target, AgentType::Worker);
        let granted = store
            .claim(&system(2), &[wanted], &ClaimLimits::total(1_000))
            .unwrap()
            .remove(0);
        granted.is_ok()
    });
    claimed.count()
}

/// Alone it claims on a database of its own; started by the test below, on that of its parent.
#[test]
fn a_process_alone_claims_every_issue() {
    if let Some(path) = std::env::var_os(DATABASE) {
        let name = std::process::id().to_string();
        println!("claimed={}", claim_all(Path::new(&path), &name));
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (path, _store) = database(folder.path());
    assert_eq!(
        (claim_all(&path, "one"), claim_all(&path, "two")),
        (ISSUES, 0)
    );
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the test starts itself: SQLite's locks between processes are what it is about"
)]
fn many_processes_claim_each_issue_once() {
    let folder = tempfile::tempdir().unwrap();
    let (path, store) = database(folder.path());
    let claimers: Vec<_> = (0..8)
        .map(|_| {
            Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "claims::a_process_alone_claims_every_issue"])
                .arg("--nocapture")
                .env(DATABASE, &path)
                .stdout(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    let total: usize = claimers
        .into_iter()
        .map(|claimer| {
            let output = claimer.wait_with_output().unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            let count = text.lines().find_map(|line| line.split_once("claimed="));
            count.unwrap().1.parse::<usize>().unwrap()
        })
        .sum();
    assert_eq!(total, ISSUES);
    assert_eq!(store.live_runs().unwrap().len(), ISSUES);
}

#[test]
fn a_dependency_that_came_after_the_plan_is_waited_for() {
    let mut store = store();
    let (first, second) = (add(&mut store, "first"), add(&mut store, "second"));
    let edit = IssueEdit {
        depends_on: Some(vec![first.id]),
        ..IssueEdit::default()
    };
    store.edit_issue(&human(2), &second.id, &edit).unwrap();
    let target = RunTarget::Issue(second.id);
    let refusal = try_claim(&mut store, "r1", target, AgentType::Worker).unwrap_err();
    assert_eq!(refusal, ClaimRefusal::WaitsFor(1));
    assert_eq!(refusal.to_string(), "it now waits for another issue");
}

#[test]
fn a_run_on_an_issue_that_ends_is_asked_to_end() {
    let mut store = store();
    let issue = add(&mut store, "one");
    let run = worker(&mut store, "r1", &issue.id);
    assert!(!store.cancel_requested(&run.id).unwrap());
    store
        .move_issue(&human(3), &issue.id, &IssueEvent::Cancelled)
        .unwrap();
    assert!(store.cancel_requested(&run.id).unwrap());
}

#[test]
fn a_phase_that_changed_after_the_plan_is_planned_anew() {
    let in_research = "the issue is in the phase `research` now";
    let table = [
        (Some("research"), None, in_research),
        (Some("research"), Some("grooming"), in_research),
        (None, Some("grooming"), "the issue has no phase label now"),
        (Some("research"), Some("research"), "started"),
        (None, None, "started"),
    ];
    for (label, planned, expected) in table {
        let mut store = store();
        let issue = add(&mut store, "one").id;
        let edit = IssueEdit {
            labels: Some(
                label
                    .map(|name| format!("phase:{name}"))
                    .into_iter()
                    .collect(),
            ),
            ..IssueEdit::default()
        };
        store.edit_issue(&human(2), &issue, &edit).unwrap();
        let mut request = request("r1", RunTarget::Issue(issue), AgentType::Worker);
        request.start.phase = planned.map(|name| PhaseName::parse(name).unwrap());
        let claimed = store
            .claim(&system(3), &[request], &ClaimLimits::total(8))
            .unwrap()
            .remove(0);
        let told = claimed.map_or_else(|refusal| refusal.to_string(), |_| "started".to_owned());
        assert_eq!(told, expected, "{label:?} {planned:?}");
    }
}
