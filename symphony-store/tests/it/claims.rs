//! Claims: one live run on an issue, whoever asks, however many at once.

use symphony_core::agent::AgentType;
use symphony_core::issue::IssueStatus;
use symphony_core::run::{RunStatus, RunTarget};
use symphony_store::{ClaimRefusal, Store, StoreError};

use crate::support::{add, add_project, by, finish, request, store, system, try_claim, worker};

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
    let requests: Vec<_> = issues
        .iter()
        .enumerate()
        .map(|(i, issue)| {
            request(
                &format!("r{i}"),
                RunTarget::Issue(issue.id.clone()),
                AgentType::Worker,
            )
        })
        .collect();
    let outcome = store.claim(&system(2), &requests, 2).unwrap();
    assert!(outcome[0].is_ok() && outcome[1].is_ok());
    assert_eq!(outcome[2].as_ref().unwrap_err(), &ClaimRefusal::NoSlot);
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
    assert_eq!(store.comments(&issue.id, 5).unwrap(), []);
}

#[test]
fn many_processes_claim_each_issue_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("symphony.db");
    let mut store = Store::open(&path).unwrap();
    add_project(&mut store);
    let issues: Vec<_> = (0..20)
        .map(|i| add(&mut store, &format!("i{i}")).id)
        .collect();
    let claimers: Vec<_> = (0..8)
        .map(|n| {
            let (path, issues) = (path.clone(), issues.clone());
            std::thread::spawn(move || {
                let mut store = Store::open(&path).unwrap();
                let claimed = issues.iter().enumerate().filter(|(i, issue)| {
                    let target = RunTarget::Issue((*issue).clone());
                    let wanted = request(&format!("r{n}-{i}"), target, AgentType::Worker);
                    store
                        .claim(&system(2), &[wanted], 1_000)
                        .unwrap()
                        .remove(0)
                        .is_ok()
                });
                claimed.count()
            })
        })
        .collect();
    let total: usize = claimers
        .into_iter()
        .map(|thread| thread.join().unwrap())
        .sum();
    assert_eq!(total, issues.len());
    assert_eq!(store.live_runs().unwrap().len(), issues.len());
}
