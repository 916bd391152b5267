//! Transitions: every state against every event.

use std::fmt::Write as _;

use symphony_core::id::RunId;
use symphony_core::plan::failure::FailureClass;
use symphony_core::plan::state::{
    CRASHES_MAX, Choice, Confirmation, FAILURES_KEPT_MAX, FailurePolicy, FailureReport, PhaseEvent,
    PhaseFailure, PhaseProgress, PhaseState, PhaseStatus, PlanEvent, PlanState, PlanStatus,
    ReleaseCause, RetryMode, apply, apply_all, compare_plans, decide, plan_crash, plan_failure,
    retry_failed, settle_now,
};
use symphony_core::plan::{Artifact, Dag, Plan};

use super::{at, id, phase, plan};

fn run(name: &str) -> RunId {
    RunId::parse(name).unwrap()
}

fn failure() -> PhaseFailure {
    PhaseFailure::new(1, "it broke", FailureClass::Unknown, at(9))
}

fn note() -> Artifact {
    serde_json::from_str("{\"type\":\"note\",\"content\":\"n\"}").unwrap()
}

fn events() -> Vec<PhaseEvent> {
    let run = Some(run("r1"));
    vec![
        PhaseEvent::MadeReady,
        PhaseEvent::Started {
            run: run.clone(),
            at: at(5),
        },
        PhaseEvent::Released {
            run: run.clone(),
            cause: ReleaseCause::Crashed,
        },
        PhaseEvent::Completed {
            run: run.clone(),
            artifacts: vec![note()],
            confirmation: Confirmation::Confirmed,
            at: at(9),
        },
        PhaseEvent::RetryScheduled {
            run: run.clone(),
            failure: failure(),
            due_at: at(20),
        },
        PhaseEvent::PutOff {
            run: run.clone(),
            failure: failure(),
            due_at: at(20),
        },
        PhaseEvent::DecisionAsked {
            run: run.clone(),
            failure: failure(),
        },
        PhaseEvent::Failed {
            run,
            failure: failure(),
        },
        PhaseEvent::GivenUp { at: at(9) },
        PhaseEvent::RetriedOnce,
        PhaseEvent::Reset,
        PhaseEvent::Skipped {
            note: note(),
            at: at(9),
        },
        PhaseEvent::Aborted { at: at(9) },
        PhaseEvent::Blocked {
            by: id("b"),
            at: at(9),
        },
        PhaseEvent::Unblocked,
    ]
}

fn states() -> Vec<PhaseState> {
    vec![
        PhaseState::Pending,
        PhaseState::Ready,
        PhaseState::Running {
            run: Some(run("r1")),
            since: at(1),
        },
        PhaseState::Retrying { due_at: at(2) },
        PhaseState::AwaitingDecision { asked_at: at(2) },
        PhaseState::Complete { skipped: false },
        PhaseState::Failed,
        PhaseState::Blocked,
        PhaseState::Aborted,
    ]
}

fn one_phase(state: PhaseState) -> PlanState {
    let mut plan = PlanState::new(&[id("a")], at(0));
    plan.phases.get_mut(&id("a")).unwrap().state = state;
    plan
}

#[test]
fn the_table_of_phase_transitions() {
    let mut table = String::new();
    for state in states() {
        let from = state.status();
        let mut row = Vec::new();
        for event in events() {
            let mut plan = one_phase(state.clone());
            let before = plan.clone();
            match apply(&mut plan, &PlanEvent::of(id("a"), event.clone())) {
                Ok(()) => {
                    let to = plan.phase_status(&id("a"));
                    assert_eq!(to, event.target());
                    row.push(format!("{} -> {to}", event.name()));
                }
                Err(_) => assert_eq!(plan, before),
            }
        }
        writeln!(table, "{from}: {}", row.join(", ")).unwrap();
    }
    insta::assert_snapshot!(table);
}

