//! Gates that were added or changed are tried on the base before the next issue is given to an agent.

use symphony_core::agent::AgentType;
use symphony_core::failure::ErrorClass;
use symphony_core::gates::BaseGates;
use symphony_core::hold::{Hold, HoldScope};
use symphony_core::retry::RetryKind;
use symphony_core::run::RunTarget;
use symphony_core::tick::{
    Action, DueRetry, GatesState, Reason, ReviewCandidate, Snapshot, StartRun, plan_tick,
};

use super::support::{at, candidate, live, project, review, snapshot};

const NOW: i64 = 10_000;

fn retry(due: i64) -> DueRetry {
    DueRetry {
        kind: RetryKind::Backoff,
        due_at: at(due),
        attempt: 1,
    }
}

/// Project `a` has an untried gate and an issue.
fn untried() -> Snapshot {
    let mut snapshot = snapshot();
    let view = snapshot.projects.get_mut(&project("a")).unwrap();
    view.untried_gates = vec!["lint".into()];
    snapshot.candidates.push(candidate(1));
    snapshot
}

fn started(snapshot: &Snapshot) -> Vec<(AgentType, bool)> {
    let schedule = plan_tick(snapshot, at(NOW));
    let started = schedule.actions.iter().filter_map(|action| match action {
        Action::StartRun(StartRun { agent, target, .. }) => {
            Some((agent.clone(), *target == RunTarget::Project))
        }
        _ => None,
    });
    started.collect()
}

/// Its issue repairs the gate `lint`, and this is known of the base.
fn repairs(snapshot: &mut Snapshot, known: Option<BaseGates>) {
    let view = snapshot.projects.get_mut(&project("a")).unwrap();
    if known.is_some() {
        view.untried_gates.clear();
    }
    view.base_gates = known;
    snapshot.candidates[0].repairs = vec!["lint".into()];
}

/// The gates of project `a` hold it.
fn hold(red: &str, until: i64) -> Hold {
    Hold {
        scope: HoldScope::Gates(project("a")),
        until: at(until),
        placed_at: at(NOW - 60),
        class: ErrorClass::BaseGatesFailed,
        reason: format!("on `main` at 0123456: {red}"),
        probes: 0,
        canary: None,
        tried: None,
        trials: Vec::new(),
    }
}

/// What it is about, what is changed, and the agents that start, each with whether it works on the project itself.
type Row = (&'static str, fn(&mut Snapshot), Vec<(AgentType, bool)>);

#[test]
fn an_untried_gate_is_tried_before_a_worker_starts() {
    let trial = || vec![(AgentType::Gates, true)];
    let worker = (AgentType::Worker, false);
    let table: Vec<Row> = vec![
        ("untried", |_| {}, trial()),
        (
            "tried",
            |s| {
                s.projects
                    .get_mut(&project("a"))
                    .unwrap()
                    .untried_gates
                    .clear();
            },
            vec![worker.clone()],
        ),
        (
            "a trial is at work",
            |s| s.live.push(live("r", None, AgentType::Gates)),
            vec![],
        ),
        ("Symphony is paused", |s| s.paused = true, vec![]),
        ("nothing waits", |s| s.candidates.clear(), vec![]),
        (
            "the issue waits for its time, too",
            |s| s.candidates[0].retry = Some(retry(NOW + 20)),
            vec![],
        ),
        (
            "who repairs a gate waits as long as nobody knows whether it is red",
            |s| repairs(s, None),
            trial(),
        ),
        (
            "and until it is tried on the base as that is now",
            |s| repairs(s, Some(BaseGates::Untried)),
            trial(),
        ),
        (
            "a trial is at work for it",
            |s| {
                repairs(s, Some(BaseGates::Untried));
                s.live.push(live("r", None, AgentType::Gates));
            },
            vec![],
        ),
        (
            "the gates hold the project, and the base has moved: the probe tries them",
            |s| {
                repairs(s, Some(BaseGates::Untried));
                s.holds
                    .push(hold("`lint` failed with exit code 1", NOW - 1));
            },
            trial(),
        ),
        (
            "the gate that it repairs is red",
            |s| {
                repairs(s, Some(BaseGates::Red));
                s.holds
                    .push(hold("`lint` failed with exit code 1", NOW + 60));
            },
            vec![worker.clone()],
        ),
        (
            "another one is red",
            |s| {
                repairs(s, Some(BaseGates::Red));
                s.holds
                    .push(hold("`test` failed with exit code 1", NOW + 60));
            },
            vec![],
        ),
        (
            "its program is missing",
            |s| {
                repairs(s, Some(BaseGates::Red));
                let missing = "`lint` (`ruff`) failed with exit code 127, because a program is missing or cannot be executed";
                s.holds.push(hold(missing, NOW + 60));
            },
            vec![],
        ),
        (
            "it passes",
            |s| {
                let required = vec!["lint".into()];
                repairs(s, Some(BaseGates::Green { required }));
            },
            vec![],
        ),
        (
            "a person wants work on a red base",
            |s| repairs(s, Some(BaseGates::Waived)),
            vec![worker],
        ),
        (
            "a judge need not wait",
            |s| s.reviews.push(review(2)),
            vec![(AgentType::Judge, false), (AgentType::Gates, true)],
        ),
    ];
    for (name, change, expected) in table {
        let mut snapshot = untried();
        change(&mut snapshot);
        assert_eq!(started(&snapshot), expected, "{name}");
    }
}

#[test]
fn the_reason_names_the_gates_and_other_projects_go_on() {
    let mut snapshot = untried();
    let mut other = candidate(2);
    other.project = project("b");
    snapshot.candidates.push(other);
    let schedule = plan_tick(&snapshot, at(NOW));
    let reasons: Vec<Reason> = schedule
        .decisions
        .into_iter()
        .flat_map(|d| d.reasons)
        .collect();
    let [reason] = reasons.as_slice() else {
        panic!("{reasons:?}")
    };
    assert_eq!(
        reason.to_string(),
        "gate lint has not passed on the base with the current configuration: it is tried there first"
    );
    assert_eq!(
        started(&snapshot),
        [(AgentType::Gates, true), (AgentType::Worker, false)]
    );
}

#[test]
fn the_gates_of_a_repair_come_before_a_probe_of_the_base_that_it_repairs() {
    let repair = |due: i64| ReviewCandidate {
        gates: GatesState::Pending {
            due_at: at(due),
            problem: None,
        },
        fixes_gate: true,
        ..review(1)
    };
    let probe = (AgentType::Gates, true);
    let gates = (AgentType::Gates, false);
    let other = ReviewCandidate {
        fixes_gate: false,
        ..repair(NOW)
    };
    let red = BaseGates::Red;
    for (name, known, slots, review, expected) in [
        ("unmoved", &red, 1, repair(NOW), vec![gates.clone()]),
        (
            "moved",
            &BaseGates::Untried,
            1,
            repair(NOW),
            vec![probe.clone()],
        ),
        ("both", &red, 2, repair(NOW), vec![probe.clone(), gates]),
        ("not due", &red, 1, repair(NOW + 60), vec![probe.clone()]),
        ("no repair", &red, 1, other, vec![probe]),
    ] {
        let mut snapshot = snapshot();
        snapshot.slots.gates = slots;
        snapshot.holds = vec![hold("`lint` failed with exit code 1", NOW)];
        snapshot.reviews = vec![review];
        let view = snapshot.projects.get_mut(&project("a")).unwrap();
        view.base_gates = Some(known.clone());
        assert_eq!(started(&snapshot), expected, "{name}");
    }
}
