//! From what is committed in a worktree to a pull request's record.

use symphony_core::id::IssueId;
use symphony_store::NewPullRequest;

use crate::answer::ToolError;
use crate::identity::IssueWorkspace;

/// Reads what is committed on the issue's branch.
pub(crate) fn read_change(issue: &IssueId, workspace: &IssueWorkspace) -> Result<NewPullRequest, ToolError> {
    let _ = (issue, workspace);
    Err(ToolError::new("pending"))
}
