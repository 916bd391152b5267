//! Issues: identifiers, moves, dependencies, the log.

use symphony_core::id::{IssueId, ProjectId};
use symphony_core::issue::{IssueEvent, IssueLine, IssueStatus};
use symphony_store::{IssueEdit, IssueFilter, IssueOrder, StoreError, fold_issue};

use crate::support::{add, by, human, new_issue, project, store, worker};

#[test]
fn identifiers_count_up_within_the_project() {
    let mut store = store();
    let ids: Vec<String> = (0..3)
        .map(|i| add(&mut store, &format!("issue {i}")).id.to_string())
        .collect();
    assert_eq!(ids, ["DEM-1", "DEM-2", "DEM-3"]);
}

#[test]
fn log_folds_to_the_row() {
    let mut store = store();
    let issue = add(&mut store, "one");
    let run = worker(&mut store, "r1", &issue.id);
    store
        .move_issue(
            &by(&run, 3),
            &issue.id,
            &IssueEvent::AgentBlocked {
                reason: "no key".into(),
            },
        )
        .unwrap();
    store
        .move_issue(&human(4), &issue.id, &IssueEvent::Queued)
        .unwrap();
    store
        .move_issue(&human(5), &issue.id, &IssueEvent::Cancelled)
        .unwrap();
    let row = store.issue(&issue.id).unwrap();
    assert_eq!(
        fold_issue(&store.events_of_issue(&issue.id).unwrap()).unwrap(),
        row.state
    );
    assert_eq!(row.state.status(), IssueStatus::Cancelled);
}

#[test]
fn refused_move_writes_nothing() {
    let mut store = store();
    let issue = add(&mut store, "one");
    let before = store.events_of_issue(&issue.id).unwrap().len();
    let error = store
        .move_issue(&human(2), &issue.id, &IssueEvent::Merged)
        .unwrap_err();
    assert!(matches!(error, StoreError::Transition { .. }), "{error}");
    assert_eq!(store.events_of_issue(&issue.id).unwrap().len(), before);
}

#[test]
fn cycles_of_dependencies_are_refused() {
    let mut store = store();
    let (a, b, c) = (
        add(&mut store, "a"),
        add(&mut store, "b"),
        add(&mut store, "c"),
    );
    let on = |ids: &[&symphony_core::issue::Issue]| IssueEdit {
        depends_on: Some(ids.iter().map(|i| i.id.clone()).collect()),
        ..IssueEdit::default()
    };
    store.edit_issue(&human(2), &b.id, &on(&[&a])).unwrap();
    store.edit_issue(&human(2), &c.id, &on(&[&b])).unwrap();
    let error = store.edit_issue(&human(2), &a.id, &on(&[&c])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "DEM-1 cannot depend on DEM-3: DEM-3 waits for DEM-1, by its dependencies or its sub-tasks"
    );
    assert_eq!(store.issue(&a.id).unwrap().depends_on, []);
}

#[test]
fn agents_do_not_repeat_an_open_title() {
    let mut store = store();
    let issue = add(&mut store, "Fix   the Parser");
    let run = worker(&mut store, "r1", &issue.id);
    let error = store
        .add_issue(&by(&run, 3), &new_issue("fix the parser"))
        .unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("DEM-1 is open and has the same title"),
        "{error}"
    );
    assert!(
        store
            .add_issue(&human(3), &new_issue("fix the parser"))
            .is_ok()
    );
}

#[test]
fn a_run_makes_at_most_twenty_issues() {
    let mut store = store();
    let issue = add(&mut store, "source");
    let run = worker(&mut store, "r1", &issue.id);
    for i in 0..20 {
        store
            .add_issue(&by(&run, 3), &new_issue(&format!("new {i}")))
            .unwrap();
    }
    let error = store
        .add_issue(&by(&run, 3), &new_issue("one more"))
        .unwrap_err();
    assert!(error.to_string().contains("at most 20"), "{error}");
}

