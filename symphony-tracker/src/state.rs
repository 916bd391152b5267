//! States: what one of a tracker means here, and which one a status of ours asks for there.
//!
//! GitHub has open and closed, as completed or as not planned; the settings can give a status a label, of which an issue has at
//! most one. Linear has named states in groups; the settings can give a status such a name. A status without an entry in the
//! settings has only the group: open, done or cancelled.

use std::collections::BTreeSet;

use symphony_core::config::{TrackerKind, TrackerSettings};
use symphony_core::issue::{IssueStatus, Resolution, human_move};

use crate::base::RemoteFields;
use crate::change::Change;
use crate::labels;
use crate::linked::{Activity, LinkedIssue};
use crate::priority::label_change;
use crate::remote::{RemoteState, StateGroup};
use crate::step::Step;

/// What a state of a tracker means here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// It has ended.
    Ended(Resolution),
    /// It is open, in one of these statuses; in any of ours if there are none.
    Open(BTreeSet<IssueStatus>),
}

impl Meaning {
    /// Returns whether a status of ours is what is meant.
    pub(crate) fn is(&self, status: IssueStatus) -> bool {
        match self {
            Self::Ended(resolution) => status == ended(*resolution),
            Self::Open(named) => {
                !status.is_terminal() && (named.is_empty() || named.contains(&status))
            }
        }
    }
}

const fn ended(resolution: Resolution) -> IssueStatus {
    match resolution {
        Resolution::Done => IssueStatus::Done,
        Resolution::Cancelled => IssueStatus::Cancelled,
    }
}

const fn resolution(status: IssueStatus) -> Option<Resolution> {
    match status {
        IssueStatus::Done => Some(Resolution::Done),
        IssueStatus::Cancelled => Some(Resolution::Cancelled),
        _ => None,
    }
}

/// Reads a tracker's state. `before` has the labels that it had before: if it now has several that mean a status, the one that
/// was added is meant.
pub(crate) fn meaning(
    settings: &TrackerSettings,
    remote: &RemoteFields,
    before: Option<&BTreeSet<String>>,
) -> Meaning {
    let by_group = match remote.state.group {
        StateGroup::Completed => Some(Resolution::Done),
        StateGroup::NotPlanned => Some(Resolution::Cancelled),
        StateGroup::Open | StateGroup::Started => None,
    };
    if let Some(resolution) = by_group {
        return Meaning::Ended(resolution);
    }
    let named = match settings.place.kind() {
        TrackerKind::Github => labelled(settings, &remote.labels, before),
        TrackerKind::Linear => statuses_of(settings, &remote.state.name),
    };
    // a team can call an open state done: `Ready for release`
    if settings.place.kind() == TrackerKind::Linear
        && let Some(resolution) = named.iter().find_map(|status| resolution(*status))
    {
        return Meaning::Ended(resolution);
    }
    Meaning::Open(named.into_iter().filter(|s| !s.is_terminal()).collect())
}

fn statuses_of(settings: &TrackerSettings, name: &str) -> BTreeSet<IssueStatus> {
    let entries = settings.states.iter();
    entries
        .filter(|(_, entry)| labels::is_same(entry, name))
        .map(|(status, _)| *status)
        .collect()
}

fn labelled(
    settings: &TrackerSettings,
    labels: &BTreeSet<String>,
    before: Option<&BTreeSet<String>>,
) -> BTreeSet<IssueStatus> {
    let mut present = labels::present(labels, settings.states.values());
    if present.len() > 1 {
        present.retain(|label| before.is_some_and(|before| !labels::has(before, label)));
    }
    match (present.first(), present.len()) {
        (Some(label), 1) => statuses_of(settings, label),
        _ => BTreeSet::new(),
    }
}

/// Returns the status of a new issue: what the tracker says, if that is a status in which no work has begun.
pub(crate) fn first_status(settings: &TrackerSettings, remote: &RemoteFields) -> IssueStatus {
    let Meaning::Open(named) = meaning(settings, remote, None) else {
        return settings.import_status;
    };
    let not_begun = [
        settings.import_status,
        IssueStatus::Backlog,
        IssueStatus::Todo,
    ];
    let found = not_begun.into_iter().find(|status| named.contains(status));
    found.unwrap_or(settings.import_status)
}

