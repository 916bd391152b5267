//! The control's side: what it may claim, what it sees of runs of other hosts, and how it ends one.

use symphony_core::agent::AgentType;
use symphony_core::failure::ErrorClass;
use symphony_core::issue::{AttemptCounts, IssueEvent, IssueStatus};
use symphony_core::placement::{Lease, Liveness, Staff, Whereabouts};
use symphony_core::run::{Run, RunStatus, RunTarget};
use symphony_store::{ClaimLimits, ClaimRefusal, Store, StoreError, Unpromoted, Worker};

use super::shared::Shared;
use super::{host, pool, pools, queued, with_one};
use crate::queries::snapshot_request;
use crate::support::{add, assert_sound, at, finish, human, project, request, system, worker};

/// Takes the only live run away from its host, as a control does.
fn taken_back(store: &mut Store, run: &Run) -> Run {
    let fence = store
        .take_back(&run.id, run.fence, &host("control.c"), Lease::default())
        .unwrap()
        .unwrap();
    assert!(fence > run.fence);
    assert!(!store.is_withdrawn(&run.id).unwrap());
    store.run(&run.id).unwrap()
}

#[test]
fn an_end_under_a_fence_that_is_not_the_runs_is_refused() {
    let (shared, mut store, run) = with_one();
    store.take(&pool(), &host("h1")).unwrap().unwrap();
    shared.age(300_000);
    let taken = taken_back(&mut store, &run);
    for status in [RunStatus::Succeeded, RunStatus::Crashed] {
        let late = store.finish_run(&system(5), &finish(&run, status, None));
        let error = late.unwrap_err();
        assert!(matches!(error, StoreError::Superseded { .. }), "{error:?}");
    }
    assert!(store.run(&run.id).unwrap().status.is_live());
    let lost = finish(&taken, RunStatus::Crashed, Some(ErrorClass::HostLost));
    let ended = store.finish_run(&system(6), &lost).unwrap();
    assert_eq!(ended.run.status, RunStatus::Crashed);
    let issue = ended.issue.unwrap();
    assert_eq!(issue.state.status(), IssueStatus::Todo);
    assert_eq!(issue.counts, AttemptCounts::default(), "no attempt is used");
    assert_eq!(
        store.retries(None).unwrap(),
        [],
        "it is tried again at once"
    );
    // the end stays what it is, whoever repeats it
    let late = finish(&run, RunStatus::Succeeded, None);
    let repeated = store.finish_run(&system(7), &late).unwrap();
    assert_eq!(repeated.run.status, RunStatus::Crashed);
    assert_sound(&mut store);
}

#[test]
fn the_fifth_lost_host_in_a_row_blocks_the_issue() {
    let (shared, mut store, first) = with_one();
    let issue = first.target.issue().unwrap().clone();
    let mut run = first;
    for number in 1..=5 {
        store.take(&pool(), &host("h1")).unwrap().unwrap();
        shared.age(300_000);
        let taken = taken_back(&mut store, &run);
        let lost = finish(&taken, RunStatus::Crashed, Some(ErrorClass::HostLost));
        store.finish_run(&system(6), &lost).unwrap();
        let found = store.issue(&issue).unwrap();
        if number < 5 {
            assert_eq!(found.state.status(), IssueStatus::Todo, "{number}");
            // a pause takes the next one out of the pool, and says nothing about the hosts
            let paused = queued(&mut store, &format!("paused-{number}"), &issue);
            store.withdraw(&paused.id, &host("control.c")).unwrap();
            let withdrawn = finish(&paused, RunStatus::Cancelled, Some(ErrorClass::Cancelled));
            store.finish_run(&system(6), &withdrawn).unwrap();
            run = queued(&mut store, &format!("run-{number}"), &issue);
        } else {
            let block = found.state.block().unwrap();
            assert!(block.reason.starts_with("5 runs in a row"), "{block:?}");
            assert_eq!(found.counts, AttemptCounts::default());
        }
    }
    let comments = store.comments(&issue, 10).unwrap();
    let last = &comments.last().unwrap().content;
    assert!(last.contains("symphony runs list --issue"), "{last}");
    assert_sound(&mut store);
}

#[test]
fn a_pool_takes_no_slot_of_the_controls_host_but_those_of_project_and_agent() {
    let (_shared, mut store, _waiting) = with_one();
    let issues: Vec<_> = ["a", "b", "c", "d"]
        .map(|title| add(&mut store, title).id)
        .into();
    let here = ClaimLimits::total(1);
    let claim = |store: &mut Store, name: &str, on: usize, limits: &ClaimLimits| {
        let target = RunTarget::Issue(issues[on].clone());
        let requests = [request(name, target, AgentType::Worker)];
        let claims = store.claim_for_pools(&system(2), &requests, limits, &pools());
        claims.unwrap().remove(0)
    };
    // one waits in the pool already; the only slot of this host is free
    claim(&mut store, "two", 0, &here).unwrap();
    worker(&mut store, "here", &issues[1]);
    claim(&mut store, "three", 2, &here).unwrap();
    let mut limits = ClaimLimits::total(1);
    limits.by_project.insert(project(), 4);
    let refused = claim(&mut store, "four", 3, &limits).unwrap_err();
    assert_eq!(refused, ClaimRefusal::NoSlot);
    let mut limits = ClaimLimits::total(1);
    limits.slots.by_agent.insert(AgentType::Worker, 4);
    let refused = claim(&mut store, "four", 3, &limits).unwrap_err();
    assert_eq!(refused, ClaimRefusal::NoSlot);
    limits.slots.by_agent.insert(AgentType::Worker, 5);
    claim(&mut store, "four", 3, &limits).unwrap();
}

