//! A run of gates in a separate process: those of a pull request, or the probe of a base.
//!
//! It has what every run has: a claim, a held lock, a marker, a log, and an end that is recorded once. The next tick
//! finds a dead one, and its gates are due again.

mod candidate;
mod compare;
mod remembered;
mod start;

use symphony_core::failure::ErrorClass;
use symphony_core::gates::{BaseComparison, PastFailure, failure_print};
use symphony_core::id::PrId;
use symphony_core::listing::list_few;
use symphony_core::pull_request::{PullRequest, PullRequestOf, VerifiedGate, VerifiedGates};
use symphony_core::run::{RunError, RunStatus, RunTarget, ShellTools};
use symphony_core::warm::canonical_path;
use symphony_core::watchdog::Step;
use symphony_mcp::StoreThread;
use symphony_store::{GatesAtEnd, GatesFound, NewHold, RunStart, StartSandbox};
use symphony_workspace::{CommitId, Repository};

use self::candidate::{Gated, gates_of_base_now, gates_of_head};
use self::compare::compare_if_needed;
use self::remembered::{GatesRun, NAMES_MAX, keep_output_of_base, run_remembered};
use super::base_red::{base_hold, known_commands, naming_setup_log, no_result_hold, red_text};
use super::checkout::{checkout_path, remove_checkout};
use super::proof::Proof;
use super::running::ran_at_its_end;
use super::untried::{TrialRun, note_trial_run};
use crate::error::RunnerError;
use crate::process::Supervision;
use crate::repository::open_repository;
use crate::sandbox::Protection;
use crate::supervise::{
    AgentOutcome, Job, protection, record_settings, return_to_recorded_head, until_cancelled,
};

pub use start::check_pr;
pub(crate) use start::start_gates;

/// The result of a run of gates, for its exit handling.
#[derive(Debug)]
pub(crate) struct GatesEnded {
    pub(crate) outcome: AgentOutcome,
    pub(crate) gates: GatesAtEnd,
    pub(crate) hold: Option<NewHold>,
}

/// Runs the gates that the run was claimed for.
pub(crate) async fn run_gates_job(
    job: &Job<'_>,
    store: &StoreThread,
    supervision: &Supervision,
) -> GatesEnded {
    job.steps.enter(Step::Prepare);
    let gated = Box::pin(gates_of_target(job, store, supervision));
    match until_cancelled(job, store, gated).await {
        Some(Ok(ended)) => ended,
        Some(Err(error)) => {
            let hold = no_result(job, &error);
            clear(job, supervision).await;
            GatesEnded {
                hold,
                ..GatesEnded::not_run(&error)
            }
        }
        None => {
            clear(job, supervision).await;
            waive_trial(job, store).await;
            GatesEnded::cancelled()
        }
    }
}

/// Returns the hold of a project whose gates could not be tried on its base. A full disk holds everything, and without
/// a base branch there is nothing to hold.
fn no_result(job: &Job<'_>, error: &RunnerError) -> Option<NewHold> {
    if error.is_disk_full() || error.is_base_missing() {
        return None;
    }
    no_result_for(job, &[], &error.with_causes())
}

/// Returns the end of a run of gates whose supervisor died and whose processes are gone. The gates of a pull request
/// are tried again a few times. A trial on the base holds its project: a gate that kills its supervisor would have no
/// result on any change either, and each change would cost an agent's run. A trial that a person ended does not hold
/// it.
pub(crate) async fn end_of_dead(
    job: &Job<'_>,
    store: &StoreThread,
    outcome: AgentOutcome,
) -> GatesEnded {
    if outcome.status == RunStatus::Cancelled {
        waive_trial(job, store).await;
        return GatesEnded {
            outcome,
            gates: GatesAtEnd::Due,
            hold: None,
        };
    }
    let running = ran_at_its_end(&job.paths.dir);
    let why = outcome.error.as_ref().map(|error| error.message.as_str());
    let problem = why.unwrap_or("their supervisor died").to_owned();
    let hold = no_result_for(job, &running, &problem);
    let running = known_commands(&job.config, running);
    GatesEnded {
        outcome,
        gates: GatesAtEnd::Found(GatesFound::Died { running, problem }),
        hold,
    }
}

fn no_result_for(job: &Job<'_>, running: &[String], why: &str) -> Option<NewHold> {
    if job.run.target != RunTarget::Project {
        return None;
    }
    let base = open_repository(&job.project, &job.config)
        .map_err(RunnerError::from)
        .and_then(|repository| Ok(repository.base()?));
    match base {
        Ok(base) => {
            let project = &job.project.id;
            Some(no_result_hold(project, &job.config, &base, running, why))
        }
        Err(error) => {
            tracing::warn!(%error, "the next tick tries the gates again");
            None
        }
    }
}

