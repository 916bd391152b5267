//! From the commits of a worktree to a pull request's record.

use symphony_core::hand_in::RefusalKind;
use symphony_core::id::IssueId;
use symphony_core::pull_request::{DIFF_BYTES_MAX, FileStat};
use symphony_core::tools::Tool;
use symphony_store::NewPullRequest;
use symphony_workspace::{CommitId, Repository, Worktree};

use crate::answer::ToolError;
use crate::identity::IssueWorkspace;
use crate::work::committable::{
    Nested, base_head, open, refuse_secrets, refuse_unfiltered, require_filters_of, settle_nested,
};

/// Most files that a refusal lists.
const LISTED_MAX: usize = 20;

/// Reads what is committed on the issue's branch, without title, body and reported gates. Nested repositories are
/// absorbed first if the call asks for it.
///
/// # Errors
/// What the agent has to do first: commit, or go back to its branch.
pub(crate) fn read_change(
    issue: &IssueId,
    workspace: &IssueWorkspace,
    nested: Nested,
) -> Result<NewPullRequest, ToolError> {
    let (repository, worktree) = open(workspace)?;
    require_clean_branch(&repository, &worktree, workspace, Tool::CreatePr)?;
    let base = base_head(&repository, &workspace.base)?;
    settle_nested(&repository, &worktree, &base, nested, issue)
        .map_err(|error| error.with_kind(RefusalKind::NestedRepository))?;
    let head = repository.head(&worktree)?;
    if repository.commits_ahead(&base, &head)? == 0 {
        return Err(ToolError::of_kind(
            RefusalKind::NothingCommitted,
            format!(
                "nothing is committed on {} yet: commit your work, then call create_pr again",
                workspace.branch.as_str()
            ),
        ));
    }
    let diff = repository.diff(&base, &head, DIFF_BYTES_MAX)?;
    if diff.files.is_empty() {
        return Err(ToolError::of_kind(
            RefusalKind::NothingChanged,
            "the commits of this branch change nothing compared with the base, so there is nothing to review. When nothing is left to \
             do, say so with `propose_done`",
        ));
    }
    let scan = repository.scan_secrets(Some(&worktree), &base, &head)?;
    refuse_secrets(&scan).map_err(|error| error.with_kind(RefusalKind::Secrets))?;
    Ok(NewPullRequest {
        of: issue.clone().into(),
        title: String::new(),
        body: String::new(),
        branch: workspace.branch.as_str().to_owned(),
        base: workspace.base.as_str().to_owned(),
        base_commit: diff.merge_base.as_str().to_owned(),
        head_commit: head.as_str().to_owned(),
        diff: diff.patch,
        files: diff.files.into_iter().map(FileStat::from).collect(),
        reported_gates: Vec::new(),
        checklist: Vec::new(),
    })
}

/// Refuses a worktree with uncommitted changes or with another branch checked out than the issue's; returns its head.
pub(crate) fn require_clean_branch(
    repository: &Repository,
    worktree: &Worktree,
    workspace: &IssueWorkspace,
    tool: Tool,
) -> Result<CommitId, ToolError> {
    // Otherwise changes in files that the index hides (`assume-unchanged`, `skip-worktree`) would be left out silently.
    repository.reveal_hidden(worktree)?;
    let status = repository.status(worktree)?;
    refuse_unfiltered(&repository.unfiltered(worktree, &status)?)?;
    if !status.is_clean() {
        let files: Vec<String> = status
            .tracked
            .iter()
            .chain(&status.untracked)
            .take(LISTED_MAX)
            .map(|path| path.display().to_string())
            .collect();
        return Err(ToolError::of_kind(
            RefusalKind::Uncommitted,
            format!(
                "the worktree has uncommitted changes ({}): commit them (`git add -A && git commit`), or remove what does not \
                 belong to the change, then call {tool} again. If your `git status` does not show one of these files, your index hides it: \
                 `git update-index --no-assume-unchanged --no-skip-worktree FILE` shows it",
                files.join(", ")
            ),
        ));
    }
    let head = repository.head(worktree)?;
    require_filters_of(repository, &head)?;
    if repository.branch_head(&workspace.branch)?.as_ref() != Some(&head) {
        let branch = workspace.branch.as_str();
        return Err(ToolError::of_kind(
            RefusalKind::OtherBranch,
            format!(
                "what is checked out is not the branch {branch}: `git checkout {branch}`, bring your commits there, then call \
                 {tool} again"
            ),
        ));
    }
    Ok(head)
}
