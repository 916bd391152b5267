//! Exit handling (spec: lifecycle, "Exit handling"): once per run, whoever does it; a crash in the middle is repeated
//! without harm.

use symphony_core::Timestamp;
use symphony_core::agent::AgentType;
use symphony_core::config::ProviderName;
use symphony_core::failure::ErrorClass;
use symphony_core::outcome::FailureLimits;
use symphony_core::pull_request::{PullRequest, VerifiedGates};
use symphony_core::run::{RunError, RunStatus};
use symphony_core::tick::HoldScope;
use symphony_mcp::{IssueWorkspace, StoreThread};
use symphony_store::{NewHold, RunFinish};
use symphony_workspace::{CommitId, Fingerprint, Repository, Worktree, work_in_progress};

use super::Job;
use super::agent::AgentOutcome;
use super::gates::{GatePlace, run_gates};
use super::prepare::FINGERPRINT_FILE;
use crate::error::RunnerError;
use crate::process::Supervision;
use crate::repository::{issue_workspace, open_repository};

/// Brings a run to its recorded end. Its processes are gone and its socket is closed.
pub(crate) async fn finish(
    job: &Job<'_>,
    store: &StoreThread,
    supervision: &Supervision,
    mut outcome: AgentOutcome,
) -> Result<(), RunnerError> {
    let gates = match settle_work(job, store, supervision, &mut outcome).await {
        Ok(gates) => gates,
        // the work lies in the worktree as the agent left it; the run ends all the same, with the reason
        Err(error) => {
            tracing::error!(%error, "exit handling could not settle the work");
            let class = if error.is_disk_full() {
                ErrorClass::DiskFull
            } else {
                ErrorClass::WorktreeFailed
            };
            outcome.fail_unless_worse(class, format!("after the agent's end: {error}"));
            None
        }
    };
    let hold = hold(job, &outcome);
    let finish = RunFinish {
        run: job.run.id.clone(),
        status: outcome.status,
        error: outcome.error,
        exit_code: outcome.exit_code,
        usage: outcome.usage,
        output_tail: outcome.output_tail,
        metadata: outcome.metadata,
        gates,
        hold,
        limits: FailureLimits {
            max_retries: job.config.max_retries,
            max_backoff_ms: job.config.max_retry_backoff_ms.get(),
            breaker_target: job.config.circuit_breaker_status,
        },
    };
    let context = Job::as_system();
    let ended = store
        .call(move |store| store.finish_run(&context, &finish))
        .await??;
    tracing::info!(run = %ended.run.id, status = %ended.run.status, "the run has ended");
    // last: until the end is recorded they may be needed to do it again
    if !job.config.keep_run_files {
        job.paths.remove_prompts();
    }
    Ok(())
}

/// Commits what is left, runs the gates of a pull request that waits for them, looks for tampering.
async fn settle_work(
    job: &Job<'_>,
    store: &StoreThread,
    supervision: &Supervision,
    outcome: &mut AgentOutcome,
) -> Result<Option<VerifiedGates>, RunnerError> {
    let Some(issue) = &job.issue else {
        return Ok(None);
    };
    let repository = open_repository(&job.project, &job.config)?;
    let place = issue_workspace(&repository, &job.config, &issue.id)?;
    let Some(worktree) = find_worktree(&repository, &place)? else {
        return Ok(None);
    };
    if let Some(what) = tampered(job, &repository, &worktree)? {
        outcome.status = RunStatus::Tampered;
        outcome.error = Some(RunError {
            class: ErrorClass::Tampered,
            message: what,
        });
        // nothing of this worktree is run or committed: a human looks first
        return Ok(None);
    }
    if job.run.agent == AgentType::Judge {
        return Ok(None);
    }
    let id = issue.id.clone();
    let open = store.call(move |store| store.open_pr(&id)).await??;
    let Some(pr) = open.filter(|pr| pr.run.as_ref() == Some(&job.run.id)) else {
        auto_commit(job, &repository, &worktree)?;
        return Ok(None);
    };
    return_to_head(&repository, &worktree, &pr)?;
    if pr.gates_of_head().is_some() {
        return Ok(None);
    }
    let gates = run_gates(
        supervision,
        &gate_place(job, &worktree),
        &job.config.gates,
        &pr.head_commit,
    )
    .await?;
    Ok(Some(gates))
}

