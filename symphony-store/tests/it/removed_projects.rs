//! A project leaves the installation while issues of another one depend on its own.

use symphony_core::id::{IssueId, ProjectId};
use symphony_core::inbox::{InboxItem, InboxKind};
use symphony_core::issue::{DependentsFate, IssueEvent, IssueStatus, Resolution};
use symphony_store::{NewIssue, NewProject, Store};

use crate::support::{assert_sound, human, new_issue, project, store};

fn leaving() -> ProjectId {
    ProjectId::parse("leaving").unwrap()
}

fn new_leaving() -> NewProject {
    NewProject {
        id: leaving(),
        name: "Leaving".into(),
        root: "/leaving".into(),
        prefix: "OUT".into(),
    }
}

fn add_to(store: &mut Store, to: ProjectId, title: &str, before: &[&IssueId]) -> IssueId {
    let new = NewIssue {
        project: to,
        depends_on: before.iter().map(|id| (*id).clone()).collect(),
        ..new_issue(title)
    };
    store.add_issue(&human(1), &new).unwrap().id
}

/// A store with a second project: an issue of it that is done, two that are open, and what depends on them in the first.
fn two_projects() -> (Store, [IssueId; 4]) {
    let mut store = store();
    store.add_project(&human(1), &new_leaving()).unwrap();
    let done = add_to(&mut store, leaving(), "Done", &[]);
    store
        .move_issue(
            &human(2),
            &done,
            &IssueEvent::Closed {
                resolution: Resolution::Done,
                reason: "r".to_owned(),
            },
        )
        .unwrap();
    let open = add_to(&mut store, leaving(), "Open", &[]);
    let behind = add_to(&mut store, leaving(), "Behind", &[&open]);
    let both = add_to(&mut store, project(), "Both", &[&open, &behind, &done]);
    let last = add_to(&mut store, project(), "Last", &[&both]);
    (store, [open, behind, both, last])
}

fn status(store: &Store, id: &IssueId) -> IssueStatus {
    store.issue(id).unwrap().state.status()
}

fn waiting(store: &Store) -> Vec<(InboxKind, String)> {
    let waiting = store.waiting_issues(&project(), 15, human(9).now).unwrap();
    let items = waiting.into_iter().map(InboxItem::from);
    items.map(|item| (item.kind, item.text)).collect()
}

#[test]
fn what_depends_on_a_project_that_leaves_waits_for_a_person_goes_with_it_or_goes_on() {
    use DependentsFate::{Cancel, Keep, Release};
    for (fate, expected, comments) in [
        (Keep, [IssueStatus::Todo; 2], 0),
        (Cancel, [IssueStatus::Cancelled; 2], 1),
        (Release, [IssueStatus::Todo; 2], 2),
    ] {
        let (mut store, [open, behind, both, last]) = two_projects();
        let found = store.dependents_on_project(&leaving()).unwrap();
        let direct = found.settled(Keep);
        assert_eq!(direct.len(), 1, "{direct:?}");
        assert_eq!(direct[0].issue, both);
        let effects = store.remove_project(&human(5), &leaving(), fate).unwrap();
        assert_eq!(effects, found.settled(fate), "{fate}");
        assert_eq!([&both, &last].map(|id| status(&store, id)), expected);
        assert_eq!(status(&store, &open), IssueStatus::Todo, "its own stay");
        assert_eq!(store.comments(&both, 10).unwrap().len(), comments, "{fate}");
        let kept = store.issue(&both).unwrap().depends_on;
        assert_eq!(kept.contains(&behind), fate != Release, "{fate}");
        let named = if fate == Keep {
            let text = "it waits for OUT-2, OUT-3, which left this installation with their project (run `symphony init` in the project's folder to bring it back)";
            vec![(InboxKind::Dependency, text.to_owned())]
        } else {
            Vec::new()
        };
        assert_eq!(waiting(&store), named, "{fate}");
        assert_sound(&mut store);
    }
}

#[test]
fn a_backlog_that_left_with_its_project_is_not_asked_for_until_it_is_back() {
    let (mut store, [open, behind, ..]) = two_projects();
    for issue in [&open, &behind] {
        let shelved = IssueEvent::Shelved;
        store.move_issue(&human(3), issue, &shelved).unwrap();
    }
    store
        .remove_project(&human(5), &leaving(), DependentsFate::Keep)
        .unwrap();
    let kinds = |store: &Store| -> Vec<InboxKind> {
        waiting(store).into_iter().map(|(kind, _)| kind).collect()
    };
    assert_eq!(kinds(&store), [InboxKind::Dependency]);
    assert_sound(&mut store);
    store.add_project(&human(6), &new_leaving()).unwrap();
    assert_eq!(kinds(&store), [InboxKind::Needed; 2]);
    assert_sound(&mut store);
    let unshelved = IssueEvent::Queued;
    for issue in [&open, &behind] {
        store.move_issue(&human(7), issue, &unshelved).unwrap();
    }
    assert_eq!(kinds(&store), []);
    assert_sound(&mut store);
}

#[test]
fn a_project_that_nothing_depends_on_asks_nothing() {
    let (store, _) = two_projects();
    let found = store.dependents_on_project(&project()).unwrap();
    assert_eq!(found.settled(DependentsFate::Keep), []);
}
