//! What an issue of ours changes at the tracker, rule by rule.

use symphony_core::config::TrackerSettings;
use symphony_core::issue::{IssueState, Priority, TEXT_BYTES_MAX};
use symphony_tracker::base::{Base, FilterMatch};
use symphony_tracker::change::{Applied, Change, ChangeId};
use symphony_tracker::confirm::{confirm, give_up, link_created};
use symphony_tracker::departure::{Departure, plan_departure};
use symphony_tracker::linked::{Attempt, Covers, LinkedIssue, Note, TextBy};
use symphony_tracker::remote::RemoteIssue;
use symphony_tracker::sub_issue::plan_sub_issue;

use crate::samples::{at, github, linear, linked, pending, remote, set};

fn todo() -> LinkedIssue {
    linked(&github(), &remote(), IssueState::Todo)
}

fn changes(departure: &Departure) -> Vec<Change> {
    departure.send.iter().map(|d| d.change.clone()).collect()
}

fn title(text: &str) -> (Change, Covers) {
    let title = text.to_owned();
    (
        Change::SetTitle {
            title: title.clone(),
        },
        Covers::Title { title },
    )
}

/// Applies all that is to be sent, without an issue in the answer.
fn sent(settings: &TrackerSettings, linked: &mut LinkedIssue) -> Vec<Change> {
    let departure = plan_departure(settings, linked);
    let answer = Applied {
        issue: None,
        created: None,
    };
    linked.base = departure
        .send
        .iter()
        .fold(departure.base.clone(), |base, sent| {
            confirm(&base, &sent.change, &sent.covers, &answer)
        });
    changes(&departure)
}

#[test]
fn what_differs_from_our_side_of_the_base_is_sent_once() {
    let mut ours = todo();
    assert_eq!(sent(&github(), &mut ours), []);
    ours.ours.title = "Ours".into();
    ours.ours.description = "Our text".into();
    ours.ours.labels = set(&["new"]);
    ours.ours.priority = Priority::High;
    let labels = |add: &[&str], remove: &[&str]| Change::SetLabels {
        add: set(add),
        remove: set(remove),
    };
    assert_eq!(
        sent(&github(), &mut ours),
        [
            Change::SetTitle {
                title: "Ours".into()
            },
            Change::SetBody {
                body: "Our text".into()
            },
            labels(&["new"], &["ui"]),
            labels(&["P1"], &[]),
        ]
    );
    assert_eq!(sent(&github(), &mut ours), []);
    ours.ours.priority = Priority::Low;
    assert_eq!(sent(&github(), &mut ours), [labels(&[], &["P1"])]);
    ours.ours.priority = Priority::None;
    assert_eq!(sent(&github(), &mut ours), [], "both have no label");
    assert_eq!(ours.base.local.priority, Priority::None);

    let mut ours = linked(&linear(), &remote(), IssueState::Todo);
    ours.ours.priority = Priority::Low;
    let priority = Priority::Low;
    assert_eq!(
        sent(&linear(), &mut ours),
        [Change::SetPriority { priority }]
    );
    assert_eq!(sent(&linear(), &mut ours), []);
}

#[test]
fn a_newer_value_replaces_one_that_waits() {
    let mut ours = todo();
    ours.ours.title = "Second".into();
    let (change, covers) = title("First");
    ours.pending = vec![pending("c", change, covers, Attempt::Untried)];
    let departure = plan_departure(&github(), &ours);
    assert_eq!(changes(&departure), [title("Second").0]);
    assert_eq!(departure.withdraw, [ChangeId::new("c")]);

    ours.ours.title = "First".into();
    let departure = plan_departure(&github(), &ours);
    assert_eq!(
        (changes(&departure), departure.withdraw),
        (vec![], vec![]),
        "it waits"
    );

    ours.ours.title = "Add a page".into();
    let departure = plan_departure(&github(), &ours);
    assert_eq!(
        departure.withdraw,
        [ChangeId::new("c")],
        "it was taken back"
    );

    ours.ours.title = "Second".into();
    ours.pending[0].attempt = Attempt::Unanswered;
    let departure = plan_departure(&github(), &ours);
    assert_eq!(
        (changes(&departure), departure.withdraw),
        (vec![], vec![]),
        "first its fate"
    );
}

