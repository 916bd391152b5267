//! The loop's step: what it starts, ends, finishes and asks, and why it starts nothing else.

use std::collections::BTreeMap;

use symphony_core::id::{PlanPhaseId, RunId};
use symphony_core::plan::Dag;
use symphony_core::plan::failure::FailureClass;
use symphony_core::plan::state::{
    Completion, Confirmation, HeldPhase, OnFailure, PhaseEvent, PhaseFailure, PhaseState,
    PlanLimits, PlanSnapshot, PlanState, PlanStatus, PlanStep, apply_all, plan_step,
};

use super::{at, id, plan};

struct Scene {
    dag: Dag,
    state: PlanState,
    live: BTreeMap<RunId, PlanPhaseId>,
    held: BTreeMap<PlanPhaseId, HeldPhase>,
    limits: PlanLimits,
}

fn run(name: &str) -> RunId {
    RunId::parse(name).unwrap()
}

impl Scene {
    /// a and b alone, c behind a, d behind b and c, e alone.
    fn new() -> Self {
        let plan = plan(&[
            ("a", &[]),
            ("b", &[]),
            ("c", &["a"]),
            ("d", &["b", "c"]),
            ("e", &[]),
        ]);
        let dag = Dag::new(&plan.phases).unwrap();
        Self {
            state: PlanState::new(dag.ids(), at(0)),
            dag,
            live: BTreeMap::new(),
            held: BTreeMap::new(),
            limits: PlanLimits {
                max_parallel: 4,
                slots_free: 9,
                on_failure: OnFailure::Wait,
            },
        }
    }

    fn set(mut self, phase: &str, state: PhaseState) -> Self {
        self.state.phases.get_mut(&id(phase)).unwrap().state = state;
        self
    }

    fn running(mut self, phase: &str, is_live: bool) -> Self {
        let name = run(&format!("run-{phase}"));
        if is_live {
            self.live.insert(name.clone(), id(phase));
        }
        self.set(
            phase,
            PhaseState::Running {
                run: Some(name),
                since: at(1),
            },
        )
    }

    fn step(&self) -> PlanStep {
        let snapshot = PlanSnapshot {
            completion: Completion::Ends,
            dag: &self.dag,
            state: &self.state,
            live_runs: &self.live,
            held: &self.held,
        };
        let step = plan_step(&snapshot, at(100), &self.limits);
        // whatever it decides fits the state
        apply_all(&mut self.state.clone(), &step.events).unwrap();
        step
    }
}

/// Renders a step in short: events, actions, reasons.
fn show(step: &PlanStep) -> String {
    let mut lines = Vec::new();
    for event in &step.events {
        let text = serde_json::to_value(event).unwrap();
        let what = match text.get("phase") {
            Some(phase) => format!("{} {}", phase.as_str().unwrap(), event.name()),
            None => format!(
                "plan {} {}",
                event.name(),
                text.get("status").map_or("", |s| s.as_str().unwrap())
            ),
        };
        lines.push(format!("event {}", what.trim()));
    }
    for action in &step.actions {
        let value = serde_json::to_value(action).unwrap();
        let run = value.get("run").map_or("", |run| run.as_str().unwrap());
        let line = format!(
            "do {} {} {run}",
            value["type"].as_str().unwrap(),
            value["phase"].as_str().unwrap()
        );
        lines.push(line.trim().to_owned());
    }
    for decision in &step.decisions {
        lines.push(format!("not {}", serde_json::to_string(decision).unwrap()));
    }
    if let Some(wake) = step.wake_at {
        lines.push(format!("wake {}", wake.as_second() - at(0).as_second()));
    }
    lines.join("\n")
}

const COMPLETE: PhaseState = PhaseState::Complete { skipped: false };

