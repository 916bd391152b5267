//! Checks in plan files, and what the end of a run means with and without them.

use std::collections::BTreeSet;

use symphony_core::config::CommandLine;
use symphony_core::failure::ErrorClass;
use symphony_core::hand_in::{RefusalKind, RefusedCall};
use symphony_core::id::{PlanPhaseId, RunId};
use symphony_core::plan::failure::FailureClass;
use symphony_core::plan::state::{
    Confirmation, ERROR_BYTES_MAX, FailurePolicy, PhaseEvent, PhaseOutcome, PhaseProgress,
    PhaseRunEnd, PhaseState, PhaseStatus, PhaseWork, PlanEvent, PlanState, PointAnswers,
    ReleaseCause, Reporting, RetryMode, apply, clean_exit_outcome, is_phase_complete,
    route_phase_run_end,
};
use symphony_core::plan::{Check, CheckKind, PlanError, describe_checks, parse_plan};
use symphony_core::review_point::PointNumber;
use symphony_core::run::{RunError, RunStatus};
use symphony_core::tools::Tool;

use super::{at, id, phase};

/// A plan of one phase with these checks, on line 2.
fn file(checks: &str) -> String {
    format!(
        "```symphony-phases\n[{{\"id\": \"a\", \"title\": \"A\", \"objective\": \"O\", \"tasks\": [\"T\"], \"success_criteria\": \"S\", \"checks\": {checks}}}]\n```\n"
    )
}