#[test]
fn a_snapshot_says_where_each_run_is_and_counts_workers_that_are_there() {
    let (shared, mut store, run) = with_one();
    let snapshot = |store: &mut Store| store.load_snapshot(snapshot_request(), at(9)).unwrap();
    let seen = |store: &mut Store, name: &str| {
        let worker = Worker {
            pool: pool(),
            host: host(name),
            version: 1,
            clock_ahead_ms: 0,
            unprepared: 0,
            slots: 24,
            folder: String::new(),
            fence_ms: 60_000,
        };
        store.worker_seen(&worker, Lease::default()).unwrap();
    };
    let found = snapshot(&mut store);
    let waiting = |workers| Whereabouts::Queued {
        pool: pool(),
        workers,
    };
    assert_eq!(found.live[0].whereabouts, waiting(0));
    seen(&mut store, "gone");
    shared.sql("UPDATE worker SET seen_at = seen_at - 100000");
    seen(&mut store, "h1");
    let found = snapshot(&mut store);
    assert_eq!(found.live[0].whereabouts, waiting(1));
    assert_eq!(
        found.staff.get(&pool()),
        Some(&Staff {
            workers: 1,
            slots: 24
        })
    );
    store.take(&pool(), &host("h1")).unwrap().unwrap();
    for (age, expected) in [
        (0, Liveness::Alive),
        (100_000, Liveness::Silent),
        (200_000, Liveness::Lost),
    ] {
        shared.age(age);
        let on = Whereabouts::Begun {
            pool: pool(),
            host: host("h1"),
            liveness: expected,
        };
        assert_eq!(snapshot(&mut store).live[0].whereabouts, on, "{age}");
    }
    assert_eq!(store.run(&run.id).unwrap().host, Some(host("h1")));
    // without pools no one asks for workers
    let (_shared, mut store, run) = with_one();
    seen(&mut store, "h1");
    super::ended(&mut store, &run);
    assert_eq!(snapshot(&mut store).staff.len(), 0);
}

#[test]
fn another_hosts_tick_waits_for_the_runs_of_this_host_only() {
    let (_shared, mut store, run) = with_one();
    let other_waits = |store: &mut Store| store.take_host(at(3), "second").unwrap();
    let had = store.take_host(at(3), "first").unwrap();
    assert_eq!(had, None, "no host had it");
    assert_eq!(
        other_waits(&mut store),
        None,
        "its beats show any host whether it lives"
    );
    store.take_host(at(3), "first").unwrap();
    let issue = add(&mut store, "Here").id;
    worker(&mut store, "here", &issue);
    let refused = other_waits(&mut store);
    let expected = std::env::var("SYMPHONY_TEST_DATABASE").is_ok() && cfg!(feature = "postgres");
    assert_eq!(refused.is_some(), expected, "a file is one host's");
    super::ended(&mut store, &run);
}

#[test]
fn a_person_opens_no_session_on_a_host_from_which_the_database_was_taken_over() {
    let shared = Shared::new();
    let mut first = shared.first();
    let issue = add(&mut first, "Here").id;
    first.take_host(at(3), "first").unwrap();
    shared.open().take_host(at(4), "second").unwrap();
    let target = RunTarget::Issue(issue.clone());
    let request = request("r1", target, AgentType::Worker);
    let taken = first.take_over(&human(5), &issue, &request);
    // a file is one host's
    let refusal = (std::env::var("SYMPHONY_TEST_DATABASE").is_ok() && cfg!(feature = "postgres"))
        .then(|| "another host has taken over the database (second)".to_owned());
    assert_eq!(taken.err().map(|error| error.to_string()), refusal);
    let live = first.run(&request.run).is_ok();
    assert_eq!(live, refusal.is_none());
}

#[test]
fn a_result_is_brought_in_once_by_the_commit_that_was_handed_in() {
    let (_shared, mut store, run) = with_one();
    let issue = run.target.issue().unwrap().clone();
    store.take(&pool(), &host("h1")).unwrap().unwrap();
    store.record_start_commit(&run.id, run.fence, "c0").unwrap();
    store
        .record_result_commit(&run.id, run.fence, "c2")
        .unwrap();
    let waiting = |store: &mut Store| store.unpromoted(&project()).unwrap();
    let in_snapshot = |store: &mut Store| {
        let mut request = snapshot_request();
        let view = request.projects.get_mut(&project()).unwrap();
        view.pool = Some(pool());
        store.load_snapshot(request, at(9)).unwrap().unpromoted
    };
    assert_eq!(waiting(&mut store), [], "its host may still bring more");
    let author = crate::support::by(&run, 5);
    store
        .create_pr(&author, &crate::support::new_pr(&issue, "c1"))
        .unwrap();
    super::ended(&mut store, &run);
    let expected = Unpromoted {
        run: run.id.clone(),
        issue: issue.clone(),
        start: Some("c0".into()),
        commit: "c1".into(),
    };
    assert_eq!(waiting(&mut store), std::slice::from_ref(&expected));
    let found = in_snapshot(&mut store);
    assert_eq!(found.get(&issue), Some(&run.id));
    // no one goes on with an issue that has ended
    store
        .move_issue(&human(10), &issue, &IssueEvent::Cancelled)
        .unwrap();
    assert_eq!(waiting(&mut store), []);
    assert_eq!(in_snapshot(&mut store).len(), 0);
    store
        .move_issue(&human(11), &issue, &IssueEvent::Reopened)
        .unwrap();
    assert_eq!(waiting(&mut store), [expected]);
    store.record_promotion(&run.id, "c1").unwrap();
    assert_eq!(waiting(&mut store), []);
    assert_eq!(in_snapshot(&mut store).len(), 0);
}