/// Lets work continue although the project's gates were not tried on its base, because a person ended the trial.
async fn waive_trial(job: &Job<'_>, store: &StoreThread) {
    if job.run.target != RunTarget::Project {
        return;
    }
    let waived = async {
        let base = open_repository(&job.project, &job.config)?.base()?;
        note_trial_run(job, store, TrialRun::NotMade(&base.commit)).await
    };
    if let Err(error) = waived.await {
        tracing::warn!(%error, "the next tick tries the gates again");
    }
}

/// Removes the checkout of a run whose supervisor died. Its processes must have ended.
pub(crate) fn clear_dead_checkout(job: &Job<'_>) -> Result<(), RunnerError> {
    let repository = open_repository(&job.project, &job.config)?;
    remove_checkout(&repository, &job.run.id)
}

/// Ends what is still running, then removes the checkout. The next tick removes whatever is left.
async fn clear(job: &Job<'_>, supervision: &Supervision) {
    if let Err(error) = supervision.end_rest().await {
        tracing::warn!(%error, "processes of gates are left");
    } else if let Err(error) = clear_dead_checkout(job) {
        tracing::warn!(%error, "the checkout of the gates stays for now");
    }
}

async fn gates_of_target(
    job: &Job<'_>,
    store: &StoreThread,
    supervision: &Supervision,
) -> Result<GatesEnded, RunnerError> {
    let repository = open_repository(&job.project, &job.config)?;
    record_start(job, store, &repository).await?;
    record_settings(job, &repository)?;
    let run = GatesRun {
        job,
        store,
        supervision,
        repository: &repository,
    };
    match &job.run.target {
        RunTarget::Gates(of, pr) => gates_of_pr(run, of.clone(), *pr).await,
        _ => gates_of_base(run).await,
    }
}

async fn record_start(
    job: &Job<'_>,
    store: &StoreThread,
    repository: &Repository,
) -> Result<(), RunnerError> {
    let path = checkout_path(repository, &job.run.id)?;
    let relative = path.strip_prefix(&job.project.root).unwrap_or(&path);
    // Where the level is not available, no gate starts, and the run says so itself.
    let protection = protection(job).ok().filter(Protection::is_on);
    let start = RunStart {
        worktree: Some(relative.display().to_string()),
        sandbox: protection.map(|protection| StartSandbox {
            record: protection.record(),
            protection: protection
                .record()
                .protection(&job.run.agent, ShellTools::Given),
        }),
        metadata: serde_json::json!({}),
        ..RunStart::default()
    };
    let (context, run) = (job.as_run(), job.run.id.clone());
    store
        .call(move |store| store.record_start(&context, &run, &start))
        .await??;
    Ok(())
}

async fn gates_of_pr(
    run: GatesRun<'_>,
    of: PullRequestOf,
    id: PrId,
) -> Result<GatesEnded, RunnerError> {
    let GatesRun {
        job,
        store,
        repository,
        ..
    } = run;
    let source = of.clone();
    // Read again: since the claim, the pull request may have been merged or closed, or another one opened.
    let open = store.call(move |store| store.open_pr_of(&source)).await??;
    let Some(pr) = open.filter(|pr| pr.id == id) else {
        return Ok(GatesEnded::cancelled());
    };
    let head = commit_of(&pr)?;
    finish_exit_handling(job, store, repository, &pr, &head).await?;
    let Gated { gates, tree } = match &pr.proposal {
        None => gates_of_head(run, &head, pr.gates_wait.fresh).await?,
        Some(_) => gates_of_base_now(run, &pr, &head).await?,
    };
    let folder = checkout_path(repository, &job.run.id)?;
    let folder = folder.display().to_string();
    let canonical = canonical_path(&job.project.id).display().to_string();
    let print = failure_print(&gates, &[&folder, &canonical]);
    if gates.green() {
        keep_for_later(run).await;
    }
    let compared = match &print {
        None => None,
        Some(print) => {
            let failure = PastFailure::of(&gates, &tree, print.clone());
            compare_if_needed(run, &gates, of, failure).await?
        }
    };
    let base = compared
        .as_ref()
        .map_or(BaseComparison::NotMade, |compared| compared.comparison);
    // Whatever happens to this change, no other one could pass.
    let hold = compared
        .filter(|compared| !compared.base.green())
        .map(|compared| hold_for(job, repository, &compared.base))
        .transpose()?;
    Ok(GatesEnded {
        outcome: outcome_of(&gates, base),
        gates: GatesAtEnd::Found(GatesFound::Ran {
            gates,
            tree,
            print,
            base,
        }),
        hold,
    })
}

