//! Exit handling that was put off: what was recorded first stays, the run holds no slot, and its end forgets it.

use serde_json::json;
use symphony_core::agent::AgentType;
use symphony_core::exit_handling::PutOff;
use symphony_core::run::{RunStatus, RunTarget};
use symphony_store::{ClaimLimits, ClaimRefusal, Store};

use crate::support::{
    add, assert_sound, at, finish, human, request, store, system, try_claim, worker,
};

fn put_off(tries: u32, due: i64) -> PutOff {
    PutOff {
        tries,
        due_at: at(due),
        problem: "git was killed".to_owned(),
    }
}

#[test]
fn what_an_agent_came_to_is_recorded_once_and_forgotten_at_the_end() {
    let mut store = store();
    let issue = add(&mut store, "One").id;
    let run = worker(&mut store, "r1", &issue);
    assert_eq!(store.exit_handling(&run.id).unwrap(), None);
    for outcome in [
        json!({ "status": "succeeded" }),
        json!({ "status": "crashed" }),
    ] {
        store.begin_exit(&system(2), &run.id, &outcome).unwrap();
    }
    store
        .put_exit_off(&system(3), &run.id, &put_off(1, 8))
        .unwrap();
    let exit = store.exit_handling(&run.id).unwrap().unwrap();
    assert_eq!(exit.outcome, json!({ "status": "succeeded" }));
    assert_eq!((exit.tries, exit.put_off), (1, Some(put_off(1, 8))));
    let (event, _) = store.last_event(&run.id).unwrap().unwrap();
    assert!(event.contains("git was killed"), "{event}");

    store
        .finish_run(&system(9), &finish(&run, RunStatus::Succeeded, None))
        .unwrap();
    assert_eq!(store.exit_handling(&run.id).unwrap(), None);
    // too late
    let late = json!({ "status": "crashed" });
    store.begin_exit(&system(10), &run.id, &late).unwrap();
    assert_eq!(store.exit_handling(&run.id).unwrap(), None);
    assert_sound(&mut store);
}

#[test]
fn a_run_that_waits_holds_no_slot() {
    let mut store = store();
    let first = add(&mut store, "One").id;
    let second = add(&mut store, "Two").id;
    let run = worker(&mut store, "r1", &first);
    let claim = |store: &mut Store, name: &str| {
        let target = RunTarget::Issue(second.clone());
        let request = request(name, target, AgentType::Worker);
        let limits = ClaimLimits::total(1);
        store
            .claim(&system(4), &[request], &limits)
            .unwrap()
            .remove(0)
    };
    store.begin_exit(&system(2), &run.id, &json!({})).unwrap();
    let refusal = claim(&mut store, "r2").unwrap_err();
    assert!(matches!(refusal, ClaimRefusal::NoSlot), "{refusal}");
    store
        .put_exit_off(&system(3), &run.id, &put_off(1, 8))
        .unwrap();
    claim(&mut store, "r3").unwrap();
    // its issue still waits for it
    let again = try_claim(&mut store, "r4", RunTarget::Issue(first), AgentType::Worker);
    assert!(
        matches!(again, Err(ClaimRefusal::AlreadyRunning(_))),
        "{again:?}"
    );
}

#[test]
fn a_person_who_ends_the_run_does_not_wait_for_its_time() {
    let mut store = store();
    let issue = add(&mut store, "One").id;
    let run = worker(&mut store, "r1", &issue);
    store.begin_exit(&system(2), &run.id, &json!({})).unwrap();
    store.request_cancel(&human(3), &run.id).unwrap();
    assert_eq!(due(&store, &run.id), None);
    store
        .put_exit_off(&system(3), &run.id, &put_off(1, 600))
        .unwrap();
    store.request_cancel(&human(4), &run.id).unwrap();
    assert!(due(&store, &run.id).is_some_and(|due| due < at(4)));
}

fn due(store: &Store, run: &symphony_core::id::RunId) -> Option<symphony_core::Timestamp> {
    let exit = store.exit_handling(run).unwrap().unwrap();
    exit.put_off.map(|put_off| put_off.due_at)
}
