//! What a tracker's issue changes here, rule by rule.

use std::collections::{BTreeMap, BTreeSet};

use symphony_core::issue::{IssueState, IssueStatus, Priority, TEXT_BYTES_MAX};
use symphony_tracker::arrival::{Around, Arrival, HowRead, Reading, Step, plan_arrival};
use symphony_tracker::base::FilterMatch;
use symphony_tracker::change::{Change, ChangeId};
use symphony_tracker::linked::{
    Activity, Attempt, Conflict, Covers, Field, LinkedIssue, Note, Side,
};
use symphony_tracker::marker;
use symphony_tracker::relations::{resolve, waiting};
use symphony_tracker::remote::{ExternalId, RemoteIssue, RemoteUser};

use crate::samples::{arrive, arrive_as, at, closed, github, id, linked, pending, remote, set};

fn todo() -> LinkedIssue {
    linked(&github(), &remote(), IssueState::Todo)
}

fn first(settings: &symphony_core::config::TrackerSettings, issue: &RemoteIssue) -> Arrival {
    let reading = Reading {
        issue,
        how: HowRead::OnPage,
    };
    plan_arrival(settings, reading, None, &Around::default())
}

fn ours_lost(field: Field, lost: &str) -> Conflict {
    Conflict {
        field,
        loser: Side::Ours,
        lost: lost.to_owned(),
    }
}

#[test]
fn an_issue_that_matches_the_filter_is_imported_as_symphony_can_hold_it() {
    let mut issue = remote();
    issue.title = "  Add a page\n".into();
    issue.body = "a\r\nb".into();
    issue.labels = set(&["UI", "p1", "Ready", "phase:design", &"x".repeat(101)]);
    let Arrival::Import(import) = first(&github(), &issue) else {
        panic!("it is imported");
    };
    assert_eq!(import.title, "Add a page");
    assert_eq!(import.description, "a\nb");
    assert_eq!(import.labels, ["UI"]);
    assert_eq!(import.priority, Priority::High);
    assert_eq!(import.status, IssueStatus::Todo);
    assert_eq!(import.notes.len(), 1);
    assert_eq!(import.base.remote.labels, issue.labels);
    assert_eq!(import.base.local.labels, set(&["UI"]));
}

#[test]
fn the_filter_decides_what_is_imported() {
    let user = |id: &str, login: &str| RemoteUser {
        id: ExternalId::new(id),
        login: login.into(),
    };
    let mut settings = github();
    settings.filter.labels = vec!["ui".into(), "Agent".into()];
    settings.filter.assignees = vec!["ADA".into(), "9".into()];
    settings.filter.states = vec!["Open".into()];
    for (labels, assignees, is_closed, expected) in [
        (set(&["UI", "agent"]), vec![user("7", "ada")], false, true),
        (
            set(&["UI", "agent"]),
            vec![user("1", "bob"), user("9", "eve")],
            false,
            true,
        ),
        (set(&["UI"]), vec![user("7", "ada")], false, false),
        (set(&["UI", "agent"]), vec![user("8", "bob")], false, false),
        (set(&["UI", "agent"]), vec![], false, false),
        (set(&["UI", "agent"]), vec![user("7", "ada")], true, false),
    ] {
        let issue = RemoteIssue {
            labels,
            assignees: assignees.into_iter().collect(),
            state: if is_closed { closed() } else { remote().state },
            ..remote()
        };
        let arrival = first(&settings, &issue);
        assert_eq!(
            matches!(arrival, Arrival::Import(_)),
            expected,
            "{arrival:?}"
        );
    }
    settings.filter.states = vec!["todo".into()];
    assert!(matches!(
        first(&settings, &remote()),
        Arrival::NotWanted { .. }
    ));
}

