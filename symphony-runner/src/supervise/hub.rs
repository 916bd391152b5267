//! What a run on a worker needs of its hub: the clone brought up to date before it, and its result brought there at its end.

use symphony_core::Timestamp;
use symphony_core::id::RunId;
use symphony_core::pull_request::PullRequestOf;
use symphony_core::run::RunTarget;
use symphony_mcp::StoreThread;
use symphony_store::RunFilter;
use symphony_workspace::{BranchName, HubUpdate, WorktreeKey};

use super::Job;
use crate::error::RunnerError;
use crate::repository::{issue_workspace, open_repository};

/// Fetches what the hub has, and records the commit that the issue's branch is at. A run of a single machine has its repository.
///
/// # Errors
/// When the clone cannot be opened, the hub does not answer, a process works in an old worktree of the issue, or the database cannot be written.
pub(crate) async fn bring_up_to_date(
    job: &Job<'_>,
    store: &StoreThread,
) -> Result<(), RunnerError> {
    let Some(hub) = job.hub.clone() else {
        return Ok(());
    };
    let update = HubUpdate {
        issue: place_of(&job.run.target),
        has_saved: has_earlier_runs(job, store).await?,
        result_of: author_of(job, store).await?,
        now: Timestamp::now(),
    };
    let updated = on_thread(move || Ok(hub.clone_of_hub()?.update(&update)?)).await?;
    for rescue in &updated.rescues {
        tracing::warn!(%rescue, "work of a run that was lost on this host is kept here");
    }
    let Some(start) = updated.start else {
        return Ok(());
    };
    let (run, fence) = (job.run.id.clone(), job.run.fence);
    store
        .call(move |store| store.record_start_commit(&run, fence, start.as_str()))
        .await??;
    Ok(())
}

/// Returns where the work of a run's issue is. Gates have a checkout of their own, and may run on what the hub's branch has not got yet.
fn place_of(target: &RunTarget) -> Option<(WorktreeKey, BranchName)> {
    let issue = match target {
        RunTarget::Gates(..) => None,
        other => other.issue(),
    }?;
    Some((WorktreeKey::of(issue.as_str()), BranchName::of_issue(issue)))
}

/// Returns whether the run's issue had runs before this one, which may have saved their work at the hub.
async fn has_earlier_runs(job: &Job<'_>, store: &StoreThread) -> Result<bool, RunnerError> {
    let Some(issue) = job.run.target.issue().cloned() else {
        return Ok(false);
    };
    let newest = RunFilter {
        issue: Some(issue),
        limit: Some(2),
        agents_only: true,
        ..RunFilter::default()
    };
    let own = job.run.id.clone();
    let runs = store.call(move |store| store.runs(&newest)).await??;
    Ok(runs.iter().any(|run| run.id != own))
}

/// Returns the run that opened the pull request that gates run for.
async fn author_of(job: &Job<'_>, store: &StoreThread) -> Result<Option<RunId>, RunnerError> {
    let RunTarget::Gates(of @ PullRequestOf::Issue(_), id) = &job.run.target else {
        return Ok(None);
    };
    let (of, id) = (of.clone(), *id);
    let open = store.call(move |store| store.open_pr_of(&of)).await??;
    Ok(open.filter(|pr| pr.id == id).and_then(|pr| pr.run))
}

/// Brings what a run came to to the hub, before its end is recorded. A judge and gates make nothing.
///
/// # Errors
/// When git or the hub fails, or the database cannot be written.
pub(crate) async fn bring_result(job: &Job<'_>, store: &StoreThread) -> Result<(), RunnerError> {
    let (Some(hub), RunTarget::Issue(issue)) = (&job.hub, &job.run.target) else {
        return Ok(());
    };
    let repository = open_repository(&job.project, &job.config)?;
    let place = issue_workspace(&repository, &job.config, issue)?;
    let Some(head) = repository.branch_head(&place.branch)? else {
        return Ok(());
    };
    let (pushing, commit) = (hub.clone(), head.clone());
    on_thread(move || {
        pushing.push(&commit)?;
        pushing.forget_saved(&place.key);
        Ok(())
    })
    .await?;
    let (run, fence) = (job.run.id.clone(), job.run.fence);
    store
        .call(move |store| store.record_result_commit(&run, fence, head.as_str()))
        .await??;
    Ok(())
}

/// Does work that waits for another machine on a thread of its own, so that a lease that is over is noticed meanwhile.
async fn on_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, RunnerError> + Send + 'static,
) -> Result<T, RunnerError> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|gone| {
            Err(RunnerError::refused(format!(
                "a step of the run was cut off: {gone}"
            )))
        })
}

#[cfg(test)]
mod tests {
    use symphony_core::id::{IssueId, PrId};

    use super::*;

    #[test]
    fn gates_leave_the_worktree_of_their_issue_alone() {
        let issue = IssueId::parse("DEM-1").unwrap();
        let (of, pr) = (PullRequestOf::from(issue.clone()), PrId::new(1));
        let place = (WorktreeKey::of("DEM-1"), BranchName::of_issue(&issue));
        for (target, expected) in [
            (RunTarget::Issue(issue), Some(&place)),
            (RunTarget::PullRequest(of.clone(), pr), Some(&place)),
            (RunTarget::Gates(of, pr), None),
            (RunTarget::Project, None),
        ] {
            assert_eq!(place_of(&target).as_ref(), expected, "{target:?}");
        }
    }
}
