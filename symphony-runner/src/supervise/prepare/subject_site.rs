//! Where a subject is worked on.

use symphony_mcp::StoreThread;
use symphony_workspace::BaseMerge;

use super::issue_site::issue_site;
use super::plan_site::plan_site;
use super::site::Site;
use super::subject::Subject;
use super::temporary_site::temporary_site;
use crate::error::RunnerError;
use crate::process::Supervision;
use crate::repository::open_repository;
use crate::supervise::Job;
use crate::supervise::temporary::remove_leftovers;

impl Site {
    /// Creates the place where the subject is worked on, or takes the existing one.
    ///
    /// # Errors
    /// When it cannot be created, or its set-up command fails.
    pub(crate) async fn make(
        job: &Job<'_>,
        store: &StoreThread,
        supervision: &Supervision,
        subject: &Subject,
    ) -> Result<Self, RunnerError> {
        let repository = open_repository(&job.project, &job.config)?;
        // Before anything is created, since git stops in the middle of a checkout without a filter.
        repository.require_filters()?;
        // Nor could git create a branch beside one with that name.
        repository.require_own_branches()?;
        remove_leftovers(job, store, &repository).await?;
        match subject {
            Subject::Issue { issue, merge } | Subject::Phase { issue, merge, .. } => {
                issue_site(job, store, supervision, repository, issue, *merge).await
            }
            // A merge would void what is under review.
            Subject::PullRequest { issue, .. } | Subject::Delivery { issue, .. } => {
                let leave = BaseMerge::Leave;
                issue_site(job, store, supervision, repository, issue, leave).await
            }
            Subject::PlanPhase(subject) => {
                plan_site(job, store, supervision, repository, subject).await
            }
            Subject::PlanReview { pr, .. } => {
                let head = RunnerError::commit(&pr.head_commit, "the recorded head")?;
                temporary_site(job, repository, Some(&head))
            }
            Subject::Triage(_) | Subject::Project => temporary_site(job, repository, None),
        }
    }
}