fn problems(checks: &str) -> Vec<String> {
    match parse_plan(&file(checks)) {
        Err(PlanError::Invalid { problems, .. }) => {
            assert!(problems.iter().all(|problem| problem.line >= 2));
            problems.iter().map(ToString::to_string).collect()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn checks_are_commands_and_files() {
    let (plan, warnings) = parse_plan(&file(
        r#"[{"name": "tests", "command": "cargo test", "timeout_ms": 5000},
            {"name": "lint", "command": ["cargo", "clippy"]},
            {"name": "schema", "file": "./db//schema.sql"}]"#,
    ))
    .unwrap();
    assert_eq!(warnings, []);
    let check = |name: &str, kind| Check {
        name: name.to_owned(),
        kind,
    };
    let words = ["cargo", "clippy"].map(str::to_owned).to_vec();
    assert_eq!(
        plan.phases[0].checks,
        [
            check(
                "tests",
                CheckKind::Command {
                    command: CommandLine::Shell("cargo test".to_owned()),
                    timeout_ms: Some(5_000),
                }
            ),
            check(
                "lint",
                CheckKind::Command {
                    command: CommandLine::Argv(words),
                    timeout_ms: None,
                }
            ),
            check(
                "schema",
                CheckKind::File {
                    file: "db/schema.sql".to_owned()
                }
            ),
        ]
    );
    let text = serde_json::to_string(&plan).unwrap();
    assert_eq!(
        serde_json::from_str::<symphony_core::plan::Plan>(&text).unwrap(),
        plan
    );
    let described = describe_checks(&plan.phases[0].checks).unwrap();
    assert!(described.ends_with("- tests: `cargo test` succeeds\n- lint: `cargo clippy` succeeds\n- schema: `db/schema.sql` exists"), "{described}");
    assert_eq!(describe_checks(&[]), None);
}

#[test]
fn each_rule_of_checks_has_its_message() {
    let many = vec![r#"{"name": "x", "file": "y"}"#; 21].join(", ");
    for (checks, expected) in [
        ("{}", "checks: Expected an array of checks, found an object"),
        ("[7]", "checks[0]: Expected a check, found a number"),
        (
            r#"[{"file": "x"}]"#,
            "checks[0].name: Check name must be a non-empty line",
        ),
        (
            r#"[{"name": "a\nb", "file": "x"}]"#,
            "checks[0].name: Check name must be a non-empty line",
        ),
        (
            r#"[{"name": "x"}]"#,
            "checks[0]: A check has either `command` or `file`",
        ),
        (
            r#"[{"name": "x", "file": "y", "command": "z"}]"#,
            "checks[0]: A check has either `command` or `file`",
        ),
        (
            r#"[{"name": "x", "command": " "}]"#,
            "checks[0].command: Check command must be a text for `sh -c`, or a list of words",
        ),
        (
            r#"[{"name": "x", "command": []}]"#,
            "checks[0].command: Check command must be a text for `sh -c`, or a list of words",
        ),
        (
            r#"[{"name": "x", "file": "../y"}]"#,
            "checks[0].file: Check file must be a path relative to the project that stays inside it",
        ),
        (
            r#"[{"name": "x", "command": "y", "timeout_ms": 0}]"#,
            "checks[0].timeout_ms: Timeout must be a whole number of milliseconds from 1 to 2592000000",
        ),
        (
            r#"[{"name": "x", "file": "y"}, {"name": "x", "file": "z"}]"#,
            "checks[1].name: Duplicate check name \"x\"",
        ),
        (
            r#"[{"name": "x", "file": "y", "comand": "z"}]"#,
            "checks[0].comand: unknown field (did you mean `command`?)",
        ),
    ] {
        assert_eq!(
            problems(checks),
            [format!("phases[0].{expected}")],
            "{checks}"
        );
    }
    let found = problems(&format!("[{many}]"));
    assert_eq!(
        found[0],
        "phases[0].checks: A phase has at most 20 checks, found 21"
    );
}

#[test]
fn a_clean_exit_counts_by_checks_or_where_nothing_can_be_reported() {
    let plain = phase("a", &[], &[]);
    let mut checked = phase("a", &[], &[]);
    checked.checks = vec![Check {
        name: "x".to_owned(),
        kind: CheckKind::File {
            file: "y".to_owned(),
        },
    }];
    for (phase, reporting, given, missing) in [
        (
            &checked,
            Reporting::ByTool,
            Some(PhaseOutcome::Complete),
            None,
        ),
        // it has no way to answer either; a merge needs the points closed all the same
        (
            &checked,
            Reporting::None,
            Some(PhaseOutcome::Complete),
            Some(PhaseOutcome::Complete),
        ),
        (
            &plain,
            Reporting::None,
            Some(PhaseOutcome::Unconfirmed),
            Some(PhaseOutcome::Unconfirmed),
        ),
        (&plain, Reporting::ByTool, None, None),
    ] {
        let found = |answers| clean_exit_outcome(phase, reporting, answers);
        let both = (found(PointAnswers::Given), found(PointAnswers::Missing));
        assert_eq!(both, (given, missing), "{reporting:?}");
    }
    let unconfirmed = Some(&PhaseOutcome::Unconfirmed);
    assert!(is_phase_complete(RunStatus::Crashed, unconfirmed));
    assert!(!is_phase_complete(RunStatus::Tampered, unconfirmed));
    assert!(!is_phase_complete(RunStatus::Succeeded, None));
}

/// The end of a run that left cleanly.
fn ended<'a>(
    run: &'a RunId,
    outcome: Option<&'a PhaseOutcome>,
    work: &'a PhaseWork,
) -> PhaseRunEnd<'a> {
    PhaseRunEnd {
        run,
        status: RunStatus::Succeeded,
        error: None,
        outcome,
        unprepared_before: 0,
        refused: None,
        unanswered: &[],
        work,
        artifacts: &[],
        seed: ("plan", "a"),
        patterns: None,
    }
}

/// Routes the end of a run that left cleanly.
fn route(
    progress: &PhaseProgress,
    outcome: Option<&PhaseOutcome>,
    work: &PhaseWork,
    mode: RetryMode,
) -> PhaseEvent {
    let run = RunId::parse("0190a000-0000-7000-8000-000000000001").unwrap();
    let end = ended(&run, outcome, work);
    let policy = FailurePolicy {
        mode,
        ..FailurePolicy::default()
    };
    route_phase_run_end(progress, &end, &policy, at(0))
}

#[test]
fn what_says_nothing_about_a_phase_uses_none_of_its_attempts() {
    let work = PhaseWork::Unmerged("its exit handling did not get that far".to_owned());
    let run = RunId::parse("0190a000-0000-7000-8000-000000000001").unwrap();
    // the last attempt that may fail
    let before = PhaseProgress {
        state: PhaseState::Running {
            run: Some(run.clone()),
            since: at(0),
        },
        attempts: 3,
        retry_count: 2,
        ..PhaseProgress::default()
    };
    for (class, unprepared_before, mode, expected) in [
        (ErrorClass::NotPrepared, 0, RetryMode::Again, Some(5)),
        (ErrorClass::NotPrepared, 0, RetryMode::Never, Some(5)),
        (ErrorClass::NotPrepared, 3, RetryMode::Again, Some(40)),
        (ErrorClass::NotPrepared, 10, RetryMode::Again, Some(600)),
        (ErrorClass::NotPrepared, 11, RetryMode::Again, None),
        (ErrorClass::Moved, 0, RetryMode::Never, Some(0)),
        (ErrorClass::Network, 0, RetryMode::Never, Some(0)),
    ] {
        let error = RunError {
            class,
            message: "git was killed".to_owned(),
        };
        let end = PhaseRunEnd {
            status: RunStatus::Failed,
            error: Some(&error),
            unprepared_before,
            ..ended(&run, None, &work)
        };
        let policy = FailurePolicy {
            mode,
            ..FailurePolicy::default()
        };
        let event = route_phase_run_end(&before, &end, &policy, at(0));
        let mut state = PlanState::new(&[id("a")], at(0));
        *state.phases.get_mut(&id("a")).unwrap() = before.clone();
        apply(&mut state, &PlanEvent::of(id("a"), event)).unwrap();
        let progress = &state.phases[&id("a")];
        let waits = match progress.state {
            PhaseState::Ready => Some(0),
            PhaseState::Retrying { due_at } => Some(due_at.as_second() - at(0).as_second()),
            _ => None,
        };
        assert_eq!(waits, expected, "{class} {unprepared_before} {mode:?}");
        if expected.is_some() {
            let counts = (progress.attempts, progress.retry_count);
            assert_eq!(
                (counts, &progress.history[..]),
                ((2, 2), &[][..]),
                "{class}"
            );
        } else {
            assert_eq!(progress.status(), PhaseStatus::AwaitingDecision, "{class}");
        }
    }
}

#[test]
fn silence_is_asked_about_once() {
    let work = PhaseWork::Unmerged("the phase is not complete".to_owned());
    let mut progress = PhaseProgress::default();
    for mode in [RetryMode::Again, RetryMode::Never] {
        let event = route(&progress, None, &work, mode);
        assert!(
            matches!(
                event,
                PhaseEvent::Released {
                    cause: ReleaseCause::Silent,
                    ..
                }
            ),
            "{event:?}"
        );
    }
    progress.is_continued = true;
    let event = route(&progress, None, &work, RetryMode::Again);
    assert!(
        matches!(event, PhaseEvent::DecisionAsked { .. }),
        "{event:?}"
    );
    let event = route(&progress, None, &work, RetryMode::Never);
    assert!(matches!(event, PhaseEvent::Failed { .. }), "{event:?}");
}

#[test]
fn silence_after_a_refused_report_names_the_refusal() {
    let work = PhaseWork::Unmerged("the phase is not complete".to_owned());
    let progress = PhaseProgress {
        is_continued: true,
        ..PhaseProgress::default()
    };
    let why = "invalid arguments: `artifacts[0]`: found a string";
    let refused = RefusedCall::new(Tool::CompletePhase, RefusalKind::Other, why);
    let run = RunId::parse("0190a000-0000-7000-8000-000000000001").unwrap();
    let end = PhaseRunEnd {
        refused: Some(&refused),
        ..ended(&run, None, &work)
    };
    let event = route_phase_run_end(&progress, &end, &FailurePolicy::default(), at(0));
    let PhaseEvent::DecisionAsked { failure, .. } = event else {
        panic!("{event:?}")
    };
    let expected = format!(
        "its last call of `complete_phase` was refused: {why} (`symphony runs logs {run}` shows the run)"
    );
    assert!(failure.error.contains(&expected), "{}", failure.error);
}

#[test]
fn silence_about_review_points_names_them_and_blames_no_missing_checks() {
    let work = PhaseWork::Unmerged("the phase is not complete".to_owned());
    let progress = PhaseProgress {
        is_continued: true,
        ..PhaseProgress::default()
    };
    let run = RunId::parse("0190a000-0000-7000-8000-000000000001").unwrap();
    let points = [1, 3].map(PointNumber::new);
    let end = PhaseRunEnd {
        unanswered: &points,
        ..ended(&run, None, &work)
    };
    let event = route_phase_run_end(&progress, &end, &FailurePolicy::default(), at(0));
    let PhaseEvent::DecisionAsked { failure, .. } = event else {
        panic!("{event:?}")
    };
    assert!(
        failure
            .error
            .starts_with("its agent ended twice without an answer to review points 1 and 3. Look"),
        "{}",
        failure.error
    );
    assert!(!failure.error.contains("checks"), "{}", failure.error);
}

#[test]
fn the_last_phase_to_complete_hands_the_plan_in() {
    let [a, b, c] = ["a", "b", "c"].map(|name| PlanPhaseId::parse(name).unwrap());
    let of = |status: PhaseState| PhaseProgress {
        state: status,
        ..PhaseProgress::default()
    };
    let complete = || of(PhaseState::Complete { skipped: false });
    let mut state = PlanState::new([&a, &b, &c], at(0));
    let none = BTreeSet::new();
    let reported = BTreeSet::from([b.clone()]);
    assert!(!state.is_last_to_complete(&a, &reported));
    state.phases.insert(c, complete());
    assert!(!state.is_last_to_complete(&a, &none));
    assert!(state.is_last_to_complete(&a, &reported));
    for status in [PhaseState::Pending, PhaseState::Failed, PhaseState::Blocked] {
        state.phases.insert(b.clone(), of(status));
        assert!(!state.is_last_to_complete(&a, &none));
    }
    state.phases.insert(b, complete());
    assert!(state.is_last_to_complete(&a, &none));
}

#[test]
fn an_unconfirmed_outcome_completes_without_confirmation() {
    for (outcome, expected) in [
        (PhaseOutcome::Complete, Confirmation::Confirmed),
        (PhaseOutcome::Unconfirmed, Confirmation::Unconfirmed),
    ] {
        let progress = PhaseProgress::default();
        let event = route(
            &progress,
            Some(&outcome),
            &PhaseWork::InPlace,
            RetryMode::Again,
        );
        let PhaseEvent::Completed { confirmation, .. } = event else {
            panic!("{event:?}")
        };
        assert_eq!(confirmation, expected);
    }
}

#[test]
fn a_red_check_is_tried_again_with_the_end_of_its_output() {
    let work = PhaseWork::CheckFailed {
        check: "tests".to_owned(),
        output: format!("{}é\nthe reason\n[exit code 1]", "é".repeat(5_000)),
    };
    let complete = PhaseOutcome::Complete;
    let event = route(
        &PhaseProgress::default(),
        Some(&complete),
        &work,
        RetryMode::Again,
    );
    let PhaseEvent::RetryScheduled { failure, .. } = event else {
        panic!("{event:?}")
    };
    assert_eq!(failure.class, FailureClass::CheckFailed);
    assert!(failure.error.len() <= ERROR_BYTES_MAX);
    assert!(failure.error.starts_with("check `tests` failed:\né"));
    assert!(failure.error.ends_with("é\nthe reason\n[exit code 1]"));
}
