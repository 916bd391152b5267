//! What an issue of a tracker changes here.
//!
//! [`plan_arrival`] compares the issue with the base of its link, field by field. The caller applies the steps, stores the base
//! and the settled changes, writes conflicts and notes into the log, and calls [`crate::departure::plan_departure`] for the issue,
//! all in one transaction: a base without its steps would send the old values back.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use symphony_core::config::TrackerSettings;
use symphony_core::id::IssueId;
use symphony_core::issue::{IssueStatus, LABELS_MAX, Priority, Resolution};

use crate::base::{Base, FilterMatch, LocalFields, Relations, RemoteFields};
use crate::change::ChangeId;
use crate::linked::{Conflict, Field, LinkedIssue, Note};
use crate::merge::merge;
use crate::remote::{ExternalId, RemoteIssue};
use crate::{filter, labels, marker, priority, relations, state, text};

/// An issue as it was read from a tracker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading<'a> {
    /// The issue.
    pub issue: &'a RemoteIssue,
    /// How it was read.
    pub how: HowRead,
}

/// How an issue was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HowRead {
    /// On a page of changes, which can repeat what is no longer so.
    OnPage,
    /// By its id, after all that is known of our own changes: it is what the tracker has now.
    ById,
}

/// What is known of other issues of the tracker.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Around {
    /// The linked issues.
    pub links: BTreeMap<ExternalId, IssueId>,
    /// The sub-issues that the outbox makes, as far as no result is recorded: the change, and the issue of ours.
    pub sub_issues: BTreeMap<ChangeId, IssueId>,
}

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

/// What changes about a linked issue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// What to change here, in this order.
    pub steps: Vec<Step>,
    /// The base after the steps.
    pub base: Base,
    /// Changes of the outbox that the tracker turns out to have: they are done.
    pub settled: Vec<ChangeId>,
    /// Changes of the outbox that were sent without an answer, and that the tracker turns out not to have: they become
    /// [`crate::linked::Attempt::Untried`] again.
    pub untried: Vec<ChangeId>,
    /// Edits that lost.
    pub conflicts: Vec<Conflict>,
    /// What a person should be able to read.
    pub notes: Vec<Note>,
}

/// One change here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum Step {
    /// Sets the title.
    SetTitle {
        /// The title.
        title: String,
    },
    /// Sets the description.
    SetDescription {
        /// The description.
        description: String,
    },
    /// Adds and removes labels; the others stay.
    SetLabels {
        /// Labels to add.
        add: Vec<String>,
        /// Labels to remove.
        remove: Vec<String>,
    },
    /// Sets the priority.
    SetPriority {
        /// The priority.
        priority: Priority,
    },
    /// Closes it, after the end of a live run.
    Close {
        /// How it ends.
        resolution: Resolution,
    },
    /// Reopens it.
    Reopen,
    /// Moves it as a person would.
    Move {
        /// Where to.
        to: IssueStatus,
    },
    /// Makes it a sub-task.
    SetParent {
        /// Of which issue.
        parent: IssueId,
    },
    /// Makes it no sub-task, if it is one of this issue.
    ClearParent {
        /// The issue.
        parent: IssueId,
    },
    /// Makes it depend on an issue.
    AddDependency {
        /// Which.
        on: IssueId,
    },
    /// Makes it no longer depend on an issue, if it does.
    RemoveDependency {
        /// Which.
        on: IssueId,
    },
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
        match label_problem(&name, taken.len()) {
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

/// Returns why an issue that has `count` labels cannot take another one.
pub(crate) fn label_problem(name: &str, count: usize) -> Option<String> {
    if !labels::can_be_held(name) {
        return Some("it is not a label that Symphony can have".to_owned());
    }
    (count >= LABELS_MAX).then(|| format!("an issue has at most {LABELS_MAX} labels"))
}
