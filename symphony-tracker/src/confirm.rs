//! What both sides agree on after a change was sent.

use symphony_core::config::TrackerSettings;
use symphony_core::issue::Priority;

use crate::base::{Base, FilterMatch, LocalFields, Relations, RemoteFields};
use crate::change::{Applied, Change};
use crate::linked::Covers;
use crate::remote::{RemoteIssue, RemoteState, StateGroup};
use crate::{filter, labels, priority};

/// Returns the base after the tracker applied a change.
///
/// Only the field of the change is taken from the answer: it may show edits of people in other fields, which an arrival has to
/// merge.
pub fn confirm(base: &Base, change: &Change, covers: &Covers, applied: &Applied) -> Base {
    let mut base = base.clone();
    let answer = applied.issue.as_ref();
    match change {
        Change::SetTitle { title } => {
            base.remote.title = answer.map_or_else(|| title.clone(), |issue| issue.title.clone());
        }
        Change::SetBody { body } => {
            base.remote.body = answer.map_or_else(|| body.clone(), |issue| issue.body.clone());
        }
        Change::SetLabels { add, remove } => {
            base.remote.labels = labels::changed(&base.remote.labels, add, remove);
        }
        Change::SetPriority { priority } => base.remote.priority = Some(*priority),
        Change::SetState { state } => {
            base.remote.state = answer.map_or_else(|| state.clone(), |issue| issue.state.clone());
        }
        // they change no field of the target, and say nothing of its age
        Change::AddComment { .. } | Change::AddSubIssue { .. } => return base,
    }
    agree(&mut base, change, covers);
    base.seen = answer.and_then(|issue| base.seen.max(Some(issue.updated_at)));
    base
}

/// Returns the base after a change was given up: ours stays as it is, and is not sent again until it changes.
pub fn give_up(base: &Base, change: &Change, covers: &Covers) -> Base {
    let mut base = base.clone();
    agree(&mut base, change, covers);
    base
}

fn agree(base: &mut Base, change: &Change, covers: &Covers) {
    let local = &mut base.local;
    match covers {
        Covers::Title { title } => local.title.clone_from(title),
        Covers::Description { description } => local.description.clone_from(description),
        Covers::Labels => {
            if let Change::SetLabels { add, remove } = change {
                local.labels = labels::changed(&local.labels, add, remove);
            }
        }
        Covers::Priority { priority } => local.priority = *priority,
        Covers::State { status } => local.status = Some(*status),
        Covers::StatusLabel { status } => local.status_label = Some(*status),
        Covers::Comment | Covers::SubIssue { .. } => {}
    }
}

/// Returns the base of an issue that a change of ours made at the tracker: `change` is an `AddSubIssue`, and `local` is what it covers.
///
/// The base has what was sent, because people may have edited the issue since. The caller decides on the same reading again, with
/// [`crate::arrival::HowRead::ById`], and then on a departure, which sends the state and the priority.
pub fn link_created(
    settings: &TrackerSettings,
    change: &Change,
    local: &LocalFields,
    issue: &RemoteIssue,
) -> Base {
    let mut remote = RemoteFields::from(issue);
    if let Change::AddSubIssue {
        title,
        body,
        labels,
    } = change
    {
        remote.title.clone_from(title);
        remote.body.clone_from(body);
        remote.labels.clone_from(labels);
    }
    // a new issue has no priority and is open
    remote.priority = remote.priority.map(|_| Priority::None);
    if remote.state.group.has_ended() {
        remote.state = RemoteState {
            name: String::new(),
            group: StateGroup::Open,
        };
    }
    let priority = priority::shown(settings, &remote);
    // it may be assigned to no one, so that the filter does not match: that is no reason to put our own issue aside
    let filter = match filter::mismatch(settings, issue) {
        None => FilterMatch::Matches,
        Some(_) => FilterMatch::Left,
    };
    Base {
        local: LocalFields {
            priority: priority.map_or(Priority::None, priority::Shown::taken),
            status: None,
            status_label: None,
            ..local.clone()
        },
        relations: Relations {
            parent: remote.parent.clone(),
            ..Relations::default()
        },
        remote,
        seen: None,
        filter,
    }
}