/// Returns the change of state that a status of ours asks for; `None` if the tracker's state means it.
pub(crate) fn change(
    settings: &TrackerSettings,
    remote: &RemoteFields,
    status: IssueStatus,
) -> Option<Change> {
    let entry = settings.states.get(&status);
    let is_there = match (settings.place.kind(), entry) {
        (TrackerKind::Linear, Some(name)) => labels::is_same(name, &remote.state.name),
        (TrackerKind::Linear, None) => meaning(settings, remote, None).is_group_of(status),
        (TrackerKind::Github, _) => {
            let group = remote.state.group;
            match resolution(status) {
                None => !group.has_ended(),
                Some(Resolution::Done) => group == StateGroup::Completed,
                Some(Resolution::Cancelled) => group == StateGroup::NotPlanned,
            }
        }
    };
    let group = match status {
        IssueStatus::Backlog | IssueStatus::Todo => StateGroup::Open,
        IssueStatus::InProgress | IssueStatus::Review | IssueStatus::Blocked => StateGroup::Started,
        IssueStatus::Done => StateGroup::Completed,
        IssueStatus::Cancelled => StateGroup::NotPlanned,
    };
    let state = match settings.place.kind() {
        TrackerKind::Github if group.has_ended() => github("closed", group),
        TrackerKind::Github => github("open", StateGroup::Open),
        TrackerKind::Linear => RemoteState {
            name: entry.cloned().unwrap_or_default(),
            group,
        },
    };
    (!is_there).then_some(Change::SetState { state })
}

impl Meaning {
    fn is_group_of(&self, status: IssueStatus) -> bool {
        match self {
            Self::Ended(found) => resolution(status) == Some(*found),
            Self::Open(_) => !status.is_terminal(),
        }
    }
}

fn github(name: &str, group: StateGroup) -> RemoteState {
    RemoteState {
        name: name.to_owned(),
        group,
    }
}

/// Returns the change of labels that a status of ours asks for, where labels mean statuses.
pub(crate) fn status_label_change(
    settings: &TrackerSettings,
    remote: &RemoteFields,
    status: IssueStatus,
) -> Option<Change> {
    if !labels::have_meaning(settings) {
        return None;
    }
    let among = settings.states.values();
    label_change(&remote.labels, among, settings.states.get(&status))
}

/// Returns whether an issue has labels that mean other statuses and only mislead: more than one, or any after its end.
pub(crate) fn has_stale_labels(
    settings: &TrackerSettings,
    remote: &RemoteFields,
    status: IssueStatus,
) -> bool {
    let count = labels::present(&remote.labels, settings.states.values()).len();
    labels::have_meaning(settings) && (count > 1 || status.is_terminal() && count > 0)
}

/// Returns whether several labels that mean a status were added at once, so that none of them can be meant alone.
pub(crate) fn is_unclear(
    settings: &TrackerSettings,
    remote: &RemoteFields,
    before: &BTreeSet<String>,
) -> bool {
    let present = labels::present(&remote.labels, settings.states.values());
    let added = present.iter().filter(|label| !labels::has(before, label));
    labels::have_meaning(settings) && !remote.state.group.has_ended() && added.count() > 1
}

/// Returns how ours follows a move there; `None` if ours cannot, or wins. It never moves ours to a status that agents reach by their
/// work.
pub(crate) fn steps_to(
    before: &Meaning,
    meaning: &Meaning,
    linked: &LinkedIssue,
) -> Option<Vec<Step>> {
    let state = &linked.ours.state;
    let is_open = !state.status().is_terminal();
    match meaning {
        // the end of the issue ends its run, but no person's session and no merge
        Meaning::Ended(resolution) => (is_open && !is_held(linked)).then(|| {
            vec![Step::Close {
                resolution: *resolution,
            }]
        }),
        Meaning::Open(named) if !is_open => {
            // ours has ended meanwhile, and a move between open states there is no wish to do it again
            if matches!(before, Meaning::Open(_)) {
                return None;
            }
            let mut steps = vec![Step::Reopen];
            if named.contains(&IssueStatus::Backlog) && !named.contains(&IssueStatus::Todo) {
                steps.push(Step::Move {
                    to: IssueStatus::Backlog,
                });
            }
            Some(steps)
        }
        Meaning::Open(named) => {
            if is_held(linked) || linked.activity == Activity::Run {
                return None;
            }
            let to = [IssueStatus::Todo, IssueStatus::Backlog]
                .into_iter()
                .find(|to| named.contains(to) && human_move(state, *to, linked.review).is_ok())?;
            Some(vec![Step::Move { to }])
        }
    }
}

fn is_held(linked: &LinkedIssue) -> bool {
    linked.activity == Activity::Merge || linked.is_taken_over()
}

/// Returns the status after some steps.
pub(crate) fn after(steps: &[Step], status: IssueStatus) -> IssueStatus {
    steps.iter().fold(status, |status, step| match step {
        Step::Close { resolution } => ended(*resolution),
        Step::Reopen => IssueStatus::Todo,
        Step::Move { to } => *to,
        _ => status,
    })
}
