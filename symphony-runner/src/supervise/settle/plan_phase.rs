//! The work of a plan's phase: committed, listed as artifacts, and merged into the plan's base when the phase is
//! complete.
//!
//! Every step can be repeated: the second commit finds nothing to commit, the artifacts are listed against the last
//! commit of the base that the branch has, and an existing merge counts as done. That the phase is complete is recorded
//! before its work is merged.

use std::path::Path;

use symphony_core::Timestamp;
use symphony_core::config::{CommandOutput, ProviderName};
use symphony_core::failure::ErrorClass;
use symphony_core::id::{PlanId, PlanPhaseId};
use symphony_core::listing::list_few;
use symphony_core::plan::state::{
    PhaseOutcome, PhaseWork, PointAnswers, Reporting, clean_exit_outcome, is_phase_complete,
};
use symphony_core::plan::{Artifact, Isolation, Phase};
use symphony_core::run::{RunError, RunStatus};
use symphony_mcp::StoreThread;
use symphony_store::{PhaseFinish, PlanRecord, RecordedOutcome, StoreError};
use symphony_workspace::{
    AutoCommit, BranchName, CommitId, Failpoint, FileChange, Repository, WorkspaceError, Worktree,
    WorktreeKey,
};

use super::artifacts::{OutputLines, collect};
use super::by_products::note_by_products;
use super::left_behind::note_left_behind;
use super::phase_checks::{Checked, check_in_place};
use super::phase_merge::PhaseMerge;
use super::plan_refs::note_moved_branches;
use super::put_aside::rescues_before;
use super::stray::note_stray_work;
use super::tampered::end_if_tampered;
use crate::error::RunnerError;
use crate::paths::write_private;
use crate::process::Supervision;
use crate::repository::open_repository;
use crate::supervise::outcome::AgentOutcome;
use crate::supervise::prepare::PHASE_BASE_FILE;
use crate::supervise::{Job, phase_of_plan};

/// How many names a reason lists.
const LISTED_MAX: usize = 20;