/// Where the gates of this run are run: in the agent's environment, without the socket.
fn gate_place(job: &Job<'_>, worktree: &Worktree) -> GatePlace {
    GatePlace {
        executable: job.installation.executable.clone(),
        environment: job.command_environment(),
        checkout: worktree.path().to_owned(),
        logs: job.paths.dir.clone(),
    }
}

/// The worktree of an issue, when it was made.
fn find_worktree(
    repository: &Repository,
    place: &IssueWorkspace,
) -> Result<Option<Worktree>, RunnerError> {
    use symphony_workspace::WorkspaceError;
    match repository.worktree(&place.key, Some(&place.branch)) {
        Ok(worktree) => Ok(Some(worktree)),
        Err(WorkspaceError::WorktreeMissing { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Says what changed in the configuration that runs programs, since the dispatch.
fn tampered(
    job: &Job<'_>,
    repository: &Repository,
    worktree: &Worktree,
) -> Result<Option<String>, RunnerError> {
    let path = job.paths.dir.join(FINGERPRINT_FILE);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        // the run did not get as far as its agent
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(RunnerError::io("read", path, error)),
    };
    let Ok(before) = serde_json::from_str::<Fingerprint>(&text) else {
        return Ok(Some(format!(
            "the fingerprint of the run was changed ({})",
            path.display()
        )));
    };
    let now = repository.fingerprint(worktree)?;
    let changes = now.changes_since(&before);
    Ok((!changes.is_empty()).then(|| {
        format!(
            "configuration that runs programs was changed: {}",
            changes.join("; ")
        )
    }))
}

fn auto_commit(
    job: &Job<'_>,
    repository: &Repository,
    worktree: &Worktree,
) -> Result<(), RunnerError> {
    let Some(issue) = job.run.target.issue() else {
        return Ok(());
    };
    let done = repository.auto_commit(
        worktree,
        &work_in_progress(issue.as_str()),
        Timestamp::now(),
    )?;
    if let Some(commit) = done.commit {
        tracing::info!(%commit, "committed what the agent left");
    }
    Ok(())
}

/// What came after the pull request is not part of it: it goes to a rescue ref, the branch back to the recorded head.
fn return_to_head(
    repository: &Repository,
    worktree: &Worktree,
    pr: &PullRequest,
) -> Result<(), RunnerError> {
    let head = CommitId::parse(&pr.head_commit).map_err(|error| {
        RunnerError::refused(format!("the head of pull request {}: {error}", pr.id))
    })?;
    let reset = repository.reset_to(worktree, &head, Timestamp::now())?;
    if let Some(rescue) = reset.rescue {
        tracing::info!(%rescue, "work after the pull request was put aside");
    }
    Ok(())
}

fn hold(job: &Job<'_>, outcome: &AgentOutcome) -> Option<NewHold> {
    let error = outcome
        .error
        .as_ref()
        .filter(|error| error.class.is_hold())?;
    let scope = if error.class == ErrorClass::DiskFull {
        HoldScope::Everything
    } else {
        HoldScope::Provider(job.run.provider.clone())
    };
    // a provider that is not in the set any more has no settings: its first hold is as short as the default
    let provider = ProviderName::parse(&job.run.provider).unwrap_or(ProviderName::ClaudeCli);
    Some(NewHold {
        scope,
        class: error.class,
        reason: format!("{}: {}", error.class, error.message),
        until: outcome.hold_until,
        first_ms: job.config.providers.settings(provider).hold_ms.get(),
    })
}
