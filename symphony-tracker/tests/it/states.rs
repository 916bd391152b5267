//! States in both directions: every state of a tracker against every state of ours.

use symphony_core::config::TrackerSettings;
use symphony_core::issue::{BlockedBy, IssueState, IssueStatus, Resolution};
use symphony_tracker::arrival::Step;
use symphony_tracker::change::{Applied, Change};
use symphony_tracker::confirm::confirm;
use symphony_tracker::departure::plan_departure;
use symphony_tracker::linked::{Activity, Conflict, Field, LinkedIssue, Side};
use symphony_tracker::remote::{RemoteIssue, RemoteState, StateGroup};

use crate::samples::{arrive, blocked, closed, github, linear, linked, open, remote, set, state};

const CLOSE: Step = Step::Close {
    resolution: Resolution::Done,
};
const DROP: Step = Step::Close {
    resolution: Resolution::Cancelled,
};
const TO_BACKLOG: Step = Step::Move {
    to: IssueStatus::Backlog,
};
const TO_TODO: Step = Step::Move {
    to: IssueStatus::Todo,
};

fn not_planned() -> RemoteState {
    state("closed", StateGroup::NotPlanned)
}

fn there(labels: &[&str], state: RemoteState) -> RemoteIssue {
    RemoteIssue {
        labels: set(labels),
        state,
        ..remote()
    }
}

/// Links an issue that was open at first, and is in some state on both sides now.
fn agreed(settings: &TrackerSettings, there: &RemoteIssue, ours: IssueState) -> LinkedIssue {
    let first = RemoteIssue {
        state: open(),
        ..there.clone()
    };
    let mut linked = linked(settings, &first, ours);
    linked.base.remote.state = there.state.clone();
    linked
}

/// Returns the changes that a departure sends after an arrival, and checks that it sends nothing more after them.
fn sent_after(
    settings: &TrackerSettings,
    mut linked: LinkedIssue,
    now: &RemoteIssue,
) -> Vec<Change> {
    let changed = arrive(settings, &linked, now);
    linked.base = changed.base;
    for step in changed.steps {
        linked.ours.state = match step {
            CLOSE => IssueState::Done,
            DROP => IssueState::Cancelled,
            Step::Reopen | TO_TODO => IssueState::Todo,
            TO_BACKLOG => IssueState::Backlog,
            other => panic!("{other:?}"),
        };
    }
    let departure = plan_departure(settings, &linked);
    let applied = Applied {
        issue: None,
        created: None,
    };
    linked.base = departure.send.iter().fold(departure.base, |base, sent| {
        confirm(&base, &sent.change, &sent.covers, &applied)
    });
    let again = plan_departure(settings, &linked);
    assert_eq!(again.send, [], "after {:?}", departure.send);
    departure.send.into_iter().map(|sent| sent.change).collect()
}

#[test]
fn what_happens_there_on_github_happens_here() {
    let settings = github();
    for (before, ours, now, expected) in [
        (
            there(&[], open()),
            IssueState::Todo,
            there(&[], closed()),
            vec![CLOSE],
        ),
        (
            there(&[], open()),
            IssueState::Review,
            there(&[], not_planned()),
            vec![DROP],
        ),
        (
            there(&[], closed()),
            IssueState::Done,
            there(&[], open()),
            vec![Step::Reopen],
        ),
        (
            there(&[], not_planned()),
            IssueState::Cancelled,
            there(&["later"], open()),
            vec![Step::Reopen, TO_BACKLOG],
        ),
        (
            there(&["later"], open()),
            IssueState::Backlog,
            there(&["ready"], open()),
            vec![TO_TODO],
        ),
        // the label that was added is meant, although the other one was forgotten
        (
            there(&["later"], open()),
            IssueState::Backlog,
            there(&["later", "READY"], open()),
            vec![TO_TODO],
        ),
        (
            there(&["ready"], open()),
            IssueState::Todo,
            there(&["later"], open()),
            vec![TO_BACKLOG],
        ),
        // agents reach these by their work only
        (
            there(&["ready"], open()),
            IssueState::Todo,
            there(&["wip"], open()),
            vec![],
        ),
        // no entry: only open and closed count
        (
            there(&["ready"], open()),
            IssueState::Todo,
            there(&[], open()),
            vec![],
        ),
        (
            there(&["wip"], open()),
            blocked(BlockedBy::Agent),
            there(&["ready"], open()),
            vec![TO_TODO],
        ),
        // ours has ended in another way, and cannot end again
        (
            there(&[], closed()),
            IssueState::Done,
            there(&[], not_planned()),
            vec![],
        ),
    ] {
        let linked = agreed(&settings, &before, ours);
        let changed = arrive(&settings, &linked, &now);
        assert_eq!(changed.steps, expected, "{before:?} {now:?}");
    }
}

