//! Fairness of holds: turns, fault, models, and what is forgotten.

use symphony_core::agent::AgentType;
use symphony_core::failure::ErrorClass;
use symphony_core::hold::condition_scope;
use symphony_core::id::IssueId;
use symphony_core::issue::{IssueEvent, IssueStatus};
use symphony_core::retry::RetryKind;
use symphony_core::run::{Run, RunStatus, RunTarget};
use symphony_core::tick::HoldScope;
use symphony_store::{ClaimLimits, NewHold, RunStart, Store};

use crate::support::{add, assert_sound, finish, human, request, store, system, worker};

/// Starts the agent of a claimed run with a model.
fn start(store: &mut Store, run: &Run, model: &str) {
    let start = RunStart {
        model: Some(model.into()),
        worktree: None,
        branch: None,
        metadata: serde_json::Value::Null,
        ..RunStart::default()
    };
    store.record_start(&system(3), &run.id, &start).unwrap();
}

fn scope(model: &str) -> HoldScope {
    condition_scope(ErrorClass::ProviderError, "scripted", Some(model))
}

fn probe(store: &mut Store, name: &str, issue: &IssueId, scopes: &[HoldScope]) -> Run {
    let mut wanted = request(name, RunTarget::Issue(issue.clone()), AgentType::Worker);
    wanted.start.probes = scopes.to_vec();
    let granted = store.claim(&system(2), &[wanted], &ClaimLimits::total(8));
    granted.unwrap().remove(0).unwrap()
}

/// Ends a run with a condition of its model.
fn end_held(store: &mut Store, run: &Run, model: &str) {
    let mut end = finish(run, RunStatus::Failed, Some(ErrorClass::ProviderError));
    end.hold = Some(NewHold {
        tried: None,
        scope: scope(model),
        class: ErrorClass::ProviderError,
        reason: "500".into(),
        until: None,
        first_ms: 60_000,
    });
    store.finish_run(&system(5), &end).unwrap();
}

/// A worker of an issue meets the condition of its model.
fn meet(store: &mut Store, name: &str, issue: &IssueId, model: &str) {
    let run = worker(store, name, issue);
    start(store, &run, model);
    end_held(store, &run, model);
}

fn end_well(store: &mut Store, run: &Run) {
    store
        .finish_run(&system(5), &finish(run, RunStatus::Succeeded, None))
        .unwrap();
}

fn held(store: &Store) -> Vec<String> {
    let holds = store.holds().unwrap();
    holds
        .iter()
        .map(|hold| {
            let trials = hold.trials.iter().map(|trial| {
                let witness = trial
                    .witness
                    .as_ref()
                    .map_or_else(String::new, |w| format!("<{w}"));
                let witness = if trial.doubted {
                    format!("{witness}?")
                } else {
                    witness
                };
                format!("{}@{}:{}{witness}", trial.item, trial.turn, trial.held)
            });
            format!("{}: {}", hold.scope, trials.collect::<Vec<_>>().join(" "))
        })
        .collect()
}

fn counts(store: &Store, issue: &IssueId) -> (u32, u32) {
    let counts = store.issue(issue).unwrap().counts;
    (counts.consecutive_failures, counts.total_runs)
}

#[test]
fn an_item_that_fails_alone_counts_and_holds_nobody() {
    let mut store = store();
    let (poison, good) = (add(&mut store, "a").id, add(&mut store, "b").id);
    meet(&mut store, "r1", &poison, "opus");
    assert_eq!(held(&store), ["model opus of provider scripted: DEM-1@1:1"]);
    assert_eq!(counts(&store, &poison), (0, 0), "waiting is not failing");

    let run = probe(&mut store, "r2", &good, &[scope("opus")]);
    start(&mut store, &run, "opus");
    end_well(&mut store, &run);
    assert_eq!(held(&store), [""; 0]);

    for failures in 1..=2 {
        let run = worker(&mut store, &format!("p{failures}"), &poison);
        start(&mut store, &run, "opus");
        end_held(&mut store, &run, "opus");
        assert_eq!(held(&store), [""; 0], "others do not wait for it");
        assert_eq!(counts(&store, &poison), (failures, failures));
        let error = store.run(&run.id).unwrap().error.unwrap();
        assert_eq!(error.class, ErrorClass::ModelError);
        assert_eq!(
            error.message,
            "provider_error: it went wrong (run r2 reached the same provider and model meanwhile, so this counts as a failure of the run)"
        );
        let retries = store.retries(None).unwrap();
        let own = retries.iter().find(|retry| retry.issue == poison).unwrap();
        assert_eq!(own.kind, RetryKind::Backoff);
    }
    assert_sound(&mut store);
}

