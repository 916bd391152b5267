//! Plans: claims of phases, their ends, decisions, changes of the file.

use std::collections::BTreeMap;

use serde_json::json;
use symphony_core::agent::AgentType;
use symphony_core::failure::ErrorClass;
use symphony_core::id::{PlanId, PlanPhaseId};
use symphony_core::plan::failure::FailureClass;
use symphony_core::plan::state::{
    Choice, PhaseOutcome, PhaseStatus, PhaseWork, PlanEvent, PlanStatus, abort_all, decide,
    retry_failed,
};
use symphony_core::plan::{Artifact, Plan, PlanOptions};
use symphony_core::run::{Run, RunStatus, RunTarget};
use symphony_store::{
    ClaimRefusal, NewPlan, PhaseFinish, PlanRecord, PlanTarget, RecordedOutcome, RunFinish, Store,
    fold_plan,
};

use crate::support::{at, by, finish, human, project, store, system, try_claim};

pub(crate) fn plan_id() -> PlanId {
    PlanId::parse("ship").unwrap()
}

pub(crate) fn id(phase: &str) -> PlanPhaseId {
    PlanPhaseId::parse(phase).unwrap()
}

pub(crate) fn document(phases: &[(&str, &[&str])]) -> Plan {
    let phases: Vec<_> = phases
        .iter()
        .map(|(id, sources)| {
            json!({ "id": id, "title": id, "objective": "o", "tasks": ["t"], "dependencies": sources, "success_criteria": "s" })
        })
        .collect();
    serde_json::from_value(json!({ "phases": phases })).unwrap()
}

/// a, then b and c, then d.
pub(crate) fn diamond() -> Plan {
    document(&[("a", &[]), ("b", &["a"]), ("c", &["a"]), ("d", &["b", "c"])])
}

pub(crate) fn create(store: &mut Store, document: Plan, options: PlanOptions) -> PlanRecord {
    let new = NewPlan {
        id: plan_id(),
        project: project(),
        path: "plan.md".into(),
        document,
        options,
        target: Some(PlanTarget {
            branch: "main".into(),
            base_commit: "c0".into(),
        }),
    };
    store.create_plan(&human(1), &new).unwrap()
}

pub(crate) fn claim(store: &mut Store, run: &str, phase: &str) -> Result<Run, ClaimRefusal> {
    let target = RunTarget::PlanPhase(plan_id(), id(phase));
    try_claim(store, run, target, AgentType::Worker)
}

fn note(text: &str) -> Artifact {
    serde_json::from_value(json!({ "type": "note", "content": text })).unwrap()
}

pub(crate) fn end(
    run: &Run,
    status: RunStatus,
    class: Option<ErrorClass>,
    work: PhaseWork,
) -> RunFinish {
    RunFinish {
        phase: Some(PhaseFinish {
            failure_patterns: BTreeMap::new(),
            work,
            artifacts: vec![note("made")],
        }),
        ..finish(run, status, class)
    }
}

/// Records what a run's agent says of its phase.
pub(crate) fn report(store: &mut Store, run: &Run, outcome: PhaseOutcome) {
    let recorded = RecordedOutcome {
        outcome,
        artifacts: vec![],
    };
    store
        .record_phase_outcome(&by(run, 5), &run.id, &recorded)
        .unwrap();
}

fn succeed(store: &mut Store, run: &str, phase: &str, second: i64) {
    let run = claim(store, run, phase).unwrap();
    report(store, &run, PhaseOutcome::Complete);
    let end = end(&run, RunStatus::Succeeded, None, PhaseWork::InPlace);
    store.finish_run(&system(second), &end).unwrap();
}

fn statuses(store: &mut Store) -> BTreeMap<String, PhaseStatus> {
    let record = store.plan(&plan_id()).unwrap();
    let phases = record.state.phases.iter();
    phases
        .map(|(id, progress)| (id.to_string(), progress.status()))
        .collect()
}

/// The statuses in short: `a complete, b ready …`.
fn stand(store: &mut Store) -> String {
    let all = statuses(store);
    let each = all.iter().map(|(id, status)| format!("{id} {status}"));
    each.collect::<Vec<_>>().join(", ")
}

fn assert_folds(store: &mut Store) {
    let record = store.plan(&plan_id()).unwrap();
    let folded = fold_plan(&store.events_of_plan(&plan_id()).unwrap()).unwrap();
    assert_eq!(folded, record.state);
}

