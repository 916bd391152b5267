//! The end of a run: counts, retries, the breaker, holds, gates.

use serde_json::json;
use symphony_core::failure::ErrorClass;
use symphony_core::issue::{CommentAuthor, IssueStatus};
use symphony_core::retry::RetryKind;
use symphony_core::run::RunStatus;
use symphony_core::tick::HoldScope;
use symphony_store::{ClaimLimits, NewHold};

use symphony_core::agent::AgentType;
use symphony_core::run::{Run, RunTarget, Usage};
use symphony_core::unit::Tokens;
use symphony_store::Store;

use crate::support::{add, at, finish, human, project, request, store, system, worker};

#[test]
fn a_failure_makes_an_appointment() {
    let mut store = store();
    let issue = add(&mut store, "a");
    let run = worker(&mut store, "r1", &issue.id);
    let end = finish(&run, RunStatus::TimedOut, Some(ErrorClass::TimedOut));
    let done = store.finish_run(&system(100), &end).unwrap();
    assert_eq!(done.run.status, RunStatus::TimedOut);
    let issue = done.issue.unwrap();
    assert_eq!(issue.state.status(), IssueStatus::Todo);
    assert_eq!(
        (issue.counts.consecutive_failures, issue.counts.total_runs),
        (1, 1)
    );
    let retry = &store.retries(None).unwrap()[0];
    assert_eq!(retry.kind, RetryKind::Backoff);
    let delay = retry.due_at.as_second() - at(100).as_second();
    assert!((9..=11).contains(&delay), "{delay}");
}

#[test]
fn ending_a_run_twice_does_no_harm() {
    let mut store = store();
    let issue = add(&mut store, "a");
    let run = worker(&mut store, "r1", &issue.id);
    let end = finish(&run, RunStatus::Failed, Some(ErrorClass::AgentFailed));
    let first = store.finish_run(&system(100), &end).unwrap();
    let second = store.finish_run(&system(200), &end).unwrap();
    assert_eq!(first.run, second.run);
    assert_eq!(second.issue.unwrap().counts.total_runs, 1);
}

#[test]
fn the_breaker_opens_with_one_notice() {
    let mut store = store();
    let issue = add(&mut store, "a");
    for i in 0..3 {
        let run = worker(&mut store, &format!("r{i}"), &issue.id);
        let mut end = finish(&run, RunStatus::Failed, Some(ErrorClass::AgentFailed));
        end.limits.max_retries = 3;
        store.finish_run(&system(100 * (i + 1)), &end).unwrap();
    }
    let issue = store.issue(&issue.id).unwrap();
    assert_eq!(issue.state.status(), IssueStatus::Backlog);
    let comments = store.comments(&issue.id, 10).unwrap();
    assert_eq!(comments.len(), 1);
    assert_eq!(comments[0].author, CommentAuthor::System);
    assert!(
        comments[0].content.contains("it went wrong"),
        "{}",
        comments[0].content
    );
    assert!(
        comments[0].content.ends_with("tail"),
        "{}",
        comments[0].content
    );
}

fn scope() -> HoldScope {
    HoldScope::Provider("scripted".into())
}

/// Ends a run that met an overloaded provider.
fn end_held(store: &mut Store, run: &Run, second: i64) {
    let mut end = finish(run, RunStatus::Failed, Some(ErrorClass::Overloaded));
    end.hold = Some(NewHold {
        tried: None,
        scope: scope(),
        class: ErrorClass::Overloaded,
        reason: "529".into(),
        until: None,
        first_ms: 60_000,
    });
    store.finish_run(&system(second), &end).unwrap();
}

/// Claims a run that probes the hold.
fn probe(store: &mut Store, name: &str, issue: &symphony_core::id::IssueId) -> Run {
    let mut wanted = request(name, RunTarget::Issue(issue.clone()), AgentType::Worker);
    wanted.start.probes = vec![scope()];
    store
        .claim(&system(2), &[wanted], &ClaimLimits::total(8))
        .unwrap()
        .remove(0)
        .unwrap()
}

fn seconds_left(store: &Store) -> i64 {
    store.holds().unwrap()[0].until.as_second() - at(0).as_second()
}

#[test]
fn a_hold_uses_no_attempt_and_grows_with_failed_probes() {
    let mut store = store();
    let issue = add(&mut store, "a");
    let run = worker(&mut store, "r0", &issue.id);
    end_held(&mut store, &run, 0);
    assert_eq!(seconds_left(&store), 60);
    for (i, expected) in [120, 240, 480, 900, 900].into_iter().enumerate() {
        let run = probe(&mut store, &format!("p{i}"), &issue.id);
        assert_eq!(store.holds().unwrap()[0].canary, Some(run.id.clone()));
        end_held(&mut store, &run, 0);
        assert_eq!(seconds_left(&store), expected);
        assert_eq!(store.holds().unwrap()[0].canary, None);
    }
    let issue = store.issue(&issue.id).unwrap();
    assert_eq!(
        (issue.state.status(), issue.counts.total_runs),
        (IssueStatus::Todo, 0)
    );
}