/// Builds the base for later checkouts, if there is no build output of it that can be used. Nothing depends on it, so a failure
/// only costs later runs their time.
async fn keep_for_later(run: GatesRun<'_>) {
    let kept = async {
        if run.request().should_keep_again()? {
            keep_output_of_base(run).await?;
        }
        Ok::<_, RunnerError>(())
    };
    if let Err(error) = Box::pin(kept).await {
        tracing::warn!(%error, "no build output of the base was kept");
    }
}

/// Repeats what the exit handling of the run that opened the pull request could not do because git failed. If it fails
/// again, a later try of the gates repeats it. Commits that a person made meanwhile are left alone.
async fn finish_exit_handling(
    job: &Job<'_>,
    store: &StoreThread,
    repository: &Repository,
    pr: &PullRequest,
    head: &CommitId,
) -> Result<(), RunnerError> {
    let Some(author) = pr.run.clone().filter(|_| !pr.gates_wait.fresh) else {
        return Ok(());
    };
    let author = store.call(move |store| store.run(&author)).await??;
    let class = author.error.map(|error| error.class);
    if let (Some(ErrorClass::WorktreeFailed | ErrorClass::DiskFull), PullRequestOf::Issue(issue)) =
        (class, &pr.of)
        && let Some(rescue) = return_to_recorded_head(job, repository, issue, head)?
    {
        let issue = issue.clone();
        let context = job.as_supervisor();
        store
            .call(move |store| store.record_put_aside(&context, &issue, &rescue))
            .await??;
    }
    Ok(())
}

/// Probes a base on which gates failed.
async fn gates_of_base(run: GatesRun<'_>) -> Result<GatesEnded, RunnerError> {
    let GatesRun {
        job, repository, ..
    } = run;
    let base = repository.base()?;
    let commit = base.commit;
    let proof = Proof::of_commit(run.request(), commit.clone(), job.config.gates.clone())?;
    let proven = run_remembered(run, &proof, false).await?;
    let (hold, base) = if proven.gates.green() {
        note_trial_run(job, run.store, TrialRun::Green(&commit)).await?;
        (None, BaseComparison::NotMade)
    } else {
        let hold = hold_for(job, repository, &proven.gates)?;
        (Some(hold), BaseComparison::AllRed)
    };
    Ok(GatesEnded {
        outcome: outcome_of(&proven.gates, base),
        gates: GatesAtEnd::Due,
        hold,
    })
}

/// Returns the hold of a project whose gates fail on its base, with the message about what fails.
fn hold_for(
    job: &Job<'_>,
    repository: &Repository,
    gates: &VerifiedGates,
) -> Result<NewHold, RunnerError> {
    let base = repository.base()?;
    let red = gates.red();
    let text = red_text(&job.config, &base, red);
    let text = naming_setup_log(text, &job.project.root, &job.paths.dir);
    Ok(base_hold(&job.project.id, &job.config, &base.commit, text))
}

fn commit_of(pr: &PullRequest) -> Result<CommitId, RunnerError> {
    RunnerError::commit(&pr.head_commit, "the recorded head")
}

fn outcome_of(gates: &VerifiedGates, base: BaseComparison) -> AgentOutcome {
    let red: Vec<&VerifiedGate> = gates.red().collect();
    let names = list_few(red.iter().map(|gate| gate.name.as_str()), NAMES_MAX);
    if gates.green() {
        return AgentOutcome {
            status: RunStatus::Succeeded,
            error: None,
            exit_code: None,
            usage: None,
            output_tail: String::new(),
            metadata: serde_json::Map::new(),
            hold_until: None,
        };
    }
    let class = if base.is_all_red() {
        ErrorClass::BaseGatesFailed
    } else {
        ErrorClass::GatesRed
    };
    let mut outcome = AgentOutcome::failed(
        RunStatus::Failed,
        RunError {
            class,
            message: format!("red: {names}"),
        },
    );
    outcome.output_tail = red
        .last()
        .map_or_else(String::new, |gate| gate.output.clone());
    outcome
}

impl GatesEnded {
    /// Gates that could not run.
    pub(crate) fn not_run(error: &RunnerError) -> Self {
        Self {
            outcome: AgentOutcome::not_started(error),
            gates: GatesAtEnd::Found(GatesFound::NotRun {
                problem: error.with_causes(),
            }),
            hold: None,
        }
    }

    /// Gates that a person ended, or whose pull request is no longer open.
    fn cancelled() -> Self {
        let error = RunError {
            class: ErrorClass::Cancelled,
            message: "the run of gates was ended".to_owned(),
        };
        Self {
            outcome: AgentOutcome::failed(RunStatus::Cancelled, error),
            gates: GatesAtEnd::Due,
            hold: None,
        }
    }
}
