//! Where a plan's phase works: its own worktree on the plan's base, or the project's folder.

use symphony_core::Timestamp;
use symphony_core::plan::Isolation;
use symphony_mcp::{IssueWorkspace, StoreThread};
use symphony_store::{PlanRecord, PlanTarget};
use symphony_workspace::{
    BaseMerge, BranchName, MergeOfBase, Prepared, Repository, WorktreeKey, WorktreeRequest,
};

use super::set_up::{SetUpSite, copy_config_files, set_up_note};
use super::site::Site;
use super::subject::PhaseSubject;
use crate::error::RunnerError;
use crate::paths::write_private;
use crate::plan::{BaseRecord, PlanBase, tell_lost_base};
use crate::process::Supervision;
use crate::repository::options;
use crate::supervise::Job;

/// The file with the last commit of the plan's base that a phase's branch has. The phase's changes are listed against
/// it.
pub(crate) const PHASE_BASE_FILE: &str = "plan-base.txt";

/// Prepares the place of a plan's phase.
pub(super) async fn plan_site(
    job: &Job<'_>,
    store: &StoreThread,
    supervision: &Supervision,
    repository: Repository,
    subject: &PhaseSubject,
) -> Result<Site, RunnerError> {
    let plan = &subject.plan;
    let Some(target) = plan
        .target
        .as_ref()
        .filter(|_| plan.options.isolation == Isolation::Worktree)
    else {
        let branch = repository.checked_out()?.map(|base| base.branch);
        return Ok(Site {
            worktree: repository.user_checkout(),
            repository,
            branch,
            workspace: None,
            compared: Vec::new(),
            notes: Vec::new(),
        });
    };
    let base = BranchName::of_plan_base(&plan.id);
    require_base(store, &repository, plan, target).await?;
    let place = IssueWorkspace {
        project_root: repository.root().to_owned(),
        options: options(&job.config),
        key: WorktreeKey::of_plan_phase(&plan.id, &subject.id),
        branch: BranchName::of_plan_phase(&plan.id, &subject.id),
        base,
        gates: Vec::new(),
    };
    let make = async || make_worktree(job, &repository, &place);
    let made = make().await?;
    let site = SetUpSite {
        job,
        supervision,
        repository: &repository,
        place: &place,
    };
    let made = site.set_up(made, make).await?;
    let mut notes = notes(&made.base, &place.base);
    notes.extend(conflict_note(&repository, &place.base, target)?);
    notes.extend(set_up_note(&repository, &made.worktree)?);
    Ok(Site {
        repository,
        worktree: made.worktree,
        branch: Some(place.branch.clone()),
        notes,
        workspace: Some(place),
        compared: BranchName::parse(&target.branch).into_iter().collect(),
    })
}

/// Creates the phase's worktree, or takes the existing one, with the project's configuration files.
fn make_worktree(
    job: &Job<'_>,
    repository: &Repository,
    place: &IssueWorkspace,
) -> Result<Prepared, RunnerError> {
    let made = repository.prepare_worktree(&WorktreeRequest {
        key: &place.key,
        branch: &place.branch,
        base: &place.base,
        merge: BaseMerge::Merge,
        now: Timestamp::now(),
    })?;
    // After the worktree is prepared, because other phases may move the base at any moment.
    write_private(
        &job.paths.dir.join(PHASE_BASE_FILE),
        made.base_commit.as_str(),
    )?;
    for recovery in &made.recovered {
        tracing::info!(?recovery, "repaired the worktree");
    }
    copy_config_files(repository, &made.worktree)?;
    Ok(made)
}

/// Creates the plan's base for the first phase that needs it, and refuses to continue without the work of complete
/// phases: a base that was lost is never made again.
async fn require_base(
    store: &StoreThread,
    repository: &Repository,
    plan: &PlanRecord,
    target: &PlanTarget,
) -> Result<(), RunnerError> {
    let base = BranchName::of_plan_base(&plan.id);
    let (id, target) = (plan.id.clone(), target.clone());
    let record = store
        .call(move |store| BaseRecord::load(store, &id, &target))
        .await??;
    match record.judge(repository)? {
        PlanBase::At(_) => Ok(()),
        PlanBase::Unbegun(begin) => {
            repository.create_branch(&base, &begin)?;
            Ok(())
        }
        PlanBase::Lost(lost) => {
            let (id, project, told) = (plan.id.clone(), plan.project.clone(), lost.clone());
            store
                .call(move |store| tell_lost_base(store, &id, &project, &told))
                .await??;
            Err(RunnerError::refused(lost.to_string()))
        }
    }
}

/// Returns a note for a phase that the plan's work conflicts with the branch that it goes to, such as after a
/// `plan retry` because its pull request could not be merged.
fn conflict_note(
    repository: &Repository,
    base: &BranchName,
    target: &PlanTarget,
) -> Result<Option<String>, RunnerError> {
    let branch = BranchName::parse(&target.branch)?;
    let heads = (
        repository.branch_head(&branch)?,
        repository.branch_head(base)?,
    );
    let (Some(goal), Some(head)) = heads else {
        return Ok(None);
    };
    let files = repository.conflicts(&goal, &head)?;
    Ok((!files.is_empty()).then(|| {
        format!(
            "The work of the plan (`{base}`) conflicts with `{branch}`, where it is to be merged, in: {}. Before anything else, run \
             `git merge {branch}`, resolve the conflicts and commit the merge. Otherwise the plan's pull request cannot be merged.",
            files.join(", ")
        )
    }))
}

fn notes(merge: &MergeOfBase, base: &BranchName) -> Vec<String> {
    match merge {
        MergeOfBase::Conflict(files) => vec![format!(
            "Other phases have since merged work into `{base}` that conflicts with your branch in: {}. Before anything else, run \
             `git merge {base}`, resolve the conflicts and commit the merge. Otherwise your work cannot be merged.",
            files.join(", ")
        )],
        MergeOfBase::BlockedByChanges(files) => vec![format!(
            "Work that other phases have since merged into `{base}` was not merged into your branch, because uncommitted changes \
             are in the way ({}). Commit them or put them back, then run `git merge {base}`.",
            files.join(", ")
        )],
        MergeOfBase::Unrelated => vec![format!(
            "The plan's base `{base}` was rewritten and has no commit in common with your branch. Report the phase as failed."
        )],
        MergeOfBase::NotAsked | MergeOfBase::UpToDate | MergeOfBase::Merged(_) => Vec::new(),
    }
}