#[test]
fn runs_that_meet_a_standing_hold_are_no_probes() {
    let mut store = store();
    let issues: Vec<_> = (0..4).map(|i| add(&mut store, &format!("i{i}"))).collect();
    let runs: Vec<_> = issues
        .iter()
        .take(3)
        .enumerate()
        .map(|(i, issue)| worker(&mut store, &format!("r{i}"), &issue.id))
        .collect();
    end_held(&mut store, &runs[0], 0);
    end_held(&mut store, &runs[1], 5);
    assert_eq!(
        seconds_left(&store),
        60,
        "nothing waits any longer for a run that was at work already"
    );
    let canary = probe(&mut store, "p", &issues[3].id);
    end_held(&mut store, &runs[2], 30);
    let hold = &store.holds().unwrap()[0];
    assert_eq!((hold.canary.as_ref(), hold.probes), (Some(&canary.id), 0));
    store
        .finish_run(&system(31), &finish(&canary, RunStatus::Succeeded, None))
        .unwrap();
    assert_eq!(store.holds().unwrap(), []);
}

#[test]
fn a_probe_lifts_a_hold_only_when_its_provider_answered() {
    let used = |tokens| Usage {
        output_tokens: Tokens::new(tokens),
        ..Usage::default()
    };
    for (status, class, usage, lifted) in [
        (RunStatus::Succeeded, None, None, true),
        (
            RunStatus::Failed,
            Some(ErrorClass::AgentFailed),
            Some(used(9)),
            true,
        ),
        (
            RunStatus::TimedOut,
            Some(ErrorClass::TimedOut),
            Some(used(9)),
            true,
        ),
        (
            RunStatus::Failed,
            Some(ErrorClass::WorktreeFailed),
            None,
            false,
        ),
        (
            RunStatus::Failed,
            Some(ErrorClass::SetupFailed),
            None,
            false,
        ),
        (
            RunStatus::Failed,
            Some(ErrorClass::BudgetExhausted),
            None,
            false,
        ),
        (
            RunStatus::Stalled,
            Some(ErrorClass::Stalled),
            Some(used(0)),
            false,
        ),
        (
            RunStatus::Cancelled,
            Some(ErrorClass::Cancelled),
            None,
            false,
        ),
        (RunStatus::Crashed, Some(ErrorClass::Crashed), None, false),
    ] {
        let mut store = store();
        let (first, second) = (add(&mut store, "a"), add(&mut store, "b"));
        let run = worker(&mut store, "r1", &first.id);
        end_held(&mut store, &run, 0);
        let canary = probe(&mut store, "p", &second.id);
        let mut end = finish(&canary, status, class);
        end.usage = usage;
        store.finish_run(&system(31), &end).unwrap();
        let holds = store.holds().unwrap();
        assert_eq!(holds.is_empty(), lifted, "{status} {class:?}");
        assert!(holds.iter().all(|hold| hold.canary.is_none()));
    }
}

#[test]
fn a_hold_stands_since_its_first_run_until_a_probe_or_a_human_lifts_it() {
    let mut store = store();
    let (first, second) = (add(&mut store, "a"), add(&mut store, "b"));
    let run = worker(&mut store, "r1", &first.id);
    end_held(&mut store, &run, 10);
    let canary = probe(&mut store, "p", &second.id);
    end_held(&mut store, &canary, 90);
    let since: Vec<_> = store
        .holds()
        .unwrap()
        .into_iter()
        .map(|hold| (hold.scope, hold.probes, hold.placed_at))
        .collect();
    assert_eq!(since, [(scope(), 1, at(10))]);
    assert_eq!(store.lift_holds(&human(95)).unwrap(), 1);
    assert_eq!(store.holds().unwrap(), []);
    assert_eq!(store.lift_holds(&human(96)).unwrap(), 0);
}

#[test]
fn a_prefix_that_a_person_renamed_is_not_called_an_agents_doing() {
    for (is_renamed, named) in [(false, vec!["prefix, model"]), (true, vec!["model"])] {
        let mut store = store();
        let issue = add(&mut store, "One").id;
        let run = worker(&mut store, "r1", &issue);
        if is_renamed {
            store.rename_prefix(&human(3), &project(), "NEW").unwrap();
        }
        let left = json!([
            { "kind": "configuration", "path": "prefix" },
            { "kind": "configuration", "path": "model" }
        ]);
        let mut end = finish(&run, RunStatus::Succeeded, None);
        end.metadata.insert("left_behind".to_owned(), left);
        store.finish_run(&system(5), &end).unwrap();
        let told = store.base_notices(&project()).unwrap();
        let told: Vec<String> = told.into_iter().map(|open| open.notice.text).collect();
        assert_eq!(told.len(), named.len(), "{told:#?}");
        for (text, keys) in told.iter().zip(named) {
            assert!(text.contains(&format!("changed ({keys})")), "{text}");
        }
    }
}
