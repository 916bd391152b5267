//! Issues that a person closes or deletes, and what happens to those that name them.

use symphony_core::failure::ErrorClass;
use symphony_core::id::{IssueId, PrId};
use symphony_core::issue::{DependentsFate, IssueEvent, IssueStatus, Resolution};
use symphony_core::pull_request::{PrState, PullRequest, VerdictKind};
use symphony_core::run::RunStatus;
use symphony_store::{
    EndedIssue, IssueEnd, IssueRefusal, KeptFor, Links, NewIssue, NewVerdict, Store, StoreError,
};

use crate::support::{
    add, assert_sound, by, finish, human, moved, new_issue, new_pr, store, system, worker,
};

fn close(store: &mut Store, id: &IssueId, dependents: DependentsFate) -> EndedIssue {
    let reason = "not wanted any more".to_owned();
    let event = IssueEvent::Closed {
        resolution: Resolution::Cancelled,
        reason: reason.clone(),
    };
    let end = IssueEnd {
        event,
        comment: Some(reason),
        dependents,
    };
    store.end_issue(&human(10), id, &end).unwrap()
}

fn add_after(store: &mut Store, title: &str, before: &[&IssueId]) -> IssueId {
    let new = NewIssue {
        depends_on: before.iter().map(|id| (*id).clone()).collect(),
        ..new_issue(title)
    };
    store.add_issue(&human(1), &new).unwrap().id
}

/// A pull request, opened by a worker's run that has ended.
pub(crate) fn open_pr(store: &mut Store, issue: &IssueId) -> PrId {
    let run = worker(store, "author", issue);
    let pr = store
        .create_pr(&by(&run, 3), &new_pr(issue, "head"))
        .unwrap();
    store
        .finish_run(&system(4), &finish(&run, RunStatus::Succeeded, None))
        .unwrap();
    pr.id
}

fn status(store: &Store, id: &IssueId) -> IssueStatus {
    store.issue(id).unwrap().state.status()
}

#[test]
fn closing_ends_an_issue_and_its_review_and_says_why() {
    let mut store = store();
    let issue = add(&mut store, "One").id;
    let pr = open_pr(&mut store, &issue);
    let event = IssueEvent::Closed {
        resolution: Resolution::Done,
        reason: "done by hand".to_owned(),
    };
    let end = IssueEnd {
        event,
        comment: Some("done by hand".to_owned()),
        dependents: DependentsFate::Keep,
    };
    let ended = store.end_issue(&human(10), &issue, &end).unwrap();
    assert_eq!(ended.issue.state.status(), IssueStatus::Done);
    assert_eq!(store.pr(pr).unwrap().state, PrState::Closed);
    let comments = store.comments(&issue, 10).unwrap();
    assert_eq!(comments.last().unwrap().content, "done by hand");
    let again = store.end_issue(&human(11), &issue, &end);
    assert!(
        matches!(again, Err(StoreError::Transition { .. })),
        "{again:?}"
    );
    assert_sound(&mut store);
}

#[test]
fn dependents_of_a_cancelled_issue_wait_go_with_it_or_go_on() {
    for (fate, expected, settled) in [
        (DependentsFate::Keep, [IssueStatus::Todo; 2], 1),
        (DependentsFate::Cancel, [IssueStatus::Cancelled; 2], 2),
        (DependentsFate::Release, [IssueStatus::Todo; 2], 1),
    ] {
        let mut store = store();
        let gone = add(&mut store, "Gone").id;
        let other = add(&mut store, "Other").id;
        let next = add_after(&mut store, "Next", &[&gone, &other]);
        let last = add_after(&mut store, "Last", &[&next]);
        let ended = close(&mut store, &gone, fate);
        assert_eq!(ended.dependents.len(), settled, "{fate}");
        assert_eq!([&next, &last].map(|id| status(&store, id)), expected);
        let names_it = store.issue(&next).unwrap().depends_on.contains(&gone);
        assert_eq!(names_it, fate != DependentsFate::Release, "{fate}");
        assert_eq!(status(&store, &other), IssueStatus::Todo);
        assert_sound(&mut store);
    }
}

#[test]
fn a_done_issue_leaves_its_dependents_alone() {
    let mut store = store();
    let first = add(&mut store, "First").id;
    let next = add_after(&mut store, "Next", &[&first]);
    let end = IssueEnd {
        event: IssueEvent::Closed {
            resolution: Resolution::Done,
            reason: "r".to_owned(),
        },
        comment: None,
        dependents: DependentsFate::Cancel,
    };
    let ended = store.end_issue(&human(10), &first, &end).unwrap();
    assert!(ended.dependents.is_empty());
    assert_eq!(status(&store, &next), IssueStatus::Todo);
    assert_sound(&mut store);
}

#[test]
fn a_deleted_issue_leaves_its_history_and_no_fence_is_given_twice() {
    let mut store = store();
    let issue = add(&mut store, "Wrong").id;
    let run = worker(&mut store, "r1", &issue);
    let failed = finish(&run, RunStatus::Failed, Some(ErrorClass::AgentFailed));
    store.finish_run(&system(5), &failed).unwrap();
    let open = store.delete_issue(&human(6), &issue, Links::Refuse);
    assert!(
        matches!(
            open,
            Err(StoreError::Issue(IssueRefusal::Kept {
                why: KeptFor::Work,
                ..
            }))
        ),
        "{open:?}"
    );
    close(&mut store, &issue, DependentsFate::Keep);
    store
        .delete_issue(&human(7), &issue, Links::Refuse)
        .unwrap();
    assert!(matches!(
        store.issue(&issue),
        Err(StoreError::NotFound { .. })
    ));
    let log = store.events_of_issue(&issue).unwrap();
    assert_eq!(log.last().unwrap().kind, "issue_deleted");
    assert_sound(&mut store);
    let next = add(&mut store, "Right").id;
    assert_eq!(next.as_str(), "DEM-2", "its number stays taken");
    let later = worker(&mut store, "r2", &next);
    assert!(later.fence > run.fence, "{:?} {:?}", later.fence, run.fence);
}

