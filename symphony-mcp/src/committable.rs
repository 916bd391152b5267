//! Whether a worktree's commits can be handed in: all the work is in them, and nothing that must stay here.

use symphony_core::Timestamp;
use symphony_core::listing::list_few;
use symphony_workspace::{BranchName, CommitId, Repository, SecretScan, Worktree};

use crate::answer::ToolError;
use crate::identity::IssueWorkspace;

/// Problems that a refusal lists.
const LISTED_MAX: usize = 20;

/// What becomes of git repositories that an agent made inside its worktree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nested {
    /// The call is refused with their names.
    Refuse,
    /// Their files become plain files of the worktree and are committed.
    Absorb,
}

impl Nested {
    /// Reads the parameter of a tool.
    pub(crate) const fn from_parameter(absorb: bool) -> Self {
        if absorb { Self::Absorb } else { Self::Refuse }
    }
}

/// Opens the worktree of a session.
pub(crate) fn open(workspace: &IssueWorkspace) -> Result<(Repository, Worktree), ToolError> {
    let repository = Repository::open(&workspace.project_root, workspace.options.clone())?;
    let worktree = repository.worktree(&workspace.key, Some(&workspace.branch))?;
    Ok((repository, worktree))
}

/// Returns the head of the base branch.
pub(crate) fn base_head(repository: &Repository, base: &BranchName) -> Result<CommitId, ToolError> {
    repository.branch_head(base)?.ok_or_else(|| {
        ToolError::new(format!(
            "the base branch {} no longer exists",
            base.as_str()
        ))
    })
}

/// Refuses nested repositories, or absorbs them and commits their files under a message.
pub(crate) fn settle_nested(
    repository: &Repository,
    worktree: &Worktree,
    base: &CommitId,
    (nested, message): (Nested, &str),
) -> Result<(), ToolError> {
    let found = repository.nested_repositories(worktree, Some(base))?;
    let Some(first) = found.first() else {
        return Ok(());
    };
    if nested == Nested::Refuse {
        let names = list_few(found.iter().map(String::as_str), LISTED_MAX);
        return Err(ToolError::new(format!(
            "nothing was recorded: your worktree contains a git repository of its own ({names}), whose files are in no commit of \
             your branch. Remove its git folder and commit the files (`rm -rf {first}/.git; git rm -rq --cached --ignore-unmatch {first}; \
             git add -A && git commit`), or call again with `absorb: true`: Symphony then commits the files as plain files \
             and keeps the history of the inner repository in a rescue ref",
        )));
    }
    repository.absorb_nested(worktree, Some(base), Timestamp::now())?;
    repository.auto_commit(worktree, message, Timestamp::now())?;
    Ok(())
}

/// Refuses a branch that holds a file that Symphony copied into its worktree, or a value of one.
pub(crate) fn refuse_secrets(scan: &SecretScan) -> Result<(), ToolError> {
    if scan.is_clean() {
        return Ok(());
    }
    Err(ToolError::new(format!(
        "the commits of this branch {}. Removing them in another commit would leave them in the history: run \
         `git reset --soft` to the base, commit again without them, then repeat this call",
        scan.problems(LISTED_MAX)
    )))
}
