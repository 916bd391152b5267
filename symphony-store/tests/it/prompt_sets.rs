//! Sets of trials of prompts: the first one that was recorded counts, for an issue and all below it.

use std::path::PathBuf;

use symphony_core::agent::AgentType;
use symphony_core::id::IssueId;
use symphony_core::issue::{IssueEvent, IssueStatus};
use symphony_core::prompt_trial::{LiveTrial, PromptSet, Share, TrialName};
use symphony_core::run::{Run, RunStatus, RunTarget};
use symphony_store::{KnownTrial, Links, NewIssue, Store};

use crate::support::{
    add, by, finish, human, new_issue, project, store, system, try_claim, worker,
};

fn trial(name: &str, share: f64) -> LiveTrial {
    LiveTrial {
        name: TrialName::parse(name).unwrap(),
        a: None,
        b: PathBuf::from("/new"),
        share: Share::new(share).unwrap(),
    }
}

fn below(store: &mut Store, parent: &IssueId) -> IssueId {
    let new = NewIssue {
        parent: Some(parent.clone()),
        ..new_issue("A part of it")
    };
    store.add_issue(&human(2), &new).unwrap().id
}

fn assign(store: &mut Store, run: &Run, trial: &LiveTrial) -> (PromptSet, IssueId) {
    let found = store
        .assign_prompt_set(&by(run, 3), &run.id, trial)
        .unwrap();
    assert_eq!(store.run(&run.id).unwrap().prompt_set, Some(found.clone()));
    (found.set, found.issue)
}

fn next(store: &Store, issue: &IssueId, trial: &LiveTrial) -> (PromptSet, IssueId) {
    let found = store.prompt_set_of(issue, trial).unwrap();
    (found.set, found.issue)
}

#[test]
fn the_first_recorded_set_counts_for_the_issue_and_all_below_it_whatever_the_share_becomes() {
    let mut store = store();
    let (a, b) = (trial("words", 0.0), trial("words", 1.0));
    let top = add(&mut store, "Large").id;
    let other = add(&mut store, "Other").id;
    let middle = below(&mut store, &top);
    let low = below(&mut store, &middle);

    // a sub-task is the first to run: what it is given is the topmost issue's
    let run = worker(&mut store, "r1", &low);
    assert_eq!(assign(&mut store, &run, &a), (PromptSet::A, top.clone()));
    assert_eq!(assign(&mut store, &run, &b), (PromptSet::A, top.clone()));
    for issue in [&top, &middle, &low] {
        assert_eq!(next(&store, issue, &b), (PromptSet::A, top.clone()));
    }
    assert_eq!(next(&store, &other, &b), (PromptSet::B, other.clone()));
    // another name is another trial
    let renamed = trial("longer", 1.0);
    assert_eq!(next(&store, &top, &renamed), (PromptSet::B, top.clone()));
    let run = worker(&mut store, "r2", &other);
    assert_eq!(assign(&mut store, &run, &b), (PromptSet::B, other));
    let known = KnownTrial {
        name: TrialName::parse("words").unwrap(),
        issues_a: 1,
        issues_b: 1,
    };
    assert_eq!(store.known_trials(&project()).unwrap(), [known]);
    let words = TrialName::parse("words").unwrap();
    assert_eq!(store.trial_runs(&project(), &words).unwrap().len(), 2);
    let tree = store.issue_tree(&top).unwrap();
    let ids: Vec<&IssueId> = tree.iter().map(|issue| &issue.id).collect();
    assert_eq!(ids, [&top, &middle, &low]);
}

#[test]
fn a_sub_task_keeps_its_set_when_the_issue_above_it_is_deleted() {
    let mut store = store();
    let (a, b) = (trial("words", 0.0), trial("words", 1.0));
    let top = add(&mut store, "Large").id;
    let low = below(&mut store, &top);
    let run = worker(&mut store, "r1", &low);
    assign(&mut store, &run, &a);
    let end = finish(&run, RunStatus::Succeeded, None);
    store.finish_run(&system(5), &end).unwrap();
    store
        .move_issue(&human(6), &top, &IssueEvent::Cancelled)
        .unwrap();
    store.delete_issue(&human(7), &top, Links::Detach).unwrap();
    assert_ne!(store.issue(&low).unwrap().state.status(), IssueStatus::Done);
    assert_eq!(next(&store, &low, &b), (PromptSet::A, top));
}

#[test]
fn a_run_without_an_issue_has_no_set() {
    let mut store = store();
    let run = try_claim(&mut store, "r1", RunTarget::Project, AgentType::Scanner).unwrap();
    let refused = store.assign_prompt_set(&by(&run, 3), &run.id, &trial("words", 1.0));
    assert!(refused.is_err(), "{refused:?}");
    assert_eq!(store.run(&run.id).unwrap().prompt_set, None);
}
