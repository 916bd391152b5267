//! The life of a learning: what every end of the work it comes from does to it, and to whom it is given meanwhile.

use symphony_core::agent::AgentType;
use symphony_core::failure::ErrorClass;
use symphony_core::id::{IssueId, LearningId, RunId};
use symphony_core::issue::{DependentsFate, IssueEvent, Resolution};
use symphony_core::learning::{LearningSource, LearningState};
use symphony_core::outside::{Evidence, FoundMerge, OutsideMerge};
use symphony_core::plan::PlanOptions;
use symphony_core::plan::state::{PhaseOutcome, PhaseWork, abort_all};
use symphony_core::pull_request::{PullRequestOf, VerdictKind};
use symphony_core::run::{Run, RunStatus, RunTarget};
use symphony_learning::{Options, Relevance, Subject};
use symphony_store::{
    Context, EventFilter, IssueEnd, LearningAddition, LearningEdit, LearningFilter, LearningScope,
    Links, NewLearning, NewPullRequest, NewVerdict, Store, StoreError,
};

use crate::plans::{claim, create, document, end, plan_id, report};
use crate::support::{
    add, at, by, finish, human, new_pr, project, store, system, try_claim, worker,
};

const TEXT: &str = "Run the parser's tests from the root.";

fn new_learning(name: &str, text: &str, issue: Option<&IssueId>) -> NewLearning {
    NewLearning {
        id: LearningId::parse(name).unwrap(),
        project: project(),
        issue: issue.cloned(),
        commit: None,
        pattern: text.into(),
        learning_type: None,
        applies_to: vec![],
    }
}

fn add_to(
    store: &mut Store,
    context: &Context,
    name: &str,
    text: &str,
    issue: Option<&IssueId>,
) -> LearningAddition {
    let new = new_learning(name, text, issue);
    store.add_learning(context, &new).unwrap()
}

fn state(store: &Store, name: &str) -> LearningState {
    let id = LearningId::parse(name).unwrap();
    store.learning(&id).unwrap().state
}

#[test]
fn an_edited_learning_is_found_by_its_new_text_also_in_a_pack() {
    let mut store = store();
    // more than stay beside the packs
    for number in 0..40 {
        let text = format!("Number {number} of the parser's rules");
        add_to(&mut store, &human(1), &format!("l-{number}"), &text, None);
    }
    let id = LearningId::parse("l-3").unwrap();
    let edited = store
        .edit_learning(&human(2), &id, "Frobnicate the lexer")
        .unwrap();
    let LearningEdit::Changed(record) = edited else {
        panic!("{edited:?}");
    };
    assert_eq!(record, store.learning(&id).unwrap());
    let subject = Subject::query("frobnicate");
    let best = store
        .best_learnings(&project(), None, &subject, at(9), Options::default())
        .unwrap();
    assert_eq!(best.ids().first(), Some(&id));
    // the same text again, the text of another one, and an agent
    let again = store
        .edit_learning(&human(3), &id, "Frobnicate the lexer")
        .unwrap();
    assert!(matches!(again, LearningEdit::Unchanged(_)));
    let known = store
        .edit_learning(&human(3), &id, "number 7 of the parser's rules")
        .unwrap();
    let LearningEdit::Known(known) = known else {
        panic!("{known:?}");
    };
    assert_eq!(known.learning.id.as_str(), "l-7");
    assert_eq!(store.learning(&id).unwrap(), record);
}

/// Names what a run on this work is given.
fn given_to(store: &mut Store, own: Option<&LearningSource>) -> Vec<String> {
    let subject = Subject::query("parser");
    let (project, options) = (project(), Options::default());
    let best = store
        .best_learnings(&project, own, &subject, at(9), options)
        .unwrap();
    let scope = LearningScope::Project(&project, own);
    let found = store
        .search_learnings(scope, "parser", Relevance::Matching, at(9), options)
        .unwrap();
    let names: Vec<String> = best.ids().iter().map(ToString::to_string).collect();
    let searched: Vec<String> = found
        .iter()
        .map(|ranked| ranked.record.learning.id.to_string())
        .collect();
    assert_eq!(names, searched, "a search finds what a prompt has");
    names
}

/// An issue whose run recorded the learning `l`, and opened a pull request.
fn with_learning() -> (Store, IssueId, Run) {
    let mut store = store();
    let issue = add(&mut store, "One").id;
    let run = worker(&mut store, "run-1", &issue);
    add_to(&mut store, &by(&run, 3), "l", TEXT, Some(&issue));
    (store, issue, run)
}

fn open_pr(store: &mut Store, issue: &IssueId, run: &Run) -> symphony_core::id::PrId {
    let pr = store.create_pr(&by(run, 3), &new_pr(issue, "c1")).unwrap();
    store
        .finish_run(&system(4), &finish(run, RunStatus::Succeeded, None))
        .unwrap();
    pr.id
}