#[test]
fn a_diamond_runs_from_its_first_phase_to_its_last() {
    let mut store = store();
    create(&mut store, diamond(), PlanOptions::default());
    assert_eq!(
        stand(&mut store),
        "a ready, b pending, c pending, d pending"
    );
    succeed(&mut store, "r1", "a", 10);
    assert_eq!(stand(&mut store), "a complete, b ready, c ready, d pending");
    succeed(&mut store, "r2", "b", 20);
    succeed(&mut store, "r3", "c", 21);
    assert_eq!(
        stand(&mut store),
        "a complete, b complete, c complete, d ready"
    );
    succeed(&mut store, "r4", "d", 30);
    let record = store.plan(&plan_id()).unwrap();
    assert_eq!(record.state.phases[&id("d")].artifacts, [note("made")]);
    assert_eq!(record.state.phases[&id("d")].completed_at, Some(at(30)));
    assert_folds(&mut store);
}

#[test]
fn one_live_run_a_phase_and_only_when_it_is_ready() {
    let mut store = store();
    create(&mut store, diamond(), PlanOptions::default());
    let first = claim(&mut store, "r1", "a").unwrap();
    assert_eq!(first.target, RunTarget::PlanPhase(plan_id(), id("a")));
    let again = claim(&mut store, "r2", "a").unwrap_err();
    assert_eq!(again, ClaimRefusal::AlreadyRunning(first.id));
    let early = claim(&mut store, "r3", "b").unwrap_err();
    assert_eq!(early, ClaimRefusal::PhaseMoved(PhaseStatus::Pending));
    store
        .change_plan(&human(3), &plan_id(), |_, _| {
            Ok((vec![PlanEvent::Paused], ()))
        })
        .unwrap();
    let paused = claim(&mut store, "r4", "b").unwrap_err();
    assert_eq!(paused, ClaimRefusal::PlanStands(PlanStatus::Paused));
    let live = store.runs(&symphony_store::RunFilter {
        plan: Some(plan_id()),
        live_only: true,
        ..Default::default()
    });
    assert_eq!(live.unwrap().len(), 1);
}

/// What is recorded of the outcome, how the run ends, and what became of the work; where that leads.
#[test]
fn the_end_of_a_run_decides_on_its_phase() {
    use ErrorClass as E;
    use RunStatus as R;
    let complete = || Some(PhaseOutcome::Complete);
    let failed = |error: &str| {
        Some(PhaseOutcome::Failed {
            error: error.into(),
        })
    };
    let conflict = || PhaseWork::Conflict(vec!["a.rs".into()]);
    let red = PhaseWork::CheckFailed {
        check: "tests".into(),
        output: "x".into(),
    };
    let table = [
        // a clean exit says nothing: the phase is continued
        (
            None,
            R::Succeeded,
            None,
            PhaseWork::InPlace,
            "ready",
            "succeeded",
        ),
        (
            Some(PhaseOutcome::Unconfirmed),
            R::Succeeded,
            None,
            PhaseWork::InPlace,
            "complete",
            "succeeded",
        ),
        (
            complete(),
            R::Succeeded,
            None,
            red,
            "retrying check_failed",
            "succeeded",
        ),
        (
            complete(),
            R::Succeeded,
            None,
            PhaseWork::InPlace,
            "complete",
            "succeeded",
        ),
        // a recorded outcome is honoured whatever comes after it
        (
            complete(),
            R::Crashed,
            Some(E::Crashed),
            PhaseWork::InPlace,
            "complete",
            "crashed",
        ),
        (
            complete(),
            R::TimedOut,
            Some(E::TimedOut),
            PhaseWork::InPlace,
            "complete",
            "timed_out",
        ),
        (
            complete(),
            R::Tampered,
            Some(E::Tampered),
            PhaseWork::InPlace,
            "awaiting_decision permanent",
            "tampered",
        ),
        (
            complete(),
            R::Cancelled,
            Some(E::Cancelled),
            PhaseWork::InPlace,
            "awaiting_decision permanent",
            "cancelled",
        ),
        (
            complete(),
            R::Succeeded,
            None,
            conflict(),
            "awaiting_decision logic",
            "succeeded",
        ),
        (
            complete(),
            R::Succeeded,
            None,
            PhaseWork::Unmerged("no such file".into()),
            "retrying resource",
            "succeeded",
        ),
        (
            failed("3 tests failed"),
            R::Succeeded,
            None,
            PhaseWork::InPlace,
            "awaiting_decision logic",
            "failed",
        ),
        (
            failed("connection reset"),
            R::Succeeded,
            None,
            PhaseWork::InPlace,
            "retrying transient",
            "failed",
        ),
        (
            None,
            R::Failed,
            Some(E::AgentFailed),
            PhaseWork::InPlace,
            "retrying unknown",
            "failed",
        ),
        (
            None,
            R::TimedOut,
            Some(E::TimedOut),
            PhaseWork::InPlace,
            "retrying timeout",
            "timed_out",
        ),
        (
            None,
            R::Failed,
            Some(E::InvalidRequest),
            PhaseWork::InPlace,
            "awaiting_decision permanent",
            "failed",
        ),
        // a global condition uses no attempt
        (
            None,
            R::Failed,
            Some(E::RateLimited),
            PhaseWork::InPlace,
            "ready",
            "failed",
        ),
        (
            None,
            R::Crashed,
            Some(E::Crashed),
            PhaseWork::InPlace,
            "ready",
            "crashed",
        ),
    ];
    for (outcome, status, class, work, phase_stands, run_is) in table {
        let mut store = store();
        create(&mut store, diamond(), PlanOptions::default());
        let run = claim(&mut store, "r1", "a").unwrap();
        if let Some(outcome) = outcome.clone() {
            report(&mut store, &run, outcome);
        }
        let finish = end(&run, status, class, work.clone());
        let ended = store.finish_run(&system(10), &finish).unwrap();
        let case = format!("{outcome:?} {status} {class:?} {work:?}");
        let record = store.plan(&plan_id()).unwrap();
        let progress = &record.state.phases[&id("a")];
        let class = progress.failure.as_ref().map(|failure| failure.class);
        let found = match class {
            None => progress.status().to_string(),
            Some(class) => format!("{} {class}", progress.status()),
        };
        assert_eq!(
            (found.as_str(), ended.run.status.name()),
            (phase_stands, run_is),
            "{case}"
        );
        let counted = u32::from(phase_stands != "ready");
        assert_eq!(progress.attempts, counted, "{case}");
        assert_folds(&mut store);
        // done twice, it does no harm
        store.finish_run(&system(11), &finish).unwrap();
        assert_eq!(store.plan(&plan_id()).unwrap(), record, "{case}");
    }
}

