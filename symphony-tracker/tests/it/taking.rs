//! A base after steps that a death cut short.

use symphony_core::issue::{IssueState, IssueStatus, Priority, Resolution};
use symphony_tracker::arrival::Step;
use symphony_tracker::base::Base;
use symphony_tracker::remote::StateGroup;
use symphony_tracker::taking::{Carried, Taking, resume};

use crate::samples::{github, linked, remote, set, state};

/// What both sides had, and what they have once all steps are carried out.
fn bases() -> (Base, Taking) {
    let before = linked(&github(), &remote(), IssueState::Todo).base;
    let mut after = before.clone();
    after.remote.title = "Theirs".into();
    after.local.title = "Theirs".into();
    after.remote.labels = set(&["new", "P0", "ready"]);
    after.local.labels = set(&["new"]);
    after.local.priority = Priority::Urgent;
    after.remote.state = state("closed", StateGroup::Completed);
    after.local.status = Some(IssueStatus::Done);
    after.local.status_label = Some(IssueStatus::Done);
    let steps = vec![
        Step::SetTitle {
            title: "Theirs".into(),
        },
        Step::SetLabels {
            add: vec!["new".into()],
            remove: Vec::new(),
        },
        Step::SetPriority {
            priority: Priority::Urgent,
        },
        Step::Close {
            resolution: Resolution::Done,
        },
    ];
    let taking = Taking {
        base: after,
        steps,
        since: 7,
    };
    (before, taking)
}

#[test]
fn both_sides_agree_on_what_was_carried_out_and_on_nothing_else() {
    let (before, taking) = bases();
    let after = |edits, moves| resume(&github(), &before, &taking, Carried { edits, moves });
    assert_eq!(after(0, 0), before);
    let title = after(1, 0);
    assert_eq!(
        (title.remote.title.as_str(), title.local.title.as_str()),
        ("Theirs", "Theirs")
    );
    assert_eq!(title.remote.labels, before.remote.labels);
    let labels = after(2, 0);
    assert!(labels.remote.labels.contains("new") && !labels.remote.labels.contains("P0"));
    assert_eq!(labels.local.priority, before.local.priority);
    let priority = after(3, 0);
    assert!(priority.remote.labels.contains("P0"));
    assert_eq!(priority.local.priority, Priority::Urgent);
    assert_eq!(priority.remote.state, before.remote.state);
    let all = after(3, 1);
    assert_eq!(
        (all.remote.state.group, all.local.status),
        (StateGroup::Completed, Some(IssueStatus::Done))
    );
}

#[test]
fn a_note_is_read_as_it_was_written() {
    let (_, taking) = bases();
    let text = serde_json::to_string(&taking).unwrap();
    assert_eq!(serde_json::from_str::<Taking>(&text).unwrap(), taking);
}