fn close(store: &mut Store, issue: &IssueId, resolution: Resolution) {
    let end = IssueEnd {
        event: IssueEvent::Closed {
            resolution,
            reason: "r".into(),
        },
        comment: None,
        dependents: DependentsFate::Keep,
    };
    store.end_issue(&human(10), issue, &end).unwrap();
}

fn merged_outside(of: PullRequestOf, pr: symphony_core::id::PrId) -> FoundMerge {
    FoundMerge {
        of,
        pr,
        project: project(),
        head: "c1".into(),
        base: "main".into(),
        merge: OutsideMerge {
            commit: "m1".into(),
            evidence: Evidence::ALL[0],
            by: None,
        },
        missing: vec![],
    }
}

#[test]
fn only_runs_of_its_own_issue_are_given_a_proposal() {
    let (mut store, issue, _run) = with_learning();
    let other = add(&mut store, "Other").id;
    assert_eq!(state(&store, "l"), LearningState::Proposed);
    assert_eq!(given_to(&mut store, None), [""; 0]);
    assert_eq!(
        given_to(&mut store, Some(&LearningSource::Issue(other))),
        [""; 0]
    );
    assert_eq!(
        given_to(&mut store, Some(&LearningSource::Issue(issue))),
        ["l"]
    );
    let scope = LearningScope::Installation;
    let found = store
        .search_learnings(scope, "parser", Relevance::Any, at(9), Options::default())
        .unwrap();
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn every_way_to_done_accepts_and_every_way_to_cancelled_drops() {
    type Way = fn(&mut Store, &IssueId, &Run);
    let ways: [(&str, Way, LearningState); 7] = [
        (
            "a merge by Symphony",
            |store, issue, run| {
                let pr = open_pr(store, issue, run);
                store.record_merge(&human(7), pr, "m1").unwrap();
            },
            LearningState::Accepted,
        ),
        (
            "a merge made outside",
            |store, issue, run| {
                let pr = open_pr(store, issue, run);
                let found = merged_outside(issue.clone().into(), pr);
                assert!(store.record_outside_merge(&system(7), &found).unwrap());
            },
            LearningState::Accepted,
        ),
        (
            "a person closes it as done",
            |store, issue, run| {
                open_pr(store, issue, run);
                close(store, issue, Resolution::Done);
            },
            LearningState::Accepted,
        ),
        (
            "a person closes it as cancelled",
            |store, issue, _run| close(store, issue, Resolution::Cancelled),
            LearningState::Dropped,
        ),
        (
            "a person cancels it under a live run",
            |store, issue, _run| {
                store
                    .move_issue(&human(7), issue, &IssueEvent::Cancelled)
                    .unwrap();
            },
            LearningState::Dropped,
        ),
        (
            "a failed run",
            |store, _issue, run| {
                let end = finish(run, RunStatus::Failed, Some(ErrorClass::AgentFailed));
                store.finish_run(&system(4), &end).unwrap();
            },
            LearningState::Proposed,
        ),
        (
            "a rejection",
            |store, issue, run| {
                let pr = open_pr(store, issue, run);
                let (kind, commit) = (VerdictKind::Rejected, "c1");
                store
                    .record_review(&human(7), pr, &NewVerdict::plain(kind, commit, "no test"))
                    .unwrap();
            },
            LearningState::Proposed,
        ),
    ];
    for (name, way, expected) in ways {
        let (mut store, issue, run) = with_learning();
        way(&mut store, &issue, &run);
        assert_eq!(state(&store, "l"), expected, "{name}");
        let given = given_to(&mut store, None);
        assert_eq!(
            given.is_empty(),
            expected != LearningState::Accepted,
            "{name}"
        );
    }
}

#[test]
fn a_reopened_issue_takes_back_a_drop_but_no_acceptance() {
    let (mut store, issue, _run) = with_learning();
    close(&mut store, &issue, Resolution::Cancelled);
    store
        .move_issue(&human(11), &issue, &IssueEvent::Reopened)
        .unwrap();
    assert_eq!(state(&store, "l"), LearningState::Proposed);
    close(&mut store, &issue, Resolution::Done);
    store
        .move_issue(&human(13), &issue, &IssueEvent::Reopened)
        .unwrap();
    close(&mut store, &issue, Resolution::Cancelled);
    assert_eq!(state(&store, "l"), LearningState::Accepted);
    let of_issue = EventFilter {
        issue: Some(issue),
        ..EventFilter::default()
    };
    let log = store.events(&of_issue).unwrap();
    let kinds: Vec<&str> = log
        .iter()
        .map(|event| event.kind.as_str())
        .filter(|kind| kind.starts_with("learning"))
        .collect();
    assert_eq!(
        kinds,
        [
            "learning_added",
            "learning_dropped",
            "learning_proposed",
            "learning_accepted"
        ]
    );
}

#[test]
fn what_a_person_decides_stays() {
    let (mut store, issue, run) = with_learning();
    let id = [LearningId::parse("l").unwrap()];
    store.retire_learnings(&human(5), &id).unwrap();
    open_pr(&mut store, &issue, &run);
    close(&mut store, &issue, Resolution::Done);
    assert_eq!(state(&store, "l"), LearningState::Retired);

    let (mut store, issue, _run) = with_learning();
    store.accept_learnings(&human(5), &id).unwrap();
    assert_eq!(given_to(&mut store, None), ["l"]);
    close(&mut store, &issue, Resolution::Cancelled);
    assert_eq!(state(&store, "l"), LearningState::Accepted);
}

#[test]
fn a_learning_of_a_person_or_of_a_run_on_the_project_is_accepted() {
    let mut store = store();
    let issue = add(&mut store, "One").id;
    add_to(&mut store, &human(2), "person", "Parser A", Some(&issue));
    let (target, agent) = (RunTarget::Project, AgentType::Scanner);
    let run = try_claim(&mut store, "scan", target, agent).unwrap();
    add_to(&mut store, &by(&run, 3), "scanner", "Parser B", None);
    assert_eq!(state(&store, "person"), LearningState::Accepted);
    assert_eq!(state(&store, "scanner"), LearningState::Accepted);
}

#[test]
fn one_that_is_recorded_after_its_issue_is_done_is_accepted() {
    let mut store = store();
    let issue = add(&mut store, "One").id;
    let run = worker(&mut store, "run-1", &issue);
    close(&mut store, &issue, Resolution::Done);
    add_to(&mut store, &by(&run, 3), "l", TEXT, Some(&issue));
    assert_eq!(state(&store, "l"), LearningState::Accepted);
}

#[test]
fn the_learnings_of_a_plan_follow_the_plan() {
    let in_review = || {
        let mut store = store();
        create(&mut store, document(&[("a", &[])]), PlanOptions::default());
        let run = claim(&mut store, "run-a", "a").unwrap();
        add_to(&mut store, &by(&run, 3), "l", TEXT, None);
        report(&mut store, &run, PhaseOutcome::Complete);
        let end = end(&run, RunStatus::Succeeded, None, PhaseWork::InPlace);
        store.finish_run(&system(3), &end).unwrap();
        let any = IssueId::parse("SYM-1").unwrap();
        let new = NewPullRequest {
            of: PullRequestOf::Plan(plan_id()),
            ..new_pr(&any, "c1")
        };
        let pr = store.create_pr(&system(4), &new).unwrap().id;
        (store, pr)
    };
    let (mut store, pr) = in_review();
    assert_eq!(state(&store, "l"), LearningState::Proposed);
    let own = LearningSource::Plan(plan_id());
    assert_eq!(given_to(&mut store, Some(&own)), ["l"]);
    assert_eq!(given_to(&mut store, None), [""; 0]);
    store.record_merge(&human(8), pr, "m1").unwrap();
    assert_eq!(state(&store, "l"), LearningState::Accepted);

    let (mut store, pr) = in_review();
    let found = merged_outside(PullRequestOf::Plan(plan_id()), pr);
    assert!(store.record_outside_merge(&system(7), &found).unwrap());
    assert_eq!(state(&store, "l"), LearningState::Accepted);

    let (mut store, _pr) = in_review();
    store
        .change_plan(&human(8), &plan_id(), |record, _| {
            Ok((abort_all(&record.state, at(8)).events, ()))
        })
        .unwrap();
    assert_eq!(state(&store, "l"), LearningState::Dropped);
}

#[test]
fn a_text_that_is_known_is_refused_or_adds_its_work_to_the_sources() {
    let (mut store, first, _run) = with_learning();
    let second = add(&mut store, "Two").id;
    let run = worker(&mut store, "run-2", &second);
    // equal, contained, equal once more: two sources
    for text in [
        "run the PARSERS tests, from the root",
        "parser's tests",
        TEXT,
    ] {
        let addition = add_to(&mut store, &by(&run, 4), "m", text, Some(&second));
        let LearningAddition::Seconded(record) = addition else {
            panic!("{addition:?}");
        };
        assert_eq!(record.learning.id.as_str(), "l");
        let sources = [&first, &second].map(|issue| LearningSource::Issue(issue.clone()));
        assert_eq!(record.sources, sources);
    }
    // a person does not second: the learning is there to be accepted
    let known = |addition| matches!(addition, LearningAddition::Known(record) if record.learning.id.as_str() == "l");
    assert!(known(add_to(&mut store, &human(5), "n", TEXT, None)));
    let own = LearningSource::Issue(second.clone());
    assert_eq!(given_to(&mut store, Some(&own)), ["l"]);

    // one source is enough, and one that is left keeps it
    close(&mut store, &first, Resolution::Cancelled);
    assert_eq!(state(&store, "l"), LearningState::Proposed);
    close(&mut store, &second, Resolution::Done);
    assert_eq!(state(&store, "l"), LearningState::Accepted);

    let third = add(&mut store, "Three").id;
    let run = worker(&mut store, "run-3", &third);
    assert!(known(add_to(
        &mut store,
        &by(&run, 6),
        "n",
        "Parser's tests",
        Some(&third)
    )));
    // more than what is known is a learning of its own
    let more = format!("{TEXT} They need a terminal.");
    let addition = add_to(&mut store, &by(&run, 6), "n", &more, Some(&third));
    assert!(
        matches!(addition, LearningAddition::Added(_)),
        "{addition:?}"
    );
    // what a person retired is refused, but what it contains is not
    let id = [
        LearningId::parse("l").unwrap(),
        LearningId::parse("n").unwrap(),
    ];
    store.retire_learnings(&human(7), &id).unwrap();
    assert!(known(add_to(
        &mut store,
        &by(&run, 8),
        "o",
        TEXT,
        Some(&third)
    )));
    let addition = add_to(
        &mut store,
        &by(&run, 8),
        "o",
        "Parser's tests",
        Some(&third),
    );
    assert!(
        matches!(addition, LearningAddition::Added(_)),
        "{addition:?}"
    );
}

#[test]
fn a_dropped_text_that_another_issue_finds_is_proposed_again() {
    let (mut store, first, _run) = with_learning();
    close(&mut store, &first, Resolution::Cancelled);
    let second = add(&mut store, "Two").id;
    let run = worker(&mut store, "run-2", &second);
    let addition = add_to(&mut store, &by(&run, 12), "m", TEXT, Some(&second));
    assert!(
        matches!(addition, LearningAddition::Seconded(_)),
        "{addition:?}"
    );
    assert_eq!(state(&store, "l"), LearningState::Proposed);
}

#[test]
fn a_deleted_issue_takes_its_proposal_with_it_or_leaves_it_to_the_others() {
    let (mut store, first, run) = with_learning();
    let second = add(&mut store, "Two").id;
    let other = worker(&mut store, "run-2", &second);
    add_to(&mut store, &by(&other, 4), "m", TEXT, Some(&second));
    close(&mut store, &first, Resolution::Cancelled);
    let end = finish(&run, RunStatus::Cancelled, None);
    store.finish_run(&system(11), &end).unwrap();
    store
        .delete_issue(&human(12), &first, Links::Refuse)
        .unwrap();
    let id = LearningId::parse("l").unwrap();
    let record = store.learning(&id).unwrap();
    assert_eq!(record.state, LearningState::Proposed);
    assert_eq!(record.sources, [LearningSource::Issue(second.clone())]);
}

#[test]
fn a_text_that_is_too_long_is_refused_and_old_ones_stay() {
    let mut store = store();
    let long = "ä".repeat(601);
    let error = store
        .add_learning(&human(1), &new_learning("a", &long, None))
        .unwrap_err();
    assert!(matches!(error, StoreError::Field(_)), "{error}");
    let mut record = {
        add_to(&mut store, &human(1), "a", "short", None);
        store.learning(&LearningId::parse("a").unwrap()).unwrap()
    };
    record.learning.id = LearningId::parse("b").unwrap();
    record.learning.pattern = long;
    store
        .import_learnings(&human(2), &project(), &[record])
        .unwrap();
    assert_eq!(state(&store, "b"), LearningState::Accepted);
}

#[test]
fn lists_are_filtered_by_state() {
    use LearningState as L;
    let (mut store, issue, _run) = with_learning();
    let other = add(&mut store, "Other").id;
    add_to(&mut store, &human(4), "person", "Parser A", None);
    let list = |store: &Store, states: &[LearningState], own: Option<&IssueId>| {
        let filter = LearningFilter {
            states: states.to_vec(),
            or_proposed_by: own.cloned(),
            ..LearningFilter::default()
        };
        let listed = store.learnings(&filter).unwrap();
        let names: Vec<String> = listed
            .iter()
            .map(|record| record.learning.id.to_string())
            .collect();
        names.join(" ")
    };
    assert_eq!(list(&store, &[L::Accepted], None), "person");
    assert_eq!(list(&store, &[L::Accepted], Some(&issue)), "person l");
    assert_eq!(list(&store, &[L::Accepted], Some(&other)), "person");
    assert_eq!(list(&store, &[L::Proposed], None), "l");
    assert_eq!(list(&store, L::ALL, None), "person l");
    let unused = RunId::parse("nowhere").unwrap();
    let error = store.learning_source_of(&unused).unwrap_err();
    assert!(matches!(error, StoreError::NotFound { .. }), "{error}");
}
