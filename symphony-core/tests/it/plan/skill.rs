//! The operations of a skill on a state file.

use symphony_core::Timestamp;
use symphony_core::id::PlanPhaseId;
use symphony_core::plan::failure::{FailureClass, FailurePatterns};
use symphony_core::plan::state::{Choice, PhaseStatus, PlanStatus, RetryMode};
use symphony_core::plan::state_file::{
    FailedPhase, LEASE_MS_DEFAULT, RetryForce, SkillAnswer, StateFile, StateFileError, init_state,
    mark_complete, phase_artifacts, ready_phases, renew, resolve, retry_phase, start_ready,
    summarise,
};
use symphony_core::plan::{Artifact, Plan};

use super::{at, id, phase};

/// setup → api (asks for its artifacts) → ui, and docs alone.
fn file() -> StateFile {
    let plan = Plan {
        phases: vec![
            phase("setup", &[], &[]),
            phase("api", &[], &["setup"]),
            phase("ui", &["api"], &[]),
            phase("docs", &[], &[]),
        ],
        ..Plan::default()
    };
    init_state(plan, "plan.md", at(0)).unwrap()
}

fn created(path: &str) -> Artifact {
    serde_json::from_value(serde_json::json!({"type": "file_created", "path": path})).unwrap()
}

fn ready(file: &StateFile, second: i64) -> Vec<String> {
    let ready = ready_phases(file, at(second)).unwrap();
    ready.into_iter().map(|entry| entry.phase.id).collect()
}

fn mark_failed(
    file: &mut StateFile,
    phase: &PlanPhaseId,
    error: &str,
    mode: RetryMode,
    now: Timestamp,
) -> Result<SkillAnswer, StateFileError> {
    let patterns = FailurePatterns::default();
    let failed = FailedPhase {
        phase,
        error,
        patterns: &patterns,
    };
    symphony_core::plan::state_file::mark_failed(file, &failed, mode, now)
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap()
}

#[test]
fn the_document_has_the_fields_of_the_specification() {
    let mut file = file();
    file.plan.phases.truncate(0);
    mark_note(&mut file);
    insta::assert_snapshot!(file.render().unwrap());
}

/// Replaces the records by one of each interesting kind, so that every field shows.
fn mark_note(file: &mut StateFile) {
    let mut full = self::file();
    full.plan.phases[3].title = "Docs".to_owned();
    mark_complete(&mut full, &id("setup"), vec![created("db.sql")], at(5)).unwrap();
    mark_failed(
        &mut full,
        &id("api"),
        "read ECONNRESET",
        RetryMode::Again,
        at(6),
    )
    .unwrap();
    mark_failed(
        &mut full,
        &id("docs"),
        "lint error",
        RetryMode::Again,
        at(7),
    )
    .unwrap();
    file.phases = full.phases;
    file.pending_decisions = full.pending_decisions;
    file.completed_count = full.completed_count;
}