#[test]
fn lists_are_paged_and_filtered() {
    let mut store = store();
    for i in 0..12 {
        let mut new = new_issue(&format!("issue {i}"));
        new.labels = vec![if i % 2 == 0 { "even" } else { "odd" }.into()];
        store.add_issue(&human(1), &new).unwrap();
    }
    let filter = IssueFilter {
        label: Some("even".into()),
        limit: Some(4),
        ..IssueFilter::default()
    };
    let first = store.list_issues(&filter).unwrap();
    let second = store
        .list_issues(&IssueFilter {
            after: first.next.clone(),
            ..filter
        })
        .unwrap();
    let numbers = |page: &symphony_store::IssuePage| {
        page.items.iter().map(|i| i.id.number()).collect::<Vec<_>>()
    };
    assert_eq!(
        (numbers(&first), numbers(&second)),
        (vec![1, 3, 5, 7], vec![9, 11])
    );
    assert_eq!(second.next, None);
    let text = IssueFilter {
        text: Some("ISSUE 11".into()),
        ..IssueFilter::default()
    };
    assert_eq!(numbers(&store.list_issues(&text).unwrap()), [12]);
}

#[test]
fn a_list_without_an_end_is_the_same_in_pages() {
    let mut store = store();
    // in one transaction, which on a server is a small part of 1,201
    let lines: Vec<_> = (0..1_201)
        .map(|i| {
            let mut line = IssueLine::titled(format!("issue {i}"));
            line.labels = vec![if i % 2 == 0 { "even" } else { "odd" }.into()];
            (i + 1, line)
        })
        .collect();
    let imported = store.import_issues(&human(1), &project(), &lines).unwrap();
    assert_eq!(imported.unwrap().added.len(), 1_201);
    let after = |number: u32| Some(IssueId::parse(format!("DEM-{number}")).unwrap());
    let other = Some(ProjectId::parse("aaa").unwrap());
    for filter in [
        IssueFilter::default(),
        IssueFilter {
            project: Some(project()),
            ..IssueFilter::default()
        },
        IssueFilter {
            project: Some(project()),
            order: IssueOrder::Newest,
            ..IssueFilter::default()
        },
        IssueFilter {
            label: Some("odd".into()),
            after: after(8),
            ..IssueFilter::default()
        },
        IssueFilter {
            limit: Some(1_000),
            ..IssueFilter::default()
        },
        IssueFilter {
            limit: Some(1_201),
            ..IssueFilter::default()
        },
        IssueFilter {
            limit: Some(0),
            ..IssueFilter::default()
        },
        IssueFilter {
            project: other,
            after: after(8),
            ..IssueFilter::default()
        },
        IssueFilter {
            after: after(5_000),
            ..IssueFilter::default()
        },
    ] {
        let page = store.list_issues(&filter).unwrap();
        let mut issues = store.issues(&filter);
        let all: Vec<_> = issues.by_ref().map(Result::unwrap).collect();
        assert_eq!(
            (&all, issues.rest()),
            (&page.items, page.next.as_ref()),
            "{filter:?}"
        );
    }
}

#[test]
fn an_issue_is_filed_once_whoever_asks() {
    let mut store = store();
    let first = store.file_issue(&human(1), &new_issue("Fix it")).unwrap();
    let twin = new_issue(" fix  IT ".trim());
    let error = store.file_issue(&human(2), &twin).unwrap_err();
    assert_eq!(
        error.to_string(),
        "DEM-1 is open and has the same title: add a comment or a finding there instead"
    );
    // a person who adds one by hand may repeat it, and what has ended does not count
    store.add_issue(&human(3), &twin).unwrap();
    for id in [&first.id, &IssueId::parse("DEM-2").unwrap()] {
        store
            .move_issue(&human(4), id, &IssueEvent::Cancelled)
            .unwrap();
    }
    store.file_issue(&human(5), &twin).unwrap();
}

#[test]
fn a_first_number_is_chosen_only_before_any_is_given_out() {
    let mut store = store();
    store.number_issues_from(&human(1), &project(), 42).unwrap();
    assert_eq!(add(&mut store, "one").id.number(), 42);
    let late = store.number_issues_from(&human(2), &project(), 7);
    assert!(late.is_err(), "{late:?}");
    assert_eq!(add(&mut store, "two").id.number(), 43);
}