#[test]
fn in_an_outage_no_item_is_at_fault() {
    let mut store = store();
    let issues: Vec<IssueId> = (0..3)
        .map(|i| add(&mut store, &format!("i{i}")).id)
        .collect();
    let first = worker(&mut store, "r1", &issues[0]);
    start(&mut store, &first, "opus");
    end_held(&mut store, &first, "opus");
    let lucky = probe(&mut store, "r2", &issues[1], &[scope("opus")]);
    start(&mut store, &lucky, "opus");
    end_well(&mut store, &lucky);
    // the next outage meets another item first
    for (name, issue) in [("r3", &issues[2]), ("r4", &issues[0])] {
        meet(&mut store, name, issue, "opus");
        assert_eq!(counts(&store, issue), (0, 0));
    }
    assert_eq!(
        held(&store),
        ["model opus of provider scripted: DEM-1@4:1<r2? DEM-3@3:1"]
    );
    assert_sound(&mut store);
}

#[test]
fn a_probe_takes_its_turn_when_it_is_claimed() {
    let mut store = store();
    let (first, second) = (add(&mut store, "a").id, add(&mut store, "b").id);
    meet(&mut store, "r1", &first, "opus");
    let run = probe(&mut store, "r2", &second, &[scope("opus")]);
    // its supervisor dies: the turn is over all the same
    let crashed = finish(&run, RunStatus::Crashed, Some(ErrorClass::Crashed));
    store.finish_run(&system(5), &crashed).unwrap();
    assert_eq!(
        held(&store),
        ["model opus of provider scripted: DEM-1@1:1 DEM-2@2:0"]
    );
}

#[test]
fn a_run_lifts_only_the_holds_of_the_model_that_it_used() {
    let mut store = store();
    let (first, second) = (add(&mut store, "a").id, add(&mut store, "b").id);
    meet(&mut store, "r1", &first, "opus");
    // the configuration changed after the claim
    let run = probe(&mut store, "r2", &second, &[scope("opus")]);
    start(&mut store, &run, "haiku");
    end_well(&mut store, &run);
    let holds = store.holds().unwrap();
    assert_eq!((holds.len(), holds[0].canary.as_ref()), (1, None));
    // nor is it a witness against the first
    let run = probe(&mut store, "r3", &first, &[scope("opus")]);
    start(&mut store, &run, "opus");
    end_held(&mut store, &run, "opus");
    assert_eq!(counts(&store, &first), (0, 0));
    assert_eq!(store.holds().unwrap()[0].probes, 1);
}

#[test]
fn a_hold_that_nothing_waits_for_any_more_is_dropped() {
    let mut store = store();
    let (moved, cancelled) = (add(&mut store, "a").id, add(&mut store, "b").id);
    meet(&mut store, "r1", &moved, "opus");
    meet(&mut store, "r2", &cancelled, "haiku");
    assert_eq!(store.holds().unwrap().len(), 2);
    // its model was changed while it waited
    let run = worker(&mut store, "r3", &moved);
    start(&mut store, &run, "sonnet");
    end_well(&mut store, &run);
    assert_eq!(
        held(&store),
        ["model haiku of provider scripted: DEM-2@2:1"]
    );
    store
        .move_issue(&human(6), &cancelled, &IssueEvent::Cancelled)
        .unwrap();
    assert_eq!(
        store.issue(&cancelled).unwrap().state.status(),
        IssueStatus::Cancelled
    );
    assert_eq!(held(&store), [""; 0]);
    assert_sound(&mut store);
}

#[test]
fn a_person_who_lifts_holds_wipes_the_slate() {
    let mut store = store();
    let (first, second) = (add(&mut store, "a").id, add(&mut store, "b").id);
    meet(&mut store, "r1", &first, "opus");
    assert_eq!(store.lift_holds(&human(6)).unwrap(), 1);
    let run = worker(&mut store, "r2", &second);
    start(&mut store, &run, "opus");
    end_well(&mut store, &run);
    meet(&mut store, "r3", &first, "opus");
    assert_eq!(counts(&store, &first), (0, 0));
}
