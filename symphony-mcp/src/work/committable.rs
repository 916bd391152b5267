//! Whether a worktree's commits can be handed in: they hold all the work, and nothing that must not leave this machine.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::PathBuf;

use symphony_core::Timestamp;
use symphony_core::hand_in::RefusalKind;
use symphony_core::listing::list_few;
use symphony_workspace::{BranchName, CommitId, Repository, SecretScan, WorkspaceError, Worktree};

use crate::answer::ToolError;
use crate::identity::IssueWorkspace;

/// Most problems that a refusal lists.
const LISTED_MAX: usize = 20;

/// What happens to git repositories that an agent created inside its worktree.
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

/// Opens the worktree of a session, in the state that its agent left it in.
pub(crate) fn open(workspace: &IssueWorkspace) -> Result<(Repository, Worktree), ToolError> {
    let repository = Repository::open(&workspace.project_root, workspace.options.clone())?;
    let worktree = repository.worktree(&workspace.key, Some(&workspace.branch))?;
    repository.read_git_folder(&worktree)?;
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

/// Refuses nested repositories, or absorbs them and commits their files for the issue or phase.
pub(crate) fn settle_nested(
    repository: &Repository,
    worktree: &Worktree,
    base: &CommitId,
    nested: Nested,
    of: &dyn Display,
) -> Result<(), ToolError> {
    let found = repository.nested_repositories(worktree, Some(base))?;
    let Some(first) = found.first() else {
        return Ok(());
    };
    if nested == Nested::Refuse {
        let names = list_few(found.iter().map(String::as_str), LISTED_MAX);
        return Err(ToolError::new(format!(
            "nothing was recorded: your worktree contains another git repository ({names}), whose files are in no commit of your branch. Remove its git folder and commit the files (`rm -rf {first}/.git; git rm -rq --cached --ignore-unmatch {first}; \
             git add -A && git commit`), or call again with `absorb: true`: Symphony then commits the files as plain files \
             and keeps the history of the inner repository in a rescue ref",
        )));
    }
    repository.absorb_nested(worktree, Some(base), Timestamp::now())?;
    let message = format!("symphony({of}): the files of a nested repository");
    repository.auto_commit(worktree, &message, Timestamp::now())?;
    Ok(repository.renew_git_folder(worktree)?)
}

/// Refuses uncommitted files with a filter that Symphony may not run. Neither commit would be right: in the agent's,
/// the files would look changed for ever; Symphony's would hold them unfiltered.
pub(crate) fn refuse_unfiltered(unfiltered: &BTreeMap<PathBuf, String>) -> Result<(), ToolError> {
    let Some(filter) = unfiltered.values().next() else {
        return Ok(());
    };
    let paths = unfiltered.keys().map(|path| path.display().to_string());
    let paths: Vec<String> = paths.collect();
    Err(filter_refusal(filter, paths.iter().map(String::as_str)))
}

/// Refuses a branch whose own attributes name such a filter.
pub(crate) fn require_filters_of(
    repository: &Repository,
    head: &CommitId,
) -> Result<(), ToolError> {
    match repository.require_filters_of(head) {
        Err(
            WorkspaceError::FilterNotRun { name, patterns, .. }
            | WorkspaceError::FilterMissing { name, patterns, .. },
        ) => Err(filter_refusal(&name, patterns.iter().map(String::as_str))),
        other => Ok(other?),
    }
}

fn filter_refusal<'p>(filter: &str, paths: impl ExactSizeIterator<Item = &'p str>) -> ToolError {
    let paths = list_few(paths, LISTED_MAX);
    ToolError::of_kind(
        RefusalKind::Filter,
        format!(
            "nothing was recorded: git's filter `{filter}` applies to {paths}, and Symphony may not run it, so these files would be \
             committed and checked unfiltered. Take `filter={filter}` out of the attributes and commit, or remove these files; when \
             the change needs the filter, set the status to `blocked` and say that a person must add `{filter}` to \
             `git.trusted_filters`, with its commands in the global git configuration",
        ),
    )
}

/// Refuses a branch that holds a file that Symphony copied into its worktree, or a value from one.
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
