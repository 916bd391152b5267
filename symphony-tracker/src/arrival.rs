//! What an issue of a tracker changes here.
//!
//! [`plan_arrival`] compares the issue with the base of its link, field by field. The caller applies the steps, stores the base
//! and the settled changes, writes conflicts and notes into the log, and calls [`crate::departure::plan_departure`] for the issue,
//! all in one transaction: a base without its steps would send the old values back.

use std::collections::BTreeSet;

use symphony_core::config::TrackerSettings;
use symphony_core::id::IssueId;
use symphony_core::issue::{IssueStatus, Priority};

use crate::base::{Base, FilterMatch, LocalFields, Relations, RemoteFields};
use crate::change::ChangeId;
use crate::linked::{Field, LinkedIssue, Note};
use crate::merge::merge;
use crate::remote::RemoteIssue;
pub use crate::step::{Around, Changed, HowRead, Reading, Step};
use crate::{filter, labels, marker, priority, relations, state, text};

/// What an issue of a tracker changes here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arrival {
    /// It is not linked, and is not to be.
    NotWanted {
        /// Why.
        reason: String,
    },
    /// It becomes an issue here, linked with this base. The caller reads all of its comments, since the cursor may have passed
    /// them while it was not wanted.
    Import(Box<Import>),
    /// A change of ours made it, and the answer was lost: it is linked to the issue that the change is about, with
    /// [`crate::confirm::link_created`], which also says what follows, and the change is settled. The caller reads its comments, too.
    Created {
        /// The change.
        change: ChangeId,
        /// The issue of ours.
        issue: IssueId,
    },
    /// It is linked, and nothing that counts here changed.
    Unchanged,
    /// It is linked, and this reading may be older than what is known: read it by its id, then ask again.
    ReadAgain,
    /// It is linked, and changed.
    Changed(Box<Changed>),
}

/// A new issue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    /// The title.
    pub title: String,
    /// The description.
    pub description: String,
    /// The labels.
    pub labels: Vec<String>,
    /// The priority.
    pub priority: Priority,
    /// `backlog` or `todo`.
    pub status: IssueStatus,
    /// Relations to issues that are linked already.
    pub steps: Vec<Step>,
    /// What could not be taken over.
    pub notes: Vec<Note>,
    /// The base of the link.
    pub base: Base,
}

/// Decides what a tracker's issue changes here.
pub fn plan_arrival(
    settings: &TrackerSettings,
    reading: Reading<'_>,
    linked: Option<&LinkedIssue>,
    around: &Around,
) -> Arrival {
    let issue = reading.issue;
    let Some(linked) = linked else {
        return arrive_new(settings, issue, around);
    };
    let fields = RemoteFields::from(issue);
    let is_newer = linked.base.seen.is_some_and(|seen| issue.updated_at > seen);
    if reading.how == HowRead::OnPage && !is_newer {
        let is_older = linked.base.seen.is_some_and(|seen| issue.updated_at < seen);
        let matched = linked.base.filter == FilterMatch::Matches;
        let is_equal =
            fields == linked.base.remote && filter::mismatch(settings, issue).is_none() == matched;
        return if is_older || is_equal {
            Arrival::Unchanged
        } else {
            Arrival::ReadAgain
        };
    }
    let changed = merge(settings, reading, linked, around);
    let is_news = changed.base != linked.base
        || !changed.settled.is_empty()
        || !changed.untried.is_empty()
        || !changed.notes.is_empty();
    if is_news {
        Arrival::Changed(Box::new(changed))
    } else {
        Arrival::Unchanged
    }
}

fn arrive_new(settings: &TrackerSettings, issue: &RemoteIssue, around: &Around) -> Arrival {
    let own_id = ChangeId::new(issue.id.as_str());
    let claimed = marker::find(&issue.body).into_iter().chain([own_id]);
    for change in claimed {
        if let Some(ours) = around.sub_issues.get(&change) {
            return Arrival::Created {
                change,
                issue: ours.clone(),
            };
        }
    }
    if issue.state.group.has_ended() {
        return Arrival::NotWanted {
            reason: "it has ended".to_owned(),
        };
    }
    match filter::mismatch_of_new(settings, issue) {
        Some(reason) => Arrival::NotWanted { reason },
        None => Arrival::Import(Box::new(import(settings, issue, around))),
    }
}

fn import(settings: &TrackerSettings, issue: &RemoteIssue, around: &Around) -> Import {
    let remote = RemoteFields::from(issue);
    let mut notes = Vec::new();
    let mut taken = BTreeSet::new();
    for (_, name) in labels::plain(settings, &remote.labels) {
        match labels::label_problem(&name, taken.len()) {
            None => {
                taken.insert(name);
            }
            Some(reason) => notes.push(Note::NotTaken {
                field: Field::Label(name),
                reason,
            }),
        }
    }
    let (steps, relations) = relations::plan(&remote, &Relations::default(), &around.links);
    let status = state::first_status(settings, &remote);
    let local = LocalFields {
        title: text::title_in(&remote.title, &issue.key),
        description: text::body_in(&remote.body),
        labels: taken,
        priority: priority::shown(settings, &remote).map_or(Priority::None, priority::Shown::taken),
        status: Some(status),
        status_label: Some(status),
    };
    Import {
        title: local.title.clone(),
        description: local.description.clone(),
        labels: local.labels.iter().cloned().collect(),
        priority: local.priority,
        status,
        steps,
        notes,
        base: Base {
            remote,
            local,
            seen: Some(issue.updated_at),
            filter: FilterMatch::Matches,
            relations,
        },
    }
}