#[test]
fn the_table_of_plan_transitions() {
    let ended = PlanEvent::Ended {
        status: PlanStatus::Completed,
        at: at(9),
    };
    let odd_end = PlanEvent::Ended {
        status: PlanStatus::Paused,
        at: at(9),
    };
    let events = [
        PlanEvent::of(id("a"), PhaseEvent::MadeReady),
        PlanEvent::Paused,
        PlanEvent::Resumed,
        PlanEvent::WaitingForDecision,
        PlanEvent::Continued,
        PlanEvent::AbortRequested,
        ended,
        PlanEvent::Reopened,
        PlanEvent::ChangesAccepted {
            phases: vec![id("a")],
        },
    ];
    let mut table = String::new();
    for status in PlanStatus::ALL {
        let mut row = Vec::new();
        let mut plan = one_phase(PhaseState::Pending);
        plan.status = *status;
        assert!(apply(&mut plan.clone(), &odd_end).is_err());
        for event in &events {
            let mut after = plan.clone();
            if apply(&mut after, event).is_ok() {
                row.push(format!("{} -> {}", event.name(), after.status));
            }
        }
        writeln!(table, "{status}: {}", row.join(", ")).unwrap();
    }
    insta::assert_snapshot!(table);
}

#[test]
fn refusals_name_the_state_and_what_is_allowed() {
    let mut plan = one_phase(PhaseState::Complete { skipped: false });
    let start = PhaseEvent::Started {
        run: None,
        at: at(1),
    };
    for (target, status, message) in [
        (
            "a",
            PlanStatus::Running,
            "phase `a` is complete: `started` cannot happen there",
        ),
        ("x", PlanStatus::Running, "the plan has no phase `x`"),
        (
            "a",
            PlanStatus::Failed,
            "the plan is failed: `started` cannot happen there",
        ),
    ] {
        plan.status = status;
        let error = apply(&mut plan, &PlanEvent::of(id(target), start.clone())).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn a_run_that_no_longer_owns_the_phase_changes_nothing() {
    let mut plan = one_phase(PhaseState::Running {
        run: Some(run("r2")),
        since: at(1),
    });
    let before = plan.clone();
    for event in events() {
        let ends_an_attempt = matches!(
            event,
            PhaseEvent::Released { .. }
                | PhaseEvent::Completed { .. }
                | PhaseEvent::RetryScheduled { .. }
                | PhaseEvent::PutOff { .. }
                | PhaseEvent::DecisionAsked { .. }
                | PhaseEvent::Failed { .. }
        );
        if ends_an_attempt {
            let error = apply(&mut plan, &PlanEvent::of(id("a"), event)).unwrap_err();
            assert_eq!(error.to_string(), "run r1 no longer owns phase `a`");
        }
    }
    assert_eq!(plan, before);
}

#[test]
fn failures_are_retried_twice_then_a_person_decides() {
    let mut progress = PhaseProgress {
        attempts: 1,
        ..PhaseProgress::default()
    };
    let policy = FailurePolicy::default();
    let report = |class| FailureReport {
        run: None,
        error: "e",
        class,
        seed: ("plan", "a"),
    };
    for (retries, low, high) in [(0, 4_000, 6_000), (1, 8_000, 12_000)] {
        progress.retry_count = retries;
        let event = plan_failure(&progress, &report(FailureClass::Transient), &policy, at(0));
        let PhaseEvent::RetryScheduled { due_at, .. } = event else {
            panic!("{event:?}")
        };
        let delay = due_at.as_millisecond() - at(0).as_millisecond();
        assert!((low..=high).contains(&delay), "{delay}");
    }
    progress.retry_count = 2;
    for (class, retry_count, mode, expected) in [
        (
            FailureClass::Transient,
            2,
            RetryMode::Again,
            PhaseStatus::AwaitingDecision,
        ),
        (
            FailureClass::Logic,
            0,
            RetryMode::Again,
            PhaseStatus::AwaitingDecision,
        ),
        (
            FailureClass::Permanent,
            0,
            RetryMode::Again,
            PhaseStatus::AwaitingDecision,
        ),
        (
            FailureClass::Unknown,
            1,
            RetryMode::Again,
            PhaseStatus::Retrying,
        ),
        (
            FailureClass::Timeout,
            0,
            RetryMode::Never,
            PhaseStatus::Failed,
        ),
    ] {
        progress.retry_count = retry_count;
        let policy = FailurePolicy { mode, ..policy };
        let event = plan_failure(&progress, &report(class), &policy, at(0));
        assert_eq!(event.target(), expected, "{class} {retry_count} {mode:?}");
    }
    for (crashes, expected) in [
        (0, PhaseStatus::Ready),
        (CRASHES_MAX - 1, PhaseStatus::Ready),
        (CRASHES_MAX, PhaseStatus::AwaitingDecision),
    ] {
        progress.crash_count = crashes;
        progress.retry_count = 2;
        let event = plan_crash(&progress, &report(FailureClass::Unknown), &policy, at(0));
        assert_eq!(event.target(), expected, "{crashes}");
    }
}

#[test]
fn a_released_attempt_does_not_count_and_history_is_bounded() {
    let mut plan = one_phase(PhaseState::Ready);
    let of = |event| PlanEvent::of(id("a"), event);
    let started = of(PhaseEvent::Started {
        run: Some(run("r1")),
        at: at(1),
    });
    let held = of(PhaseEvent::Released {
        run: Some(run("r1")),
        cause: ReleaseCause::Held,
    });
    apply_all(&mut plan, [&started, &held]).unwrap();
    let progress = &plan.phases[&id("a")];
    assert_eq!(
        (
            progress.attempts,
            progress.crash_count,
            progress.retry_count
        ),
        (0, 0, 0)
    );
    let asked = of(PhaseEvent::DecisionAsked {
        run: Some(run("r1")),
        failure: failure(),
    });
    let again = of(PhaseEvent::RetriedOnce);
    for _ in 0..FAILURES_KEPT_MAX + 3 {
        apply_all(&mut plan, [&started, &asked]).unwrap();
        assert_eq!(plan.phases[&id("a")].failure, Some(failure()));
        apply(&mut plan, &again).unwrap();
        assert_eq!(plan.phases[&id("a")].failure, None);
    }
    assert_eq!(plan.phases[&id("a")].history.len(), FAILURES_KEPT_MAX);
}

/// a → b → c, and d alone; `b` awaits a decision, `c` also asks for its artifacts.
fn awaiting() -> (Dag, PlanState) {
    let phases = [
        phase("a", &[], &[]),
        phase("b", &["a"], &[]),
        phase("c", &[], &["b"]),
        phase("d", &[], &[]),
    ];
    let dag = Dag::new(&phases).unwrap();
    let mut state = PlanState::new(dag.ids(), at(0));
    for (name, phase) in [
        ("a", PhaseState::Complete { skipped: false }),
        ("b", PhaseState::AwaitingDecision { asked_at: at(9) }),
        (
            "d",
            PhaseState::Running {
                run: Some(run("rd")),
                since: at(1),
            },
        ),
    ] {
        state.phases.get_mut(&id(name)).unwrap().state = phase;
    }
    let progress = state.phases.get_mut(&id("b")).unwrap();
    progress.failure = Some(failure());
    progress.retry_count = 2;
    (dag, state)
}

fn statuses(state: &PlanState) -> String {
    let one = |(id, progress): (&symphony_core::id::PlanPhaseId, &PhaseProgress)| {
        format!("{id}:{}", progress.status())
    };
    state.phases.iter().map(one).collect::<Vec<_>>().join(" ")
}

#[test]
fn each_choice_has_its_effect() {
    for (choice, expected, warnings) in [
        (
            Choice::RetryOnceMore,
            "a:complete b:ready c:pending d:running",
            vec![],
        ),
        (
            Choice::SkipPhase,
            "a:complete b:complete c:ready d:running",
            vec!["phases that may lack artifacts of `b`: c"],
        ),
        (
            Choice::AbortBranch,
            "a:complete b:aborted c:blocked d:running",
            vec![],
        ),
        (
            Choice::AbortAll,
            "a:complete b:aborted c:aborted d:aborted",
            vec![],
        ),
    ] {
        let (dag, mut state) = awaiting();
        let decision = decide(&dag, &state, &id("b"), choice, at(10)).unwrap();
        assert_eq!(decision.warnings, warnings);
        apply_all(&mut state, &decision.events).unwrap();
        settle_now(&dag, &mut state, at(10)).unwrap();
        assert_eq!(statuses(&state), expected, "{choice}");
        assert_eq!(state.phases[&id("b")].retry_count, 2);
        assert!(decide(&dag, &state, &id("b"), choice, at(10)).is_err());
    }
    let (dag, mut state) = awaiting();
    let decision = decide(&dag, &state, &id("b"), Choice::SkipPhase, at(10)).unwrap();
    apply_all(&mut state, &decision.events).unwrap();
    let artifacts = serde_json::to_string(&state.phases[&id("b")].artifacts).unwrap();
    insta::assert_snapshot!(artifacts, @r#"[{"type":"note","name":"skipped","content":"Phase b was skipped after it failed: it broke"}]"#);
}

#[test]
fn failed_dependency_blocks_dependents_until_it_is_retried() {
    let (dag, mut state) = awaiting();
    let given_up = PlanEvent::of(id("b"), PhaseEvent::GivenUp { at: at(10) });
    apply(&mut state, &given_up).unwrap();
    settle_now(&dag, &mut state, at(10)).unwrap();
    assert_eq!(statuses(&state), "a:complete b:failed c:blocked d:running");
    let done = PhaseEvent::Completed {
        run: Some(run("rd")),
        artifacts: vec![],
        confirmation: Confirmation::Confirmed,
        at: at(11),
    };
    let ended = PlanEvent::Ended {
        status: PlanStatus::Failed,
        at: at(12),
    };
    apply_all(&mut state, [&PlanEvent::of(id("d"), done), &ended]).unwrap();

    let decision = retry_failed(&state);
    assert_eq!(decision.events[0], PlanEvent::Reopened);
    apply_all(&mut state, &decision.events).unwrap();
    settle_now(&dag, &mut state, at(13)).unwrap();
    assert_eq!(statuses(&state), "a:complete b:ready c:pending d:complete");
    assert_eq!(
        (state.status, state.completed_at),
        (PlanStatus::Running, None)
    );
    assert_eq!(state.phases[&id("b")].retry_count, 0);
    assert_eq!(retry_failed(&state).events, []);
}

#[test]
fn accepted_changes_keep_what_is_complete_or_running() {
    let (_, mut state) = awaiting();
    let phases = vec![id("a"), id("b"), id("d"), id("e")];
    apply(&mut state, &PlanEvent::ChangesAccepted { phases }).unwrap();
    assert_eq!(statuses(&state), "a:complete b:pending d:running e:pending");
    assert_eq!(state.phases[&id("b")], PhaseProgress::default());
}

#[test]
fn changes_of_a_plan_are_named() {
    let old = plan(&[("a", &[]), ("b", &["a"]), ("c", &[])]);
    let mut new: Plan = plan(&[("c", &[]), ("b", &[]), ("d", &[])]);
    let changes = compare_plans(&old, &new);
    assert_eq!(changes.added, ["d"]);
    assert_eq!(changes.removed, ["a"]);
    assert_eq!(changes.changed, ["b"]);
    new.phases = old.phases.iter().rev().cloned().collect();
    assert!(compare_plans(&old, &new).is_empty());
}

#[test]
fn states_and_events_survive_json() {
    let (_, state) = awaiting();
    let text = serde_json::to_string(&state).unwrap();
    assert_eq!(serde_json::from_str::<PlanState>(&text).unwrap(), state);
    for event in events() {
        let event = PlanEvent::of(id("a"), event);
        let text = serde_json::to_string(&event).unwrap();
        assert_eq!(
            serde_json::from_str::<PlanEvent>(&text).unwrap(),
            event,
            "{text}"
        );
    }
}