#[test]
fn only_a_reading_that_is_newer_than_what_is_known_is_taken_from_a_page() {
    let linked = todo();
    let edited = RemoteIssue {
        title: "New".into(),
        ..remote()
    };
    let plan = |linked: &LinkedIssue, issue: &RemoteIssue, how| {
        plan_arrival(
            &github(),
            Reading { issue, how },
            Some(linked),
            &Around::default(),
        )
    };
    let older = RemoteIssue {
        updated_at: at(-1),
        ..edited.clone()
    };
    let newer = RemoteIssue {
        updated_at: at(1),
        ..edited.clone()
    };
    assert_eq!(
        plan(&linked, &remote(), HowRead::OnPage),
        Arrival::Unchanged
    );
    assert_eq!(plan(&linked, &edited, HowRead::OnPage), Arrival::ReadAgain);
    assert_eq!(plan(&linked, &older, HowRead::OnPage), Arrival::Unchanged);
    for (issue, how) in [
        (&newer, HowRead::OnPage),
        (&edited, HowRead::ById),
        (&older, HowRead::ById),
    ] {
        let arrival = plan(&linked, issue, how);
        assert!(matches!(arrival, Arrival::Changed(_)), "{arrival:?}");
    }
    let mut unsure = linked;
    unsure.base.seen = None;
    assert_eq!(plan(&unsure, &newer, HowRead::OnPage), Arrival::ReadAgain);
}

#[test]
fn an_edit_there_reaches_ours_and_one_on_both_sides_loses_here() {
    let mut there = remote();
    there.title = "Theirs".into();
    there.body = "Their text".into();
    there.labels = set(&["ui", "p0"]);
    let steps = vec![
        Step::SetTitle {
            title: "Theirs".into(),
        },
        Step::SetDescription {
            description: "Their text".into(),
        },
        Step::SetPriority {
            priority: Priority::Urgent,
        },
    ];
    let changed = arrive(&github(), &todo(), &there);
    assert_eq!((changed.steps, changed.conflicts), (steps.clone(), vec![]));

    let mut ours = todo();
    ours.ours.title = "Ours".into();
    ours.ours.description = "Our text".into();
    ours.ours.priority = Priority::Low;
    let changed = arrive(&github(), &ours, &there);
    assert_eq!(changed.steps, steps);
    assert_eq!(
        changed.conflicts,
        [
            ours_lost(Field::Title, "Ours"),
            ours_lost(Field::Description, "Our text"),
            ours_lost(Field::Priority, "low"),
        ]
    );

    ours.ours.title = "Theirs".into();
    ours.ours.description = "Their text".into();
    ours.ours.priority = Priority::Urgent;
    let changed = arrive(&github(), &ours, &there);
    assert_eq!((changed.steps, changed.conflicts), (vec![], vec![]));
    assert_eq!(changed.base.local.title, "Theirs");
}

#[test]
fn what_the_mapping_loses_is_no_edit() {
    let long = "a".repeat(TEXT_BYTES_MAX + 10);
    let there = RemoteIssue {
        body: long.clone(),
        ..remote()
    };
    let mut ours = linked(&github(), &there, IssueState::Todo);
    ours.ours.title = "Ours".into();
    for (title, body) in [
        (" Add a page ", long.clone()),
        ("Add a page", format!("{long} more")),
    ] {
        let there = RemoteIssue {
            title: title.into(),
            body,
            ..there.clone()
        };
        let changed = arrive(&github(), &ours, &there);
        assert_eq!((changed.steps, changed.conflicts), (vec![], vec![]));
        assert_eq!(changed.base.local.title, "Add a page", "ours still differs");
    }
}

#[test]
fn each_label_is_merged_for_itself() {
    let there = |labels: &[&str]| RemoteIssue {
        labels: set(labels),
        ..remote()
    };
    let settings = github();
    let ours = |base: &[&str], now: &[&str]| {
        let mut linked = linked(&settings, &there(base), IssueState::Todo);
        linked.ours.labels = set(now);
        linked
    };
    for (base, here, now, add, remove) in [
        (vec!["a"], vec!["a"], vec!["a", "b"], vec!["b"], vec![]),
        (vec!["a"], vec!["a"], vec!["b"], vec!["b"], vec!["a"]),
        (vec!["a"], vec!["a", "c"], vec!["b"], vec!["b"], vec!["a"]),
        (vec!["a"], vec![], vec!["b"], vec!["b"], vec![]),
        (vec!["a"], vec!["A"], vec!["b"], vec!["b"], vec!["A"]),
        (
            vec!["a", "x"],
            vec!["a", "b"],
            vec!["a", "B"],
            vec![],
            vec![],
        ),
        (
            vec!["a"],
            vec!["a"],
            vec!["a", "phase:x", "P1"],
            vec![],
            vec![],
        ),
    ] {
        let changed = arrive(&settings, &ours(&base, &here), &there(&now));
        let strings = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect::<Vec<_>>();
        let (add, remove) = (strings(add), strings(remove));
        let is_changed = !(add.is_empty() && remove.is_empty());
        let labels: Vec<Step> = changed
            .steps
            .into_iter()
            .filter(|step| matches!(step, Step::SetLabels { .. }))
            .collect();
        let expected = is_changed.then_some(Step::SetLabels { add, remove });
        assert_eq!(
            labels,
            Vec::from_iter(expected),
            "{base:?} {here:?} {now:?}"
        );
        assert_eq!(changed.conflicts, []);
    }
}

