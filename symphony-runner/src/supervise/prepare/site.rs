//! Where a run works: a checkout that is ready for its agent.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use symphony_mcp::IssueWorkspace;
use symphony_workspace::{BranchName, Repository, Worktree};

use crate::error::RunnerError;
use crate::supervise::Job;
use crate::supervise::settle::{record_fingerprint, record_settings};

/// Where a run works.
#[derive(Debug)]
pub(crate) struct Site {
    /// The project's repository.
    pub(crate) repository: Repository,
    /// The checkout that the agent is started in.
    pub(crate) worktree: Worktree,
    /// The branch that is checked out there; `None` when it is detached.
    pub(crate) branch: Option<BranchName>,
    /// Where the work of the run's issue is, for the MCP service; `None` for a run without an issue.
    pub(crate) workspace: Option<IssueWorkspace>,
    /// Further branches that the agent may have to merge.
    pub(crate) compared: Vec<BranchName>,
    /// What the agent has to know about the preparation, such as a merge conflict with the base.
    pub(crate) notes: Vec<String>,
}

impl Site {
    /// Returns the agent's working directory.
    pub(crate) fn path(&self) -> &Path {
        self.worktree.path()
    }

    /// Returns the name of the branch that is checked out there.
    pub(crate) fn branch_name(&self) -> Option<String> {
        let branch = self.branch.as_ref()?;
        Some(branch.as_str().to_owned())
    }

    /// Returns the name of the branch that the work of the run's issue goes into.
    pub(crate) fn base_name(&self) -> Option<String> {
        let place = self.workspace.as_ref()?;
        Some(place.base.as_str().to_owned())
    }

    /// Records the configuration that runs programs here, and the one that is shared with the user, so that exit
    /// handling finds what the agent changed in them.
    pub(crate) fn record_fingerprint(&self, job: &Job<'_>) -> Result<(), RunnerError> {
        record_fingerprint(job, &self.repository, &self.worktree)?;
        record_settings(job, &self.repository)
    }

    /// Records the contents of the worktree before the agent starts, so that exit handling can tell what the agent
    /// left.
    pub(crate) fn record_baseline(&self, job: &Job<'_>) -> Result<(), RunnerError> {
        // A judge only reads, and a folder that is not Symphony's own is left alone.
        if !job.run.target.is_review() && self.workspace.is_some() {
            self.repository.record_baseline(&self.worktree)?;
        }
        Ok(())
    }

    /// Gives the agent a git folder of its own. From here on nothing else may change the worktree until it has ended.
    /// Returns whether it has one.
    pub(crate) fn give_git_folder(&self) -> Result<bool, RunnerError> {
        let own = self.workspace.iter().map(|place| &place.base);
        let branches: Vec<&BranchName> = own.chain(&self.compared).collect();
        Ok(self.repository.give_git_folder(&self.worktree, &branches)?)
    }

    /// Returns a value that changes whenever anything in the worktree does: head, changed files, their sizes and times.
    pub(crate) fn change_mark(&self) -> Option<u64> {
        change_mark(&self.repository, &self.worktree)
    }
}

/// Returns a value that changes whenever anything in a worktree does: head, changed files, their sizes and times.
pub(crate) fn change_mark(repository: &Repository, worktree: &Worktree) -> Option<u64> {
    use std::os::unix::fs::MetadataExt;
    let status = repository.status(worktree).ok()?;
    let head = repository.head_of_agent(worktree).ok()?;
    let mut hasher = DefaultHasher::new();
    head.as_str().hash(&mut hasher);
    for path in status.tracked.iter().chain(&status.untracked) {
        path.hash(&mut hasher);
        if let Ok(metadata) = worktree.path().join(path).symlink_metadata() {
            (metadata.len(), metadata.mtime(), metadata.mtime_nsec()).hash(&mut hasher);
        }
    }
    Some(hasher.finish())
}