#[test]
fn what_ours_cannot_follow_is_undone_there_and_recorded() {
    let settings = github();
    let labels = |add: &[&str], remove: &[&str]| Change::SetLabels {
        add: set(add),
        remove: set(remove),
    };
    let ready = agreed(&settings, &there(&["ready"], open()), IssueState::Todo);
    let now = there(&["wip"], open());
    let changed = arrive(&settings, &ready, &now);
    let conflict = Conflict {
        field: Field::State,
        loser: Side::Theirs,
        lost: "open, wip".into(),
    };
    assert_eq!(changed.conflicts, [conflict]);
    assert_eq!(
        sent_after(&settings, ready, &now),
        [labels(&["ready"], &["wip"])]
    );

    let done = agreed(&settings, &there(&[], closed()), IssueState::Done);
    let close = Change::SetState { state: closed() };
    assert_eq!(
        sent_after(&settings, done, &there(&[], not_planned())),
        [close]
    );

    let later = agreed(&settings, &there(&["later"], open()), IssueState::Backlog);
    let both = there(&["later", "ready"], open());
    assert_eq!(
        sent_after(&settings, later, &both),
        [labels(&[], &["later"])]
    );
    let wip = agreed(&settings, &there(&["wip"], open()), IssueState::InProgress);
    assert_eq!(
        sent_after(&settings, wip, &there(&["wip"], closed())),
        [labels(&[], &["wip"])]
    );
}

#[test]
fn a_live_run_ends_with_its_issue_and_nothing_else_moves_it() {
    let settings = github();
    let before = there(&["wip"], open());
    for (activity, ours, now, expected) in [
        (
            Activity::Run,
            IssueState::InProgress,
            there(&["wip"], closed()),
            vec![CLOSE],
        ),
        (
            Activity::Run,
            IssueState::InProgress,
            there(&["later"], open()),
            vec![],
        ),
        (
            Activity::Idle,
            IssueState::InProgress,
            there(&["later"], open()),
            vec![TO_BACKLOG],
        ),
        (
            Activity::Merge,
            IssueState::Review,
            there(&[], not_planned()),
            vec![],
        ),
        (
            Activity::Idle,
            blocked(BlockedBy::TakenOver),
            there(&[], closed()),
            vec![],
        ),
        (
            Activity::Idle,
            blocked(BlockedBy::TakenOver),
            there(&["later"], open()),
            vec![],
        ),
    ] {
        let mut linked = agreed(&settings, &before, ours);
        linked.activity = activity;
        let changed = arrive(&settings, &linked, &now);
        assert_eq!(changed.steps, expected, "{activity:?} {now:?}");
        assert_eq!(changed.conflicts.is_empty(), !expected.is_empty());
    }
}

#[test]
fn a_status_of_ours_that_was_not_sent_yet_loses_or_wins_with_a_trace() {
    let settings = github();
    let mut linked = agreed(&settings, &there(&["later"], open()), IssueState::Backlog);
    linked.ours.state = IssueState::Todo;
    let changed = arrive(&settings, &linked, &there(&["later"], closed()));
    assert_eq!(changed.steps, [CLOSE]);
    assert_eq!(changed.conflicts[0].lost, "todo");
    let changed = arrive(&settings, &linked, &there(&["ready"], open()));
    assert_eq!(
        (changed.steps, changed.conflicts),
        (vec![], vec![]),
        "both did the same"
    );
}

