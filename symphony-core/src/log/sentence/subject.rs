//! What an entry of the log is about.

use crate::Timestamp;
use crate::id::{IssueId, PlanId, ProjectId, RunId};

/// How many characters of a run's id a sentence shows: its random end, by which `runs show` finds it.
const RUN_CHARS: usize = 8;

/// What an entry is about.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// When it happened.
    pub at: Timestamp,
    /// The project.
    pub project: Option<&'a ProjectId>,
    /// The issue.
    pub issue: Option<&'a IssueId>,
    /// The run that it is about, or in whose name it was written.
    pub run: Option<&'a RunId>,
    /// The plan.
    pub plan: Option<&'a PlanId>,
}

impl Subject<'_> {
    pub(super) fn project(&self) -> String {
        self.project
            .map_or_else(|| "the project".to_owned(), |id| format!("project {id}"))
    }

    pub(super) fn issue(&self) -> String {
        self.issue
            .map_or_else(|| "An issue".to_owned(), ToString::to_string)
    }

    pub(super) fn run(&self) -> String {
        self.run
            .map_or_else(|| "A run".to_owned(), |id| format!("Run {}", short_run(id)))
    }

    pub(super) fn plan(&self) -> String {
        self.plan
            .map_or_else(|| "The plan".to_owned(), |id| format!("Plan {id}"))
    }

    /// Returns ` on SYM-3` for an entry about an issue.
    pub(super) fn on_issue(&self) -> String {
        self.issue
            .map_or_else(String::new, |issue| format!(" on {issue}"))
    }
}

/// Returns the end of a run's id: ids begin with the time, so only their ends distinguish runs.
pub fn short_run(id: &RunId) -> &str {
    let text = id.as_str();
    let start = text.char_indices().rev().nth(RUN_CHARS - 1);
    start
        .and_then(|(start, _)| text.get(start..))
        .unwrap_or(text)
}