#[test]
fn our_own_change_is_recognised_before_it_passes_for_an_edit() {
    let mut ours = todo();
    ours.ours.title = "Newer".into();
    let sent = Change::SetTitle {
        title: "Sent".into(),
    };
    let covers = Covers::Title {
        title: "Sent".into(),
    };
    ours.pending = vec![pending("c", sent, covers, Attempt::Unanswered)];
    let there = |title: &str| RemoteIssue {
        title: title.into(),
        ..remote()
    };
    let changed = arrive(&github(), &ours, &there("Sent"));
    assert_eq!(changed.settled, [ChangeId::new("c")]);
    assert_eq!((changed.steps, changed.conflicts), (vec![], vec![]));
    assert_eq!(changed.base.local.title, "Sent");

    let changed = arrive(&github(), &ours, &there("Add a page"));
    assert_eq!(
        (changed.settled, changed.untried),
        (vec![], vec![]),
        "a page proves no absence"
    );
    let changed = arrive_as(&github(), &ours, &there("Add a page"), HowRead::ById);
    assert_eq!(
        (changed.settled, changed.untried),
        (vec![], vec![ChangeId::new("c")])
    );
    let changed = arrive_as(&github(), &ours, &there("Theirs"), HowRead::ById);
    assert_eq!(changed.untried, [ChangeId::new("c")]);
    assert_eq!(changed.conflicts, [ours_lost(Field::Title, "Newer")]);
}

#[test]
fn labels_of_a_change_without_answer_are_recognised_one_by_one() {
    let mut ours = todo();
    let change = Change::SetLabels {
        add: set(&["a", "b"]),
        remove: set(&["ui"]),
    };
    ours.pending = vec![pending("c", change, Covers::Labels, Attempt::Unanswered)];
    ours.ours.labels = set(&["b"]);
    let there = RemoteIssue {
        labels: set(&["ui", "a"]),
        ..remote()
    };
    let changed = arrive_as(&github(), &ours, &there, HowRead::ById);
    assert_eq!(changed.untried, [ChangeId::new("c")]);
    assert_eq!((changed.steps, changed.conflicts), (vec![], vec![]));
    assert_eq!(changed.base.local.labels, set(&["a", "ui"]));
}

#[test]
fn an_issue_that_leaves_the_filter_goes_to_the_backlog_unless_work_has_begun() {
    let mut settings = github();
    settings.filter.labels = vec!["ui".into()];
    settings.import_status = IssueStatus::Todo;
    let mut ours = linked(&settings, &remote(), IssueState::Todo);
    let there = RemoteIssue {
        labels: set(&[]),
        ..remote()
    };
    let to = IssueStatus::Backlog;
    let changed = arrive(&settings, &ours, &there);
    assert_eq!(changed.steps.last(), Some(&Step::Move { to }));
    assert_eq!(changed.base.filter, FilterMatch::Shelved);
    assert!(matches!(changed.notes[..], [Note::ShelvedByFilter { .. }]));

    let mut shelved = ours.clone();
    shelved.base = changed.base;
    shelved.base.seen = Some(at(0));
    shelved.ours.labels = set(&[]);
    shelved.ours.state = IssueState::Backlog;
    let changed = arrive(&settings, &shelved, &there);
    assert_eq!(
        (changed.steps, changed.notes),
        (vec![], vec![]),
        "noted once"
    );
    let changed = arrive(&settings, &shelved, &remote());
    let to = IssueStatus::Todo;
    assert_eq!(changed.steps.last(), Some(&Step::Move { to }));
    assert_eq!(changed.notes, [Note::MatchesAgain]);

    ours.activity = Activity::Idle;
    let changed = arrive(&settings, &ours, &there);
    assert!(
        !changed
            .steps
            .iter()
            .any(|step| matches!(step, Step::Move { .. }))
    );
    assert!(matches!(changed.notes[..], [Note::LeftFilter { .. }]));
}

