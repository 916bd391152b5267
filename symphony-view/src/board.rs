//! The board: issues in columns, each with the run on it or what it waits for.

use serde::Serialize;
use symphony_core::Timestamp;
use symphony_core::id::{IssueId, PhaseName, ProjectId};
use symphony_core::issue::{IssueStatus, Priority};

use crate::{OpenPrView, RunningView};

/// All columns of a project's board.
#[derive(Debug, Clone, Serialize)]
pub struct BoardView {
    /// The project.
    pub project: ProjectId,
    /// The columns, from the backlog to what has ended.
    pub columns: Vec<ColumnView>,
}

/// The issues in one status.
#[derive(Debug, Clone, Serialize)]
pub struct ColumnView {
    /// The status.
    pub status: IssueStatus,
    /// How many issues are in it, whatever is filtered.
    pub total: u64,
    /// The first of those that the filter leaves.
    pub cards: Vec<CardView>,
    /// The last card, where more follow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<IssueId>,
}

/// An issue on the board.
#[derive(Debug, Clone, Serialize)]
pub struct CardView {
    /// The issue, such as `SYM-12`.
    pub identifier: IssueId,
    /// Its title.
    pub title: String,
    /// How much it matters.
    pub priority: Priority,
    /// Its labels.
    pub labels: Vec<String>,
    /// The phase it is in, if it goes through phases.
    pub phase: Option<PhaseName>,
    /// The live run on it.
    pub run: Option<RunningView>,
    /// Its open pull request.
    pub pull_request: Option<OpenPrView>,
    /// What it waits for, in words.
    pub waits: Option<String>,
    /// Whether it waits for a person.
    pub waits_for_person: bool,
    /// When it last changed.
    pub updated_at: Timestamp,
}
