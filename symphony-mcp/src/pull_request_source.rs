//! From what is committed in a worktree to a pull request's record.

use symphony_core::id::IssueId;
use symphony_core::pull_request::FileStat;
use symphony_store::NewPullRequest;
use symphony_workspace::{Repository, SecretScan, WorkspaceError};

use crate::answer::ToolError;
use crate::identity::IssueWorkspace;

/// Bytes of a diff that are kept in the record: many times what a judge is shown; the rest is in git.
const DIFF_BYTES_MAX: usize = 1024 * 1024;
/// Files that a refusal lists.
const LISTED_MAX: usize = 20;

impl From<WorkspaceError> for ToolError {
    fn from(error: WorkspaceError) -> Self {
        Self::new(format!("git: failed to {error}"))
    }
}

/// Reads what is committed on the issue's branch, without title, body and reported gates.
///
/// # Errors
/// What the agent has to do first: commit, or go back to its branch.
pub(crate) fn read_change(
    issue: &IssueId,
    workspace: &IssueWorkspace,
) -> Result<NewPullRequest, ToolError> {
    let repository = Repository::open(&workspace.project_root, workspace.options.clone())?;
    let worktree = repository.worktree(&workspace.key, Some(&workspace.branch))?;
    let status = repository.status(&worktree)?;
    if !status.is_clean() {
        let files: Vec<String> = status
            .tracked
            .iter()
            .chain(&status.untracked)
            .take(LISTED_MAX)
            .map(|path| path.display().to_string())
            .collect();
        return Err(ToolError::new(format!(
            "the worktree has uncommitted changes ({}): commit them (`git add -A && git commit`), or remove what does not \
             belong to the change, then call create_pr again",
            files.join(", ")
        )));
    }
    let head = repository.head(&worktree)?;
    if repository.branch_head(&workspace.branch)?.as_ref() != Some(&head) {
        return Err(ToolError::new(format!(
            "what is checked out is not the branch {}: `git checkout {}`, bring your commits there, then call create_pr again",
            workspace.branch.as_str(),
            workspace.branch.as_str()
        )));
    }
    let base = repository.branch_head(&workspace.base)?.ok_or_else(|| {
        ToolError::new(format!(
            "the base branch {} does not exist any more",
            workspace.base.as_str()
        ))
    })?;
    if repository.commits_ahead(&base, &head)? == 0 {
        return Err(ToolError::new(format!(
            "nothing is committed on {} yet: commit your work, then call create_pr again",
            workspace.branch.as_str()
        )));
    }
    let diff = repository.diff(&base, &head, DIFF_BYTES_MAX)?;
    if diff.files.is_empty() {
        return Err(ToolError::new(
            "the commits of this branch change nothing against the base: there is nothing to review",
        ));
    }
    refuse_secrets(&repository.scan_secrets(Some(&worktree), &base, &head)?)?;
    Ok(NewPullRequest {
        issue: issue.clone(),
        title: String::new(),
        body: String::new(),
        branch: workspace.branch.as_str().to_owned(),
        base: workspace.base.as_str().to_owned(),
        base_commit: diff.merge_base.as_str().to_owned(),
        head_commit: head.as_str().to_owned(),
        diff: diff.patch,
        files: diff
            .files
            .into_iter()
            .map(|file| FileStat {
                path: file.path,
                insertions: file.insertions,
                deletions: file.deletions,
            })
            .collect(),
        reported_gates: Vec::new(),
    })
}

/// Refuses a branch that holds values of the configuration files that were copied into its worktree.
fn refuse_secrets(scan: &SecretScan) -> Result<(), ToolError> {
    if scan.leaks.is_empty() {
        return Ok(());
    }
    let leaks: Vec<String> = scan
        .leaks
        .iter()
        .take(LISTED_MAX)
        .map(ToString::to_string)
        .collect();
    Err(ToolError::new(format!(
        "the commits of this branch hold secrets of the project's configuration files: {}. A commit that takes them out again \
         leaves them in the history: `git reset --soft` to the base, commit anew without them, then call create_pr again",
        leaks.join("; ")
    )))
}