#[test]
fn relations_wait_until_both_ends_are_linked() {
    let ext = |text: &str| ExternalId::new(text);
    let there = RemoteIssue {
        parent: Some(ext("1")),
        blocked_by: BTreeSet::from([ext("2"), ext("3")]),
        ..remote()
    };
    let around = Around {
        links: BTreeMap::from([(ext("2"), id("SYM-2"))]),
        ..Around::default()
    };
    let reading = Reading {
        issue: &there,
        how: HowRead::OnPage,
    };
    let Arrival::Import(import) = plan_arrival(&github(), reading, None, &around) else {
        panic!("it is imported");
    };
    assert_eq!(import.steps, [Step::AddDependency { on: id("SYM-2") }]);
    assert_eq!(waiting(&import.base), [&ext("1"), &ext("3")]);

    let links = BTreeMap::from([
        (ext("1"), id("SYM-1")),
        (ext("2"), id("SYM-2")),
        (ext("3"), id("SYM-3")),
    ]);
    let (steps, base) = resolve(&import.base, &links);
    let parent = id("SYM-1");
    assert_eq!(
        steps,
        [
            Step::SetParent {
                parent: parent.clone()
            },
            Step::AddDependency { on: id("SYM-3") }
        ]
    );
    assert_eq!(waiting(&base), Vec::<&ExternalId>::new());
    assert_eq!(resolve(&base, &links).0, []);

    let mut linked = todo();
    linked.base = base;
    let around = Around {
        links,
        ..Around::default()
    };
    let gone = RemoteIssue {
        updated_at: at(5),
        ..remote()
    };
    let reading = Reading {
        issue: &gone,
        how: HowRead::OnPage,
    };
    let Arrival::Changed(changed) = plan_arrival(&github(), reading, Some(&linked), &around) else {
        panic!("it changed");
    };
    assert_eq!(
        changed.steps,
        [
            Step::ClearParent { parent },
            Step::RemoveDependency { on: id("SYM-2") },
            Step::RemoveDependency { on: id("SYM-3") },
        ]
    );
}

#[test]
fn a_sub_issue_of_ours_is_linked_and_not_imported() {
    let change = ChangeId::new("0b7c2a52-7f0e-4a5e-9d61-3c2f1f2a9a11");
    let around = Around {
        sub_issues: BTreeMap::from([(change.clone(), id("SYM-9"))]),
        ..Around::default()
    };
    let marked = RemoteIssue {
        body: marker::with("text", &change),
        ..remote()
    };
    let by_id = RemoteIssue {
        id: ExternalId::new(change.as_str()),
        ..remote()
    };
    let quoted = RemoteIssue {
        body: format!("> {}", marker::with("", &change)),
        ..remote()
    };
    let plan = |issue: &RemoteIssue| {
        let how = HowRead::OnPage;
        plan_arrival(&github(), Reading { issue, how }, None, &around)
    };
    let created = Arrival::Created {
        change: change.clone(),
        issue: id("SYM-9"),
    };
    assert_eq!(plan(&marked), created);
    assert_eq!(plan(&by_id), created);
    assert!(matches!(plan(&quoted), Arrival::Import(_)));
}

#[test]
fn a_part_of_a_change_is_known_by_the_label_that_comes_first() {
    let labels = |names: &[&str]| RemoteIssue {
        labels: set(names),
        ..remote()
    };
    let plan = |ours: Priority, add: &[&str], there: &[&str]| {
        let mut linked = linked(&github(), &labels(&["P1"]), IssueState::Todo);
        linked.ours.priority = ours;
        let change = Change::SetLabels {
            add: set(add),
            remove: set(&["P1"]),
        };
        let covers = Covers::Priority { priority: ours };
        linked.pending = vec![pending("c", change, covers, Attempt::Unanswered)];
        arrive_as(&github(), &linked, &labels(there), HowRead::ById)
    };
    // added, and not yet removed
    let part = plan(Priority::Urgent, &["P0"], &["P0", "P1"]);
    assert_eq!(part.untried, [ChangeId::new("c")]);
    assert_eq!((part.steps, part.conflicts), (vec![], vec![]));
    // our label is gone, because a person chose another one
    let edit = plan(Priority::Low, &[], &["P0"]);
    assert_eq!(edit.untried, [ChangeId::new("c")]);
    assert_eq!(edit.conflicts, [ours_lost(Field::Priority, "low")]);
    let whole = plan(Priority::Low, &[], &[]);
    assert_eq!(whole.settled, [ChangeId::new("c")]);
}