/// Settles the work of a plan's phase.
pub(super) async fn settle_phase(
    job: &Job<'_>,
    store: &StoreThread,
    supervision: &Supervision,
    plan: &PlanId,
    phase: &PlanPhaseId,
    outcome: &mut AgentOutcome,
) -> Result<Option<PhaseFinish>, RunnerError> {
    let (id, run) = (plan.clone(), job.run.id.clone());
    let plan = store.call(move |store| store.plan(&id)).await??;
    let said = store.call(move |store| store.phase_outcome(&run)).await??;
    let called = said.as_ref().map(|said| said.artifacts.clone());
    let called = called.unwrap_or_default();
    let planned = phase_of_plan(&plan, phase);
    let said = match said.map(|said| said.outcome) {
        None => outcome_of_exit(
            job,
            planned,
            outcome,
            point_answers(store, &plan, phase).await?,
        ),
        said => said,
    };
    let checks = planned.map_or(&[][..], |phase| &phase.checks);
    if plan.options.isolation == Isolation::None {
        let root = &job.project.root;
        let artifacts = collect(job, &[], called, root, OutputLines::Count)?;
        if !is_phase_complete(outcome.status, said.as_ref()) {
            return Ok(Some(unfinished(job, artifacts)));
        }
        record_outcome(job, store, said.as_ref()).await?;
        let work = match check_in_place(job, store, supervision, checks).await? {
            Checked::Green => PhaseWork::InPlace,
            Checked::Red(red) => red,
            Checked::Ended => return Ok(Some(ended(job, artifacts, outcome))),
        };
        return Ok(Some(phase_finish(job, work, artifacts)));
    }
    let repository = open_repository(&job.project, &job.config)?;
    let branch = BranchName::of_plan_phase(&plan.id, phase);
    let key = WorktreeKey::of_plan_phase(&plan.id, phase);
    let worktree = match repository.worktree(&key, Some(&branch)) {
        Ok(worktree) => worktree,
        Err(WorkspaceError::WorktreeMissing { .. }) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    if end_if_tampered(job, &repository, &worktree, outcome)? {
        return Ok(None);
    }
    note_moved_branches(job, store, &repository, &plan, outcome).await?;
    // Before the commit, which may make rescue refs itself: a repeated call could not tell these from earlier ones.
    rescues_before(job, &repository, &worktree)?;
    let done = repository.auto_commit(&worktree, &message(&plan, phase), Timestamp::now())?;
    if let Some(commit) = &done.commit {
        tracing::info!(%commit, "committed what the agent left");
    }
    Failpoint::PhaseCommitted.reach();
    let base = BranchName::of_plan_base(&plan.id);
    note_by_products(&repository, &worktree, &base, outcome);
    note_stray_work(job, &repository, &worktree, &base, outcome)?;
    note_left_behind(&repository, &worktree, &base, outcome)?;
    let changes = changes(job, &repository, &base, &done.head)?;
    let root = worktree.path();
    let artifacts = collect(job, &changes, called, root, OutputLines::Ignored)?;
    if !is_phase_complete(outcome.status, said.as_ref()) {
        return Ok(Some(unfinished(job, artifacts)));
    }
    record_outcome(job, store, said.as_ref()).await?;
    Failpoint::PhaseCompleted.reach();
    let merge = PhaseMerge {
        job,
        store,
        repository: &repository,
        worktree: &worktree,
        plan: &plan,
        phase,
        head: &done.head,
    };
    let unmerged = match filtered(&repository, &done)? {
        Some(reason) => Some(reason),
        None => nested(&repository, &worktree, &base)?,
    };
    let work = match unmerged {
        Some(reason) => PhaseWork::Unmerged(reason),
        None => match merge.run(supervision, checks).await? {
            Some(work) => work,
            None => return Ok(Some(ended(job, artifacts, outcome))),
        },
    };
    Failpoint::PhaseMerged.reach();
    Ok(Some(phase_finish(job, work, artifacts)))
}

/// Returns why work with a filter that Symphony may not run cannot be merged.
fn filtered(repository: &Repository, done: &AutoCommit) -> Result<Option<String>, RunnerError> {
    let (paths, filter) = if done.unfiltered.is_empty() {
        match repository.require_filters_of(&done.head) {
            Ok(()) => return Ok(None),
            Err(
                WorkspaceError::FilterNotRun { name, patterns, .. }
                | WorkspaceError::FilterMissing { name, patterns, .. },
            ) => (patterns, format!("the git filter `{name}`")),
            Err(error) => return Err(error.into()),
        }
    } else {
        (done.unfiltered.clone(), "a git filter".to_owned())
    };
    let names = list_few(paths.iter().map(String::as_str), LISTED_MAX);
    Ok(Some(format!(
        "{names} need {filter} that Symphony may not run, so the phase would be merged without it. Take the filter out of \
         `.gitattributes`, or let a person add it to `git.trusted_filters`, with its commands in the global git configuration"
    )))
}

/// Returns why work in nested repositories cannot be merged: phases that depend on this one would not get it.
fn nested(
    repository: &Repository,
    worktree: &Worktree,
    base: &BranchName,
) -> Result<Option<String>, RunnerError> {
    let base = repository.branch_head(base)?;
    let found = repository.nested_repositories(worktree, base.as_ref())?;
    if found.is_empty() {
        return Ok(None);
    }
    let names = list_few(found.iter().map(String::as_str), LISTED_MAX);
    Ok(Some(format!(
        "its worktree contains another git repository ({names}), and no commit of the phase has the files in it. \
         Call complete_phase with `absorb: true`, or remove the inner git folder and commit the files"
    )))
}

/// The work of an incomplete phase stays on its branch for the next attempt.
fn unfinished(job: &Job<'_>, artifacts: Vec<Artifact>) -> PhaseFinish {
    let work = PhaseWork::Unmerged("the phase is not complete".to_owned());
    phase_finish(job, work, artifacts)
}

/// Returns the end of a run that a person ended while the checks of its phase ran, as if its agent had been ended.
fn ended(job: &Job<'_>, artifacts: Vec<Artifact>, outcome: &mut AgentOutcome) -> PhaseFinish {
    outcome.status = RunStatus::Cancelled;
    outcome.error = Some(RunError {
        class: ErrorClass::Cancelled,
        message: "ended by a person while its checks ran".to_owned(),
    });
    unfinished(job, artifacts)
}

fn phase_finish(job: &Job<'_>, work: PhaseWork, artifacts: Vec<Artifact>) -> PhaseFinish {
    PhaseFinish {
        work,
        artifacts,
        failure_patterns: job.config.plan.failure_patterns.clone(),
    }
}

/// Returns the outcome of a clean exit without a report.
fn outcome_of_exit(
    job: &Job<'_>,
    phase: Option<&Phase>,
    outcome: &AgentOutcome,
    answers: PointAnswers,
) -> Option<PhaseOutcome> {
    (outcome.status == RunStatus::Succeeded)
        .then(|| clean_exit_outcome(phase?, reporting(job), answers))
        .flatten()
}

/// Returns whether the phase would hand in the plan with an unanswered `must` point.
async fn point_answers(
    store: &StoreThread,
    plan: &PlanRecord,
    phase: &PlanPhaseId,
) -> Result<PointAnswers, RunnerError> {
    let (plan, phase) = (plan.id.clone(), phase.clone());
    let answers = store.call(move |store| store.require_phase_answers(&plan, &phase));
    match answers.await? {
        Ok(()) => Ok(PointAnswers::Given),
        Err(StoreError::Point(_)) => Ok(PointAnswers::Missing),
        Err(error) => Err(error.into()),
    }
}

/// Returns whether the run's agent had the tool `complete_phase`. A program that prints plain text is assumed not to
/// speak the protocol.
fn reporting(job: &Job<'_>) -> Reporting {
    let is_plain = job.run.provider == ProviderName::Command.name()
        && job.config.providers.command_output == CommandOutput::Text;
    if is_plain {
        Reporting::None
    } else {
        Reporting::ByTool
    }
}

/// Records the outcome before the work is merged, so that whoever takes over the exit handling after a crash merges it,
/// too. The agent's own report is kept.
async fn record_outcome(
    job: &Job<'_>,
    store: &StoreThread,
    outcome: Option<&PhaseOutcome>,
) -> Result<(), RunnerError> {
    let Some(outcome) = outcome.cloned() else {
        return Ok(());
    };
    let (context, run) = (job.as_supervisor(), job.run.id.clone());
    let recorded = RecordedOutcome {
        outcome,
        artifacts: Vec::new(),
    };
    Ok(store
        .call(move |store| store.record_phase_outcome(&context, &run, &recorded))
        .await??)
}

/// Returns the subject of the commit with a phase's work.
fn message(plan: &PlanRecord, phase: &PlanPhaseId) -> String {
    let title = phase_of_plan(plan, phase).map_or("", |phase| &phase.title);
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("symphony({}/{phase}): {title}", plan.id)
}

/// Returns what the phase changed: what its branch has and the plan's base does not. The commit that it is compared
/// with is kept for a repetition after the merge, when the base has everything.
fn changes(
    job: &Job<'_>,
    repository: &Repository,
    base: &BranchName,
    head: &CommitId,
) -> Result<Vec<FileChange>, RunnerError> {
    let file = job.paths.dir.join(PHASE_BASE_FILE);
    // The patch itself is not needed.
    if let Some(base) = repository.branch_head(base)? {
        let now = repository.diff(&base, head, 0)?;
        if now.merge_base != *head {
            write_private(&file, now.merge_base.as_str())?;
            return Ok(now.files);
        }
    }
    match read_base(&file)? {
        Some(base) => Ok(repository.diff(&base, head, 0)?.files),
        None => Ok(Vec::new()),
    }
}

fn read_base(path: &Path) -> Result<Option<CommitId>, RunnerError> {
    match symphony_workspace::read_own_text(path) {
        Ok(text) => Ok(CommitId::parse(text.trim()).ok()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(RunnerError::io("read", path, error)),
    }
}