#[test]
fn the_last_word_of_an_agent_counts_and_a_clean_exit_adds_nothing() {
    let mut store = store();
    create(&mut store, diamond(), PlanOptions::default());
    let run = claim(&mut store, "r1", "a").unwrap();
    let failed = RecordedOutcome {
        outcome: PhaseOutcome::Failed { error: "x".into() },
        artifacts: vec![note("1")],
    };
    let complete = RecordedOutcome {
        outcome: PhaseOutcome::Complete,
        artifacts: vec![note("2")],
    };
    let mut say = |context: &symphony_store::Context, what: &RecordedOutcome| {
        store.record_phase_outcome(context, &run.id, what).unwrap();
        store.phase_outcome(&run.id).unwrap().unwrap()
    };
    assert_eq!(say(&by(&run, 3), &complete), complete);
    assert_eq!(say(&by(&run, 4), &failed), failed);
    assert_eq!(say(&system(5), &complete), failed);
}

#[test]
fn a_phase_that_was_given_up_meanwhile_stays_given_up() {
    let mut store = store();
    create(&mut store, diamond(), PlanOptions::default());
    let run = claim(&mut store, "r1", "a").unwrap();
    let abort = |record: &PlanRecord, _: &_| Ok((abort_all(&record.state, at(4)).events, ()));
    store.change_plan(&human(4), &plan_id(), abort).unwrap();
    let end = end(
        &run,
        RunStatus::Cancelled,
        Some(ErrorClass::Cancelled),
        PhaseWork::InPlace,
    );
    store.finish_run(&system(5), &end).unwrap();
    assert_eq!(
        stand(&mut store),
        "a aborted, b aborted, c aborted, d aborted"
    );
    assert_folds(&mut store);
}

#[test]
fn decisions_are_listed_and_answered() {
    let mut store = store();
    create(&mut store, diamond(), PlanOptions::default());
    let run = claim(&mut store, "r1", "a").unwrap();
    let conflict = PhaseWork::Conflict(vec!["x.rs".into(), "y.rs".into()]);
    report(&mut store, &run, PhaseOutcome::Complete);
    store
        .finish_run(&system(9), &end(&run, RunStatus::Succeeded, None, conflict))
        .unwrap();
    let waiting = store.plan_decisions(None).unwrap();
    let [decision] = waiting.as_slice() else {
        panic!("{waiting:#?}")
    };
    assert_eq!(
        (
            decision.phase.as_str(),
            decision.error.as_str(),
            decision.class,
            decision.asked_at
        ),
        (
            "a",
            "merge conflict in x.rs, y.rs",
            Some(FailureClass::Logic),
            at(9)
        )
    );
    let refused = store
        .change_plan(&human(10), &plan_id(), |record, dag| {
            decide(dag, &record.state, &id("b"), Choice::SkipPhase, at(10))
                .map(|decision| (decision.events, ()))
        })
        .unwrap_err();
    assert!(
        refused.to_string().contains("phase `b` is pending"),
        "{refused}"
    );
    store
        .change_plan(&human(10), &plan_id(), |record, dag| {
            decide(dag, &record.state, &id("a"), Choice::SkipPhase, at(10))
                .map(|decision| (decision.events, ()))
        })
        .unwrap();
    assert_eq!(stand(&mut store), "a complete, b ready, c ready, d pending");
    assert_eq!(store.plan_decisions(None).unwrap(), []);
    assert_folds(&mut store);
}

