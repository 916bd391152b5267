//! Why a session is not opened.

use symphony_core::agent::AgentType;
use symphony_core::id::{IssueId, RunId};
use symphony_core::listing::list_few;
use symphony_core::take_over::TakeOverRefusal;

/// Files that a refusal names; the rest is counted.
const FILES_NAMED: usize = 5;

/// Why a session is not opened, or an issue not released.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "each text shows what its fields are")]
pub enum SessionRefusal {
    /// The issue is not in a state for it.
    #[error(transparent)]
    Issue(#[from] TakeOverRefusal),
    /// The agent's program has no terminal mode, or Symphony does not know it.
    #[error("Symphony cannot open a session of the provider `{provider}` in a terminal")]
    NotInteractive { issue: IssueId, provider: String },
    /// The run is none of an agent that works on an issue.
    #[error("run {run} does not work on an issue, so no one can take it over")]
    NotTheWork { run: RunId },
    /// The issue would get another kind of agent now.
    #[error("run {run} was a run of the {agent}, but {issue} now needs a {wanted}")]
    OtherAgent {
        run: RunId,
        agent: AgentType,
        issue: IssueId,
        wanted: AgentType,
    },
    /// A merge in the checkout is not finished.
    #[error(
        "{issue} has conflicts in its checkout: {}",
        list_few(files.iter().map(String::as_str), FILES_NAMED)
    )]
    Conflicts { issue: IssueId, files: Vec<String> },
    /// A later run has another session.
    #[error("run {later} has a later session of {issue}")]
    LaterSession { issue: IssueId, later: RunId },
}
