//! How an issue of a tracker was read, and the steps by which it changes ours.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use symphony_core::id::IssueId;
use symphony_core::issue::{IssueStatus, Priority, Resolution};

use crate::base::Base;
use crate::change::ChangeId;
use crate::linked::{Conflict, Note};
use crate::remote::{ExternalId, RemoteIssue};

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