#[test]
fn a_plan_begins_with_its_first_level_up_to_the_limit() {
    let mut scene = Scene::new();
    scene.limits.max_parallel = 2;
    insta::assert_snapshot!(show(&scene.step()), @r#"
    event a made_ready
    event b made_ready
    event e made_ready
    do start_phase a
    do start_phase b
    not {"phase":"e","reason":"no_slot","max_parallel":2}
    not {"phase":"c","reason":"waiting_on","phases":["a"]}
    not {"phase":"d","reason":"waiting_on","phases":["b","c"]}
    "#);
    scene.limits = PlanLimits {
        max_parallel: 4,
        slots_free: 1,
        ..scene.limits
    };
    let held = HeldPhase {
        until: at(160),
        why: "provider x is on hold: 500".into(),
    };
    scene.held.insert(id("a"), held);
    insta::assert_snapshot!(show(&scene.step()), @r#"
    event a made_ready
    event b made_ready
    event e made_ready
    do start_phase b
    not {"phase":"a","reason":"provider_on_hold","until":"2025-06-15T15:09:20.000Z","why":"provider x is on hold: 500"}
    not {"phase":"e","reason":"no_installation_slot"}
    not {"phase":"c","reason":"waiting_on","phases":["a"]}
    not {"phase":"d","reason":"waiting_on","phases":["b","c"]}
    wake 160
    "#);
}

#[test]
fn dependents_wait_for_a_phase_that_is_retrying() {
    let waiting = Scene::new()
        .set("a", PhaseState::Retrying { due_at: at(105) })
        .set("b", PhaseState::Retrying { due_at: at(100) })
        .set("e", COMPLETE);
    insta::assert_snapshot!(show(&waiting.step()), @r#"
    event b made_ready
    do start_phase b
    not {"phase":"a","reason":"backing_off","until":"2025-06-15T15:08:25.000Z"}
    not {"phase":"c","reason":"waiting_on","phases":["a"]}
    not {"phase":"d","reason":"waiting_on","phases":["b","c"]}
    wake 105
    "#);
}

#[test]
fn lost_runs_are_finished_and_stray_runs_ended() {
    let mut scene = Scene::new()
        .running("a", false)
        .running("b", true)
        .set("e", PhaseState::Ready);
    scene.live.insert(run("old-e"), id("e"));
    insta::assert_snapshot!(show(&scene.step()), @r#"
    do finish_run a run-a
    do end_run e old-e
    not {"phase":"e","reason":"earlier_run_ending","run":"old-e"}
    not {"phase":"c","reason":"waiting_on","phases":["a"]}
    not {"phase":"d","reason":"waiting_on","phases":["b","c"]}
    "#);
}

#[test]
fn a_plan_that_can_only_wait_for_a_person_says_so() {
    let mut scene = Scene::new()
        .set("a", PhaseState::AwaitingDecision { asked_at: at(9) })
        .set("b", COMPLETE)
        .set("e", COMPLETE);
    scene.limits.on_failure = OnFailure::Ask;
    insta::assert_snapshot!(show(&scene.step()), @r#"
    event plan waiting_for_decision
    do ask_decision a
    not {"phase":"a","reason":"awaiting_decision"}
    not {"phase":"c","reason":"waiting_on","phases":["a"]}
    not {"phase":"d","reason":"waiting_on","phases":["c"]}
    "#);
    scene.state.status = PlanStatus::AwaitingUserDecision;
    assert_eq!(scene.step().events, []);
    let scene = scene.set("e", PhaseState::Ready);
    assert!(show(&scene.step()).starts_with("event plan continued"));
}

#[test]
fn without_a_person_the_mode_decides() {
    for (mode, expected) in [
        (OnFailure::Wait, "plan waiting_for_decision"),
        (
            OnFailure::Fail,
            "a given_up, c blocked, d blocked, plan ended failed",
        ),
        (OnFailure::Skip, "a skipped, c made_ready"),
        (
            OnFailure::AbortBranch,
            "a aborted, c blocked, d blocked, plan ended failed",
        ),
        (
            OnFailure::AbortAll,
            "plan abort_requested, a aborted, c aborted, d aborted, plan ended aborted",
        ),
    ] {
        let mut scene = Scene::new()
            .set("a", PhaseState::AwaitingDecision { asked_at: at(9) })
            .set("b", COMPLETE)
            .set("e", COMPLETE);
        scene.limits.on_failure = mode;
        scene.state.phases.get_mut(&id("a")).unwrap().failure =
            Some(PhaseFailure::new(3, "e", FailureClass::Logic, at(9)));
        let shown = show(&scene.step());
        let events: Vec<&str> = shown
            .lines()
            .filter_map(|line| line.strip_prefix("event "))
            .collect();
        assert_eq!(events.join(", "), expected, "{mode}");
    }
}

#[test]
fn a_plan_ends_when_every_phase_has_and_no_run_is_left() {
    let all = |scene: Scene, state: &PhaseState| {
        ["a", "b", "c", "d", "e"]
            .into_iter()
            .fold(scene, |scene, phase| scene.set(phase, state.clone()))
    };
    let skipped = PhaseState::Complete { skipped: true };
    let mut completed = all(Scene::new(), &COMPLETE).set("b", skipped);
    completed.state.status = PlanStatus::Paused;
    insta::assert_snapshot!(show(&completed.step()), @"event plan ended completed");
    let failed = all(Scene::new(), &COMPLETE).set("e", PhaseState::Failed);
    insta::assert_snapshot!(show(&failed.step()), @"event plan ended failed");
    let mut aborted = all(Scene::new(), &PhaseState::Aborted);
    aborted.state.is_abort_requested = true;
    aborted.live.insert(run("r"), id("a"));
    insta::assert_snapshot!(show(&aborted.step()), @"do end_run a r");
    aborted.live.clear();
    insta::assert_snapshot!(show(&aborted.step()), @"event plan ended aborted");
    aborted.state.status = PlanStatus::Aborted;
    assert_eq!(aborted.step(), PlanStep::default());
}

#[test]
fn a_paused_plan_starts_nothing() {
    let mut scene = Scene::new().running("b", true).set("e", COMPLETE);
    scene.state.status = PlanStatus::Paused;
    insta::assert_snapshot!(show(&scene.step()), @r#"
    event a made_ready
    not {"phase":"a","reason":"paused"}
    not {"phase":"c","reason":"waiting_on","phases":["a"]}
    not {"phase":"d","reason":"waiting_on","phases":["b","c"]}
    "#);
}

#[test]
fn a_whole_plan_runs_to_its_end_step_by_step() {
    let mut scene = Scene::new();
    let mut started = Vec::new();
    for round in 0..20 {
        let step = scene.step();
        apply_all(&mut scene.state, &step.events).unwrap();
        if scene.state.status.is_ended() {
            break;
        }
        for action in step.actions {
            let symphony_core::plan::state::PlanAction::StartPhase { phase } = action else {
                panic!("{action:?}")
            };
            started.push((round, phase.to_string()));
            let run = Some(run(&format!("{phase}-{round}")));
            let begin = PhaseEvent::Started {
                run: run.clone(),
                at: at(round),
            };
            let end = PhaseEvent::Completed {
                run,
                artifacts: vec![],
                confirmation: Confirmation::Confirmed,
                at: at(round),
            };
            let of = |event| symphony_core::plan::state::PlanEvent::of(phase.clone(), event);
            apply_all(&mut scene.state, [&of(begin), &of(end)]).unwrap();
        }
    }
    assert_eq!(scene.state.status, PlanStatus::Completed);
    let expected = [(0, "a"), (0, "b"), (0, "e"), (1, "c"), (2, "d")];
    assert_eq!(
        started,
        expected.map(|(round, phase)| (round, phase.to_owned()))
    );
}
