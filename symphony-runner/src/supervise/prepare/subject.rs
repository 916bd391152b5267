//! What a run works on, as the store has it when the run starts.

use symphony_core::issue::Issue;
use symphony_core::pull_request::PullRequest;
use symphony_core::run::RunTarget;
use symphony_mcp::StoreThread;

use crate::error::RunnerError;
use crate::supervise::Job;

/// What a run works on.
#[derive(Debug, Clone)]
pub(crate) enum Subject {
    /// An issue; its open pull request, if it has one.
    Issue {
        issue: Issue,
        open: Option<Box<PullRequest>>,
    },
    /// The review of an issue's open pull request.
    PullRequest { issue: Issue, pr: Box<PullRequest> },
}

impl Subject {
    /// Reads what the run was claimed for.
    ///
    /// # Errors
    /// When it is no longer there to be worked on.
    pub(crate) async fn load(job: &Job<'_>, store: &StoreThread) -> Result<Self, RunnerError> {
        match &job.run.target {
            RunTarget::Issue(_) => {
                let issue = own_issue(job)?;
                let open = open_pr(&issue, store).await?;
                Ok(Self::Issue {
                    issue,
                    open: open.map(Box::new),
                })
            }
            RunTarget::PullRequest(_, id) => {
                let issue = own_issue(job)?;
                match open_pr(&issue, store).await? {
                    Some(pr) if pr.id == *id => Ok(Self::PullRequest {
                        issue,
                        pr: Box::new(pr),
                    }),
                    _ => Err(RunnerError::refused(format!(
                        "pull request {id} is no longer open"
                    ))),
                }
            }
            RunTarget::Claim(..) | RunTarget::PlanPhase(..) | RunTarget::Project => {
                Err(RunnerError::refused(format!(
                    "a {} run on {:?} can not be prepared",
                    job.run.agent, job.run.target
                )))
            }
        }
    }
}

fn own_issue(job: &Job<'_>) -> Result<Issue, RunnerError> {
    job.issue.clone().ok_or_else(|| {
        RunnerError::refused(format!(
            "a {} run without an issue can not be prepared",
            job.run.agent
        ))
    })
}

async fn open_pr(issue: &Issue, store: &StoreThread) -> Result<Option<PullRequest>, RunnerError> {
    let id = issue.id.clone();
    Ok(store.call(move |store| store.open_pr(&id)).await??)
}
