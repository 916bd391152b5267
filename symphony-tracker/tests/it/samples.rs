//! Settings, issues and links for tables.

use std::collections::{BTreeMap, BTreeSet};

use symphony_core::Timestamp;
use symphony_core::config::{Millis, TokenSource, TrackerFilter, TrackerPlace, TrackerSettings};
use symphony_core::id::IssueId;
use symphony_core::issue::{Block, BlockedBy, IssueState, IssueStatus, Priority, Review};
use symphony_core::user::UserName;
use symphony_tracker::arrival::{Around, Arrival, Changed, HowRead, Reading, plan_arrival};
use symphony_tracker::change::{Change, ChangeId};
use symphony_tracker::linked::{
    Activity, Attempt, Covers, LinkedIssue, LocalIssue, Pending, TextBy,
};
use symphony_tracker::remote::{ExternalId, RemoteIssue, RemoteState, StateGroup};

pub(crate) fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_700_000_000 + second).unwrap()
}

pub(crate) fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

pub(crate) fn id(text: &str) -> IssueId {
    IssueId::parse(text).unwrap()
}

/// GitHub, where labels mean some statuses and priorities.
pub(crate) fn github() -> TrackerSettings {
    TrackerSettings {
        name: "web".into(),
        place: TrackerPlace::Github {
            owner: "acme".into(),
            name: "web".into(),
        },
        endpoint: "http://127.0.0.1".into(),
        token: TokenSource::Variable("TOKEN".into()),
        filter: TrackerFilter::default(),
        import_status: IssueStatus::Backlog,
        states: BTreeMap::from([
            (IssueStatus::Backlog, "later".into()),
            (IssueStatus::Todo, "ready".into()),
            (IssueStatus::InProgress, "wip".into()),
        ]),
        priorities: BTreeMap::from([
            (Priority::Urgent, "P0".into()),
            (Priority::High, "P1".into()),
        ]),
        commanders: BTreeMap::from([(UserName::parse("ada").unwrap(), "7".into())]),
        comments: true,
        subtasks: true,
        poll: Millis::new(60_000),
    }
}

/// Linear, where some statuses have a named state.
pub(crate) fn linear() -> TrackerSettings {
    TrackerSettings {
        name: "eng".into(),
        place: TrackerPlace::Linear {
            team: "ENG".into(),
            project: None,
        },
        states: BTreeMap::from([
            (IssueStatus::Backlog, "Icebox".into()),
            (IssueStatus::Todo, "Todo".into()),
            (IssueStatus::InProgress, "In Progress".into()),
            (IssueStatus::Blocked, "In Progress".into()),
            (IssueStatus::Done, "Shipped".into()),
        ]),
        priorities: BTreeMap::new(),
        ..github()
    }
}

pub(crate) fn state(name: &str, group: StateGroup) -> RemoteState {
    RemoteState {
        name: name.into(),
        group,
    }
}

pub(crate) fn open() -> RemoteState {
    state("open", StateGroup::Open)
}

pub(crate) fn closed() -> RemoteState {
    state("closed", StateGroup::Completed)
}

pub(crate) fn remote() -> RemoteIssue {
    RemoteIssue {
        id: ExternalId::new("12"),
        key: "#12".into(),
        url: "https://example.org/12".into(),
        title: "Add a page".into(),
        body: "As it was drawn.".into(),
        state: open(),
        labels: set(&["ui"]),
        priority: None,
        assignees: BTreeSet::new(),
        author: None,
        parent: None,
        blocked_by: BTreeSet::new(),
        created_at: at(0),
        updated_at: at(0),
    }
}

pub(crate) fn blocked(by: BlockedBy) -> IssueState {
    IssueState::Blocked(Block {
        by,
        reason: "Which colour?".into(),
    })
}

/// Links an issue as an arrival imports it, in a state of ours on which both agree.
pub(crate) fn linked(
    settings: &TrackerSettings,
    remote: &RemoteIssue,
    ours: IssueState,
) -> LinkedIssue {
    let reading = Reading {
        issue: remote,
        how: HowRead::OnPage,
    };
    let Arrival::Import(import) = plan_arrival(settings, reading, None, &Around::default()) else {
        panic!("it is imported");
    };
    let mut base = import.base;
    base.local.status = Some(ours.status());
    base.local.status_label = Some(ours.status());
    LinkedIssue {
        ours: LocalIssue {
            id: id("SYM-1"),
            title: import.title,
            description: import.description,
            labels: import.labels.into_iter().collect(),
            priority: import.priority,
            state: ours,
        },
        review: Review::None,
        activity: Activity::NotBegun,
        text_by: TextBy::Person,
        base,
        pending: Vec::new(),
    }
}

pub(crate) fn pending(id: &str, change: Change, covers: Covers, attempt: Attempt) -> Pending {
    Pending {
        id: ChangeId::new(id),
        change,
        covers,
        attempt,
    }
}

/// Reads a linked issue from a page, a second later.
pub(crate) fn arrive(
    settings: &TrackerSettings,
    linked: &LinkedIssue,
    remote: &RemoteIssue,
) -> Changed {
    arrive_as(settings, linked, remote, HowRead::OnPage)
}

pub(crate) fn arrive_as(
    settings: &TrackerSettings,
    linked: &LinkedIssue,
    remote: &RemoteIssue,
    how: HowRead,
) -> Changed {
    let remote = RemoteIssue {
        updated_at: at(1),
        ..remote.clone()
    };
    let reading = Reading {
        issue: &remote,
        how,
    };
    match plan_arrival(settings, reading, Some(linked), &Around::default()) {
        Arrival::Changed(changed) => *changed,
        other => panic!("{other:?}"),
    }
}