#[test]
fn a_plan_runs_from_init_to_its_end() {
    let mut file = file();
    assert_eq!(ready(&file, 0), ["setup", "docs"]);
    assert_eq!(ready(&file, 0), ["setup", "docs"], "asking changes nothing");
    let answer = mark_complete(&mut file, &id("setup"), vec![created("./db.sql")], at(10)).unwrap();
    insta::assert_snapshot!(json(&answer), @r#"{"success":true,"phaseId":"setup","status":"complete","orchestrationStatus":"running","newlyReady":["api"],"blocked":[],"retryCount":0}"#);
    let entries = ready_phases(&file, at(10)).unwrap();
    insta::assert_snapshot!(json(&entries[1].artifacts), @r#"[{"type":"file_created","path":"db.sql","metadata":{"sourcePhase":"setup"}}]"#);
    assert_eq!(
        phase_artifacts(&file, &id("api")).unwrap(),
        entries[1].artifacts
    );
    assert_eq!(phase_artifacts(&file, &id("ui")).unwrap(), []);
    assert!(phase_artifacts(&file, &id("x")).is_err());
    for phase in ["docs", "api"] {
        mark_complete(&mut file, &id(phase), vec![], at(20)).unwrap();
    }
    let answer = mark_complete(&mut file, &id("ui"), vec![], at(30)).unwrap();
    assert_eq!(answer.orchestration_status, PlanStatus::Completed);
    assert_eq!(
        (file.status, file.completed_at, file.completed_count),
        (PlanStatus::Completed, Some(at(30)), 4)
    );
    assert_eq!(ready(&file, 30), Vec::<String>::new());
    let error = mark_complete(&mut file, &id("ui"), vec![], at(31)).unwrap_err();
    assert!(matches!(error, StateFileError::Transition(_)), "{error}");
}

#[test]
fn failures_retry_then_ask_then_are_resolved() {
    let mut file = file();
    let answer = mark_failed(&mut file, &id("setup"), "HTTP 503", RetryMode::Again, at(0)).unwrap();
    assert_eq!(
        (answer.status, answer.retry_count),
        (PhaseStatus::Retrying, 1)
    );
    assert_eq!(
        answer.error.as_ref().map(|found| found.class),
        Some(FailureClass::Transient)
    );
    assert_eq!(ready(&file, 0), ["docs"]);
    let refused = retry_phase(&mut file, &id("setup"), RetryForce::WhenDue, at(1)).unwrap_err();
    assert!(
        matches!(refused, StateFileError::NotDue { .. }),
        "{refused}"
    );
    assert_eq!(ready(&file, 7), ["setup", "docs"], "a due retry is ready");
    let answer = retry_phase(&mut file, &id("setup"), RetryForce::Now, at(1)).unwrap();
    assert_eq!(answer.status, PhaseStatus::Ready);
    mark_failed(&mut file, &id("setup"), "HTTP 503", RetryMode::Again, at(2)).unwrap();
    let answer = mark_failed(
        &mut file,
        &id("setup"),
        "HTTP 503",
        RetryMode::Again,
        at(30),
    )
    .unwrap();
    insta::assert_snapshot!(json(&answer), @r#"{"success":true,"phaseId":"setup","status":"awaiting_decision","orchestrationStatus":"running","newlyReady":[],"blocked":[],"retryCount":2,"error":{"class":"transient","confidence":"high","matched":"503"},"options":["retry_once_more","skip_phase","abort_branch","abort_all"]}"#);
    let attempts: Vec<u32> = file.phases[&id("setup")]
        .retry_history
        .iter()
        .map(|entry| entry.attempt)
        .collect();
    assert_eq!(attempts, [1, 2, 3]);
    mark_complete(&mut file, &id("docs"), vec![], at(31)).unwrap();
    assert_eq!(file.status, PlanStatus::AwaitingUserDecision);
    let refused = retry_phase(&mut file, &id("setup"), RetryForce::WhenDue, at(32)).unwrap_err();
    assert!(
        matches!(refused, StateFileError::NeedsForce { .. }),
        "{refused}"
    );

    let mut retried = file.clone();
    let answer = resolve(&mut retried, &id("setup"), Choice::RetryOnceMore, at(40)).unwrap();
    assert_eq!(
        (
            answer.status,
            answer.orchestration_status,
            answer.retry_count
        ),
        (PhaseStatus::Ready, PlanStatus::Running, 2)
    );
    let mut skipped = file.clone();
    let answer = resolve(&mut skipped, &id("setup"), Choice::SkipPhase, at(40)).unwrap();
    assert_eq!(
        answer.warnings,
        ["phases that may lack artifacts of `setup`: api"]
    );
    assert_eq!(answer.newly_ready, [id("api")]);
    assert_eq!(skipped.phases[&id("setup")].skipped, Some(true));
    assert_eq!(skipped.completed_count, 2);
    let mut branch = file.clone();
    let answer = resolve(&mut branch, &id("setup"), Choice::AbortBranch, at(40)).unwrap();
    assert_eq!(answer.blocked, [id("api"), id("ui")]);
    assert_eq!(branch.status, PlanStatus::Failed);
    let answer = retry_phase(&mut branch, &id("setup"), RetryForce::Now, at(50)).unwrap();
    assert_eq!(
        (answer.status, answer.orchestration_status),
        (PhaseStatus::Ready, PlanStatus::Running)
    );
    let answer = resolve(&mut file, &id("setup"), Choice::AbortAll, at(40)).unwrap();
    assert_eq!(answer.orchestration_status, PlanStatus::Aborted);
    assert_eq!(StateFile::parse(&file.render().unwrap()).unwrap(), file);
}

#[test]
fn a_failure_without_retry_ends_the_phase() {
    let mut file = file();
    let answer = mark_failed(&mut file, &id("setup"), "odd", RetryMode::Never, at(1)).unwrap();
    assert_eq!(
        (answer.status, answer.blocked),
        (PhaseStatus::Failed, vec![id("api"), id("ui")])
    );
    assert_eq!((file.failed_count, file.status), (1, PlanStatus::Running));
}

#[test]
fn two_callers_never_get_the_same_phase() {
    let mut file = file();
    let first = start_ready(&mut file, 1, None, at(1)).unwrap();
    let second = start_ready(&mut file, 4, None, at(1)).unwrap();
    let ids = |entries: Vec<symphony_core::plan::state_file::ReadyPhase>| {
        entries
            .into_iter()
            .map(|entry| entry.phase.id)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        (ids(first), ids(second)),
        (vec!["setup".to_owned()], vec!["docs".to_owned()])
    );
    assert_eq!(start_ready(&mut file, 4, None, at(1)).unwrap(), []);
    assert_eq!(file.phases[&id("docs")].status, PhaseStatus::Running);
    mark_complete(&mut file, &id("docs"), vec![], at(2)).unwrap();
    assert_eq!(file.phases[&id("docs")].started_at, Some(at(1)));
}

#[test]
fn refusals_change_nothing() {
    let mut file = file();
    let before = file.clone();
    for (error, expected) in [
        (
            mark_complete(&mut file, &id("ui"), vec![], at(1)).unwrap_err(),
            "phase `ui` waits for `api`",
        ),
        (
            mark_complete(&mut file, &id("x"), vec![], at(1)).unwrap_err(),
            "the state file has no phase `x`",
        ),
        (
            mark_complete(&mut file, &id("docs"), vec![created("/etc/x")], at(1)).unwrap_err(),
            "refused artifact 1: `/etc/x`: the path is outside the project",
        ),
        (
            resolve(&mut file, &id("docs"), Choice::SkipPhase, at(1)).unwrap_err(),
            "phase `docs` is ready: `skip_phase` cannot happen there",
        ),
    ] {
        assert_eq!(error.to_string(), expected);
    }
    assert_eq!(file, before);
    file.managed_by = Some("symphony".to_owned());
    let managed = file.clone();
    let error = mark_complete(&mut file, &id("docs"), vec![], at(1)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the state file is managed by symphony: change the plan with `symphony plan` instead"
    );
    assert!(ready_phases(&file, at(1)).is_err());
    assert_eq!(file, managed);
}

#[test]
fn malformed_files_name_the_field() {
    for (text, field) in [
        ("", "."),
        ("[]", "."),
        ("{\"planPath\": 7}", "planPath"),
        (
            "{\"phases\": {\"a\": {\"status\": \"odd\"}}}",
            "phases.a.status",
        ),
    ] {
        match StateFile::parse(text) {
            Err(StateFileError::Malformed { field: found, .. }) => {
                assert_eq!(found, field, "{text}");
            }
            other => panic!("{text}: {other:?}"),
        }
    }
    let twice = format!("{}{}", file().render().unwrap(), "{}");
    assert!(StateFile::parse(&twice).is_err());
}

/// Takes at most one phase with a lease of ten seconds.
fn take(file: &mut StateFile, second: i64) -> Vec<String> {
    let taken = start_ready(file, 1, Some(10_000), at(second)).unwrap();
    taken.into_iter().map(|entry| entry.phase.id).collect()
}

#[test]
fn a_phase_whose_lease_ran_out_is_offered_again_and_has_used_an_attempt() {
    let mut file = file();
    let taken = start_ready(&mut file, 1, Some(10_000), at(0)).unwrap();
    assert_eq!(taken[0].lease_until, Some(at(10)));
    let record = &file.phases[&id("setup")];
    assert_eq!(
        (record.lease_until, record.lease_ms),
        (Some(at(10)), Some(10_000))
    );
    let read = StateFile::parse(&file.render().unwrap()).unwrap();
    assert_eq!(read, file, "a lease is read as it was written");
    assert_eq!(ready(&file, 9), ["docs"]);
    assert_eq!(ready(&file, 10), ["setup", "docs"], "asking is enough");
    assert_eq!(take(&mut file, 10), ["setup"]);
    let record = &file.phases[&id("setup")];
    assert_eq!(
        (record.retry_count, record.retry_history.len()),
        (Some(1), 1)
    );
    assert_eq!(record.last_error_category, Some(FailureClass::Timeout));
    assert_eq!(take(&mut file, 20), ["setup"]);
    // the third session died too: it is not given out for ever
    assert_eq!(ready(&file, 30), ["docs"]);
    mark_complete(&mut file, &id("docs"), vec![], at(31)).unwrap();
    assert_eq!(file.pending_decisions[0].phase_id, id("setup"));
    assert_eq!(file.phases[&id("setup")].lease_until, None);
}

#[test]
fn a_session_that_reports_late_is_heard_unless_the_phase_was_given_out_again() {
    let mut file = file();
    take(&mut file, 0);
    let answer = renew(&mut file, &id("setup"), None, at(12)).unwrap();
    assert_eq!(answer.lease_until, Some(at(22)), "as long as before");
    let answer = renew(&mut file, &id("setup"), Some(60_000), at(13)).unwrap();
    assert_eq!(answer.lease_until, Some(at(73)));
    let answer = mark_complete(&mut file, &id("setup"), vec![], at(100)).unwrap();
    assert_eq!(
        (answer.status, answer.retry_count, answer.lease_until),
        (PhaseStatus::Complete, 0, None)
    );
    let refused = renew(&mut file, &id("setup"), None, at(101)).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "phase `setup` is complete: only a running phase has a lease"
    );
    start_ready(&mut file, 1, None, at(102)).unwrap();
    let answer = renew(&mut file, &id("docs"), None, at(102)).unwrap();
    assert_eq!(
        answer.lease_until,
        Some(at(102 + i64::try_from(LEASE_MS_DEFAULT / 1_000).unwrap()))
    );
}

#[test]
fn a_phase_without_a_lease_is_taken_back_by_force() {
    let mut file = file();
    start_ready(&mut file, 1, None, at(0)).unwrap();
    assert_eq!(
        ready(&file, 1_000_000),
        ["docs"],
        "nobody knows that its session died"
    );
    let refused = retry_phase(&mut file, &id("setup"), RetryForce::WhenDue, at(1)).unwrap_err();
    assert!(
        matches!(refused, StateFileError::NeedsForce { .. }),
        "{refused}"
    );
    let answer = retry_phase(&mut file, &id("setup"), RetryForce::Now, at(1)).unwrap();
    assert_eq!((answer.status, answer.retry_count), (PhaseStatus::Ready, 1));
}

#[test]
fn a_summary_names_the_phases_at_work() {
    let mut file = file();
    mark_failed(
        &mut file,
        &id("docs"),
        "lint error",
        RetryMode::Never,
        at(0),
    )
    .unwrap();
    take(&mut file, 0);
    let summary = summarise(&file, at(10)).unwrap();
    insta::assert_snapshot!(json(&summary.running), @r#"[{"id":"setup","started_at":"2025-06-15T15:06:40.000Z","lease_until":"2025-06-15T15:06:50.000Z","lease_has_run_out":true}]"#);
    assert_eq!(
        (summary.summary.total_phases, summary.summary.failed),
        (4, 1)
    );
    assert!(
        summary
            .summary
            .to_string()
            .starts_with("Symphony Performance Under Way\n")
    );
}
