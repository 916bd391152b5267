//! Gates that were added or changed are tried on the base before the next issue is given to an agent.

use symphony_core::agent::AgentType;
use symphony_core::retry::RetryKind;
use symphony_core::run::RunTarget;
use symphony_core::tick::{Action, DueRetry, Reason, Snapshot, StartRun, plan_tick};

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
    let plan = plan_tick(snapshot, at(NOW));
    let started = plan.actions.iter().filter_map(|action| match action {
        Action::StartRun(StartRun { agent, target, .. }) => {
            Some((agent.clone(), *target == RunTarget::Project))
        }
        _ => None,
    });
    started.collect()
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
        ("dispatch is paused", |s| s.paused = true, vec![]),
        ("nothing waits", |s| s.candidates.clear(), vec![]),
        (
            "the issue waits for its time, too",
            |s| s.candidates[0].retry = Some(retry(NOW + 20)),
            vec![],
        ),
        (
            "who repairs a gate need not wait",
            |s| s.candidates[0].fixes_gate = true,
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
    let plan = plan_tick(&snapshot, at(NOW));
    let reasons: Vec<Reason> = plan.decisions.into_iter().flat_map(|d| d.reasons).collect();
    let [reason] = reasons.as_slice() else {
        panic!("{reasons:?}")
    };
    assert_eq!(
        reason.to_string(),
        "gate lint has not passed on the base as configured now: it is tried there first"
    );
    assert_eq!(
        started(&snapshot),
        [(AgentType::Gates, true), (AgentType::Worker, false)]
    );
}