#[test]
fn what_happens_here_happens_there_on_github() {
    let settings = github();
    let state = |state| Change::SetState { state };
    let labels = |add: &[&str], remove: &[&str]| Change::SetLabels {
        add: set(add),
        remove: set(remove),
    };
    for (before, base, ours, expected) in [
        (
            there(&["ready"], open()),
            IssueState::Todo,
            IssueState::InProgress,
            vec![labels(&["wip"], &["ready"])],
        ),
        (
            there(&["wip"], open()),
            IssueState::InProgress,
            IssueState::Review,
            vec![labels(&[], &["wip"])],
        ),
        (
            there(&[], open()),
            IssueState::Review,
            blocked(BlockedBy::Agent),
            vec![],
        ),
        (
            there(&[], open()),
            IssueState::Review,
            IssueState::Done,
            vec![state(closed())],
        ),
        (
            there(&["later"], open()),
            IssueState::Backlog,
            IssueState::Cancelled,
            vec![state(not_planned()), labels(&[], &["later"])],
        ),
        (
            there(&[], closed()),
            IssueState::Done,
            IssueState::Todo,
            vec![state(open()), labels(&["ready"], &[])],
        ),
    ] {
        let mut linked = agreed(&settings, &before, base);
        linked.ours.state = ours;
        let departure = plan_departure(&settings, &linked);
        let changes: Vec<Change> = departure.send.into_iter().map(|sent| sent.change).collect();
        assert_eq!(changes, expected, "{before:?}");
    }
}

#[test]
fn states_of_linear_have_names_and_groups() {
    use StateGroup::{Completed, NotPlanned, Open, Started};
    let settings = linear();
    let there = |name: &str, group| there(&["wip"], state(name, group));
    for (before, ours, now, expected) in [
        (
            there("Todo", Open),
            IssueState::Todo,
            there("icebox", Open),
            vec![TO_BACKLOG],
        ),
        (
            there("Todo", Open),
            IssueState::Todo,
            there("Triage", Open),
            vec![],
        ),
        (
            there("Todo", Open),
            IssueState::Todo,
            there("In Progress", Started),
            vec![],
        ),
        (
            there("In Progress", Started),
            blocked(BlockedBy::Agent),
            there("Todo", Open),
            vec![TO_TODO],
        ),
        (
            there("Todo", Open),
            IssueState::Todo,
            there("Closed", Completed),
            vec![CLOSE],
        ),
        (
            there("Todo", Open),
            IssueState::Todo,
            there("Duplicate", NotPlanned),
            vec![DROP],
        ),
        // an open state that the settings call done
        (
            there("Todo", Open),
            IssueState::Todo,
            there("Shipped", Started),
            vec![CLOSE],
        ),
    ] {
        let linked = agreed(&settings, &before, ours);
        let changed = arrive(&settings, &linked, &now);
        assert_eq!(changed.steps, expected, "{now:?}");
    }
    let set_to = |name: &str, group| Change::SetState {
        state: state(name, group),
    };
    for (before, base, ours, expected) in [
        (
            there("Todo", Open),
            IssueState::Todo,
            IssueState::InProgress,
            vec![set_to("In Progress", Started)],
        ),
        (
            there("In Progress", Started),
            IssueState::InProgress,
            blocked(BlockedBy::Agent),
            vec![],
        ),
        (
            there("In Progress", Started),
            IssueState::InProgress,
            IssueState::Review,
            vec![],
        ),
        (
            there("Todo", Open),
            IssueState::Todo,
            IssueState::Done,
            vec![set_to("Shipped", Completed)],
        ),
        (
            there("Todo", Open),
            IssueState::Todo,
            IssueState::Cancelled,
            vec![set_to("", NotPlanned)],
        ),
        (
            there("Gone", NotPlanned),
            IssueState::Cancelled,
            IssueState::Todo,
            vec![set_to("Todo", Open)],
        ),
    ] {
        let mut linked = agreed(&settings, &before, base);
        linked.ours.state = ours;
        let departure = plan_departure(&settings, &linked);
        let changes: Vec<Change> = departure.send.into_iter().map(|sent| sent.change).collect();
        assert_eq!(changes, expected, "{before:?}");
    }
    let todo = agreed(&settings, &there("Todo", Open), IssueState::Todo);
    let wip = there("In Progress", Started);
    assert_eq!(sent_after(&settings, todo, &wip), [set_to("Todo", Open)]);
}