#[test]
fn what_the_tracker_cannot_have_is_noted_once_and_not_sent() {
    let long = RemoteIssue {
        body: "a".repeat(TEXT_BYTES_MAX + 1),
        ..remote()
    };
    let mut ours = linked(&github(), &long, IssueState::Todo);
    ours.ours.description = "Short".into();
    ours.ours.labels.insert("l".repeat(51));
    ours.ours.labels.insert("phase:design".into());
    ours.ours.labels.insert("WIP".into());
    let departure = plan_departure(&github(), &ours);
    assert_eq!(changes(&departure), []);
    assert_eq!(departure.notes.len(), 2, "{:?}", departure.notes);
    assert!(
        departure
            .notes
            .iter()
            .all(|note| matches!(note, Note::NotSent { .. }))
    );
    ours.base = departure.base;
    assert_eq!(plan_departure(&github(), &ours).notes, []);
}

#[test]
fn texts_of_agents_are_made_harmless() {
    let mut ours = todo();
    ours.text_by = TextBy::Agent;
    ours.ours.title = "Ask @ada".into();
    ours.ours.description = "fixes #12".into();
    assert_eq!(
        sent(&github(), &mut ours),
        [
            Change::SetTitle {
                title: "Ask @\u{200b}ada".into()
            },
            Change::SetBody {
                body: "fixes #\u{200b}12".into()
            },
        ]
    );
    assert_eq!(sent(&github(), &mut ours), []);
}

#[test]
fn an_answer_confirms_only_the_field_of_its_change() {
    let base = todo().base;
    let (change, covers) = title("Ours");
    let issue = RemoteIssue {
        title: "Ours".into(),
        body: "edited by someone".into(),
        labels: set(&["other"]),
        updated_at: at(9),
        ..remote()
    };
    let applied = |issue| Applied {
        issue,
        created: None,
    };
    let mut expected = base.clone();
    expected.remote.title = "Ours".into();
    expected.local.title = "Ours".into();
    expected.seen = Some(at(9));
    assert_eq!(
        confirm(&base, &change, &covers, &applied(Some(issue))),
        expected
    );
    let blind = confirm(&base, &change, &covers, &applied(None));
    assert_eq!(blind.seen, None);
    let comment = Change::AddComment { body: "x".into() };
    assert_eq!(
        confirm(&base, &comment, &Covers::Comment, &applied(None)),
        base
    );
}

#[test]
fn a_change_that_was_given_up_is_not_sent_again() {
    let mut ours = todo();
    ours.ours.title = "Ours".into();
    ours.ours.labels = set(&["ui", "new"]);
    let departure = plan_departure(&github(), &ours);
    assert_eq!(departure.send.len(), 2);
    let base: Base = departure.send.iter().fold(departure.base, |base, sent| {
        give_up(&base, &sent.change, &sent.covers)
    });
    ours.base = base;
    assert_eq!(changes(&plan_departure(&github(), &ours)), []);
    ours.ours.title = "Another".into();
    assert_eq!(
        changes(&plan_departure(&github(), &ours)),
        [title("Another").0]
    );
}

#[test]
fn a_sub_task_becomes_a_sub_issue_with_the_labels_of_the_filter() {
    let mut settings = github();
    settings.filter.labels = vec!["agent".into()];
    settings.filter.assignees = vec!["ada".into()];
    let mut child = todo().ours;
    child.labels = set(&["Agent", "db", "phase:x"]);
    child.priority = Priority::Urgent;
    child.description = "Ask @ada".into();
    let departing = plan_sub_issue(&settings, "#12", &child, TextBy::Agent).unwrap();
    let Change::AddSubIssue {
        title,
        body,
        labels,
    } = &departing.change
    else {
        panic!("{departing:?}");
    };
    assert_eq!(title, "Add a page");
    assert_eq!(
        body,
        "Symphony made this issue as a part of #12.\n\n> Ask @\u{200b}ada"
    );
    assert_eq!(*labels, set(&["agent", "db"]));
    let Covers::SubIssue { local, .. } = &departing.covers else {
        panic!("{departing:?}");
    };

    let there = RemoteIssue {
        title: title.clone(),
        body: body.clone(),
        labels: labels.clone(),
        ..remote()
    };
    let mut ours = todo();
    ours.ours = child.clone();
    ours.base = link_created(&settings, &departing.change, local, &there);
    assert_eq!(
        ours.base.filter,
        FilterMatch::Left,
        "it is assigned to no one"
    );
    let labels = |add: &[&str]| Change::SetLabels {
        add: set(add),
        remove: set(&[]),
    };
    assert_eq!(
        sent(&settings, &mut ours),
        [labels(&["P0"]), labels(&["ready"])]
    );

    child.state = IssueState::Done;
    assert_eq!(
        plan_sub_issue(&settings, "#12", &child, TextBy::Agent),
        None
    );
    child.state = IssueState::Todo;
    settings.subtasks = false;
    assert_eq!(
        plan_sub_issue(&settings, "#12", &child, TextBy::Agent),
        None
    );
}