#[test]
fn an_accepted_change_keeps_what_is_complete() {
    let mut store = store();
    create(&mut store, diamond(), PlanOptions::default());
    succeed(&mut store, "r1", "a", 10);
    let changed = document(&[("a", &[]), ("c", &["a"]), ("e", &["a", "c"])]);
    let record = store
        .accept_plan_changes(&human(12), &plan_id(), &changed)
        .unwrap();
    assert_eq!(record.document, changed);
    assert_eq!(stand(&mut store), "a complete, c ready, e pending");
    assert_eq!(record.state.phases[&id("a")].artifacts, [note("made")]);
    assert_folds(&mut store);
}

#[test]
fn a_plan_that_has_ended_does_not_go_on_beside_a_newer_one_of_its_file() {
    let mut store = store();
    create(&mut store, diamond(), PlanOptions::default());
    succeed(&mut store, "r1", "a", 10);
    let give_up = |record: &PlanRecord, _: &_| Ok((abort_all(&record.state, at(11)).events, ()));
    store.change_plan(&human(11), &plan_id(), give_up).unwrap();
    let newer = NewPlan {
        id: PlanId::parse("ship-2").unwrap(),
        project: project(),
        path: "plan.md".into(),
        document: diamond(),
        options: PlanOptions::default(),
        target: None,
    };
    store.create_plan(&human(12), &newer).unwrap();
    let refused = |store: &mut Store| {
        let again = |record: &PlanRecord, _: &_| Ok((retry_failed(&record.state).events, ()));
        let retried = store.change_plan(&human(13), &plan_id(), again);
        let changed = store.accept_plan_changes(&human(13), &plan_id(), &diamond());
        (retried.err(), changed.err())
    };
    let text = "plan ship-2 of plan.md is under way, and a file can have only one plan at a time";
    let (retried, changed) = refused(&mut store);
    assert_eq!(retried.unwrap().to_string(), text);
    assert_eq!(changed.unwrap().to_string(), text);
    let successor = |store: &Store| store.stopped_plans(None).unwrap()[0].successor.clone();
    assert_eq!(successor(&store), Some(newer.id.clone()));
    store.change_plan(&human(14), &newer.id, give_up).unwrap();
    assert_eq!(successor(&store), None);
    assert!(matches!(refused(&mut store), (None, _)));
    assert_folds(&mut store);
}

#[test]
fn a_file_is_under_way_once_and_the_revision_tells_of_changes() {
    let mut store = store();
    let record = create(&mut store, diamond(), PlanOptions::default());
    let second = NewPlan {
        id: PlanId::parse("ship-2").unwrap(),
        project: project(),
        path: "plan.md".into(),
        document: diamond(),
        options: PlanOptions::default(),
        target: None,
    };
    let refused = store.create_plan(&human(2), &second).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "plan ship of plan.md is under way, and a file can have only one plan at a time"
    );
    let nothing = |_: &PlanRecord, _: &_| Ok((vec![], ()));
    store.change_plan(&system(3), &plan_id(), nothing).unwrap();
    assert_eq!(store.plan_revision(&plan_id()).unwrap(), record.revision);
    let (paused, ()) = store
        .change_plan(&human(4), &plan_id(), |_, _| {
            Ok((vec![PlanEvent::Paused], ()))
        })
        .unwrap();
    assert_eq!(paused.revision, record.revision + 1);
    assert_eq!(store.plan(&plan_id()).unwrap(), paused);
    assert_eq!(store.open_plans(&project()).unwrap(), [plan_id()]);
    assert_eq!(store.unmerged_plans(&project()).unwrap(), []);
    let overview = store.plans(Some(&project())).unwrap().remove(0);
    assert_eq!(
        (overview.total, overview.complete, overview.status),
        (4, 0, PlanStatus::Paused)
    );
    assert_eq!(
        store.last_plan_of(&project(), "plan.md").unwrap(),
        Some(plan_id())
    );
}
