//! Where a run works: a checkout that is ready for its agent.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use symphony_mcp::{IssueWorkspace, StoreThread};
use symphony_workspace::{BaseMerge, BranchName, CommitId, Repository, Worktree};

use super::issue_site::issue_site;
use super::plan_site::plan_site;
use super::subject::Subject;
use super::temporary_site::temporary_site;
use crate::error::RunnerError;
use crate::process::Supervision;
use crate::repository::open_repository;
use crate::supervise::Job;
use crate::supervise::settle::{record_fingerprint, record_settings};
use crate::supervise::temporary::remove_leftovers;

/// Where a run works.
#[derive(Debug)]
pub(crate) struct Site {
    /// The project's repository.
    pub(crate) repository: Repository,
    /// The checkout that the agent is started in.
    pub(crate) worktree: Worktree,
    /// The branch checked out there; none when it is detached.
    pub(crate) branch: Option<BranchName>,
    /// Where the work of the run's issue lies, for the MCP service; none for a run without an issue.
    pub(crate) workspace: Option<IssueWorkspace>,
    /// What the agent has to be told of the preparation (a merge conflict with the base).
    pub(crate) notes: Vec<String>,
}

impl Site {
    /// Makes the place that the subject is worked on in, or takes the one that is there.
    ///
    /// # Errors
    /// When it cannot be made, or its set-up command fails.
    pub(crate) async fn make(
        job: &Job<'_>,
        store: &StoreThread,
        supervision: &Supervision,
        subject: &Subject,
    ) -> Result<Self, RunnerError> {
        let repository = open_repository(&job.project, &job.config)?;
        // before anything is made: without it git stops in the middle of a checkout
        repository.require_filters()?;
        // nor can a branch be made beside one of that name
        repository.require_own_branches()?;
        remove_leftovers(job, store, &repository).await?;
        match subject {
            Subject::Issue { issue, merge } | Subject::Phase { issue, merge, .. } => {
                let place = (issue, *merge);
                issue_site(job, store, supervision, repository, place).await
            }
            // a merge would void what is under review
            Subject::PullRequest { issue, .. } | Subject::Claim { issue, .. } => {
                let leave = (issue, BaseMerge::Leave);
                issue_site(job, store, supervision, repository, leave).await
            }
            Subject::PlanPhase(subject) => {
                plan_site(job, (store, supervision), repository, subject).await
            }
            Subject::PlanReview { pr, .. } => {
                let head = CommitId::parse(&pr.head_commit)
                    .map_err(|error| RunnerError::refused(format!("the recorded head: {error}")))?;
                temporary_site(job, repository, Some(&head))
            }
            Subject::Triage(_) | Subject::Project => temporary_site(job, repository, None),
        }
    }

    /// The agent's working directory.
    pub(crate) fn path(&self) -> &Path {
        self.worktree.path()
    }

    /// Records which configuration runs programs here, and the one that is shared with the user, so that exit handling sees
    /// what the agent changed of it.
    pub(crate) fn record_fingerprint(&self, job: &Job<'_>) -> Result<(), RunnerError> {
        record_fingerprint(job, &self.repository, &self.worktree)?;
        record_settings(job, &self.repository)
    }

    /// Records what is in the worktree before the agent works there, so that exit handling can tell what the agent left.
    pub(crate) fn record_baseline(&self, job: &Job<'_>) -> Result<(), RunnerError> {
        // a judge only reads; a folder that is not Symphony's own is left as it is
        if !job.run.target.is_review() && self.workspace.is_some() {
            self.repository.record_baseline(&self.worktree)?;
        }
        Ok(())
    }

    /// A value that differs when anything in the worktree differs: head, changed files, their sizes and times.
    pub(crate) fn change_mark(&self) -> Option<u64> {
        use std::os::unix::fs::MetadataExt;
        let status = self.repository.status(&self.worktree).ok()?;
        let head = self.repository.head(&self.worktree).ok()?;
        let mut hasher = DefaultHasher::new();
        head.as_str().hash(&mut hasher);
        for path in status.tracked.iter().chain(&status.untracked) {
            path.hash(&mut hasher);
            if let Ok(metadata) = self.path().join(path).symlink_metadata() {
                (metadata.len(), metadata.mtime(), metadata.mtime_nsec()).hash(&mut hasher);
            }
        }
        Some(hasher.finish())
    }
}