#[test]
fn what_other_issues_name_is_not_deleted_unless_they_are_detached() {
    let mut store = store();
    let gone = add(&mut store, "Gone").id;
    let next = add_after(&mut store, "Next", &[&gone]);
    close(&mut store, &gone, DependentsFate::Keep);
    let refused = store.delete_issue(&human(11), &gone, Links::Refuse);
    assert!(
        matches!(
            refused,
            Err(StoreError::Issue(IssueRefusal::Kept {
                why: KeptFor::Links,
                ..
            }))
        ),
        "{refused:?}"
    );
    let found = store.issue_referrers(&gone).unwrap();
    assert_eq!(found.dependents, std::slice::from_ref(&next));
    store
        .delete_issue(&human(12), &gone, Links::Detach)
        .unwrap();
    assert!(store.issue(&next).unwrap().depends_on.is_empty());
    assert_sound(&mut store);
}

#[test]
fn a_parent_whose_only_sub_task_is_deleted_goes_on() {
    let mut store = store();
    let parent = add(&mut store, "Large").id;
    let part = NewIssue {
        parent: Some(parent.clone()),
        ..new_issue("A part")
    };
    let part = store.add_issue(&human(2), &part).unwrap().id;
    assert_eq!(status(&store, &parent), IssueStatus::Blocked);
    close(&mut store, &part, DependentsFate::Keep);
    store
        .delete_issue(&human(12), &part, Links::Refuse)
        .unwrap();
    assert_eq!(status(&store, &parent), IssueStatus::Todo);
    assert_sound(&mut store);
}

/// An issue whose pull request is being merged as "m".
fn begin_merge(store: &mut Store) -> (IssueId, PullRequest) {
    let issue = add(store, "One").id;
    let pr = open_pr(store, &issue);
    let seen = store.pr(pr).unwrap();
    store
        .record_merge_intent(&human(8), &seen, moved("b", "m"))
        .unwrap();
    (issue, seen)
}

#[test]
fn merged_work_keeps_its_record() {
    let mut store = store();
    let (issue, seen) = begin_merge(&mut store);
    let pr = seen.id;
    store.record_merge(&human(9), pr, "m").unwrap();
    let refused = store.delete_issue(&human(11), &issue, Links::Detach);
    assert!(
        matches!(
            refused,
            Err(StoreError::Issue(IssueRefusal::Kept {
                why: KeptFor::Merged(_),
                ..
            }))
        ),
        "{refused:?}"
    );
}

#[test]
fn a_merge_that_has_begun_keeps_everything_else_from_its_pull_request() {
    let mut store = store();
    let (issue, seen) = begin_merge(&mut store);
    let pr = seen.id;
    let end = IssueEnd {
        event: IssueEvent::Cancelled,
        comment: None,
        dependents: DependentsFate::Keep,
    };
    let refusals = [
        store
            .record_merge_intent(&human(9), &seen, moved("b", "n"))
            .err(),
        store
            .record_review(
                &human(9),
                pr,
                &NewVerdict::plain(VerdictKind::Rejected, "head", "no"),
            )
            .err(),
        store.close_pr(&human(9), pr).err(),
        store.end_issue(&human(9), &issue, &end).err(),
        store
            .move_issue(&human(9), &issue, &IssueEvent::ReviewRejected)
            .err(),
        store
            .move_base(&human(9), &seen.project, &seen.base, "trunk")
            .err(),
    ];
    for refused in refusals {
        let is_told = matches!(&refused, Some(StoreError::MergeBegun { pr: told }) if *told == pr);
        assert!(is_told, "{refused:?}");
    }
    assert_eq!(store.pr(pr).unwrap().state, seen.state);
    // it did not reach its base: the pull request is as it was
    let [intent] = store
        .merge_intents(&seen.project)
        .unwrap()
        .try_into()
        .unwrap();
    assert_eq!(intent.merged, "m");
    store.take_back_merge(&human(10), &intent).unwrap();
    assert_eq!(store.merge_intent(pr).unwrap(), None);
    store.end_issue(&human(11), &issue, &end).unwrap();
    assert_eq!(store.pr(pr).unwrap().state, PrState::Closed);
    assert_sound(&mut store);
}

#[test]
fn only_the_merge_that_was_taken_back_is() {
    let mut store = store();
    let (_, seen) = begin_merge(&mut store);
    let pr = seen.id;
    let old = store.merge_intent(pr).unwrap().unwrap();
    store.take_back_merge(&human(9), &old).unwrap();
    store
        .record_merge_intent(&human(10), &seen, moved("b", "n"))
        .unwrap();
    store.take_back_merge(&human(11), &old).unwrap();
    assert_eq!(store.merge_intent(pr).unwrap().unwrap().merged, "n");
    store.record_merge(&human(12), pr, "n").unwrap();
    assert_eq!(store.merge_intents(&seen.project).unwrap(), []);
    assert_sound(&mut store);
}
