//! Plans that ended without a merge, and whose work a person has merged or dropped since: nothing is left to wait for.

use symphony_core::Timestamp;
use symphony_core::inbox::StoppedPlan;
use symphony_core::outside::BaseNotice;
use symphony_core::plan::LostBase;
use symphony_store::{Context, Project, Store};
use symphony_workspace::{BranchName, CommitId, Repository};

use super::base::{PlanBase, look_at_base, record_base};
use crate::error::RunnerError;
use crate::installation::Installation;
use crate::repository::open_repository;

/// Records what happened to the work of a project's ended plans: the user's branch has it, or its branch is gone.
/// Completed plans have a pull request, except those from before plans had them.
///
/// # Errors
/// When git or the database fails.
pub(crate) fn notice_taken_over(
    installation: &Installation,
    store: &mut Store,
    project: &Project,
) -> Result<(), RunnerError> {
    let stopped: Vec<StoppedPlan> = store.stopped_plans(Some(&project.id))?;
    if stopped.is_empty() {
        return Ok(());
    }
    let config = installation.project_config(project)?;
    let repository = open_repository(project, &config)?;
    for plan in stopped {
        let context = Context::system(Timestamp::now());
        match fate(store, &repository, &plan)? {
            Fate::Waits(None) => {}
            Fate::Waits(Some(head)) => record_base(store, &repository, &plan.plan, &head)?,
            Fate::TakenOver(commit) => store.record_plan_merged(&context, &plan.plan, &commit)?,
            Fate::Lost(lost) => {
                let notice = BaseNotice::of_lost_base(&plan.plan, &project.id, &lost);
                store.note_base(&context, &notice)?;
            }
        }
    }
    Ok(())
}

/// What happened to the work of a plan that ended without a merge.
enum Fate {
    /// It is on the plan's branch; with the head of that branch if it is not recorded yet.
    Waits(Option<CommitId>),
    /// The user's branch has it, at this commit.
    TakenOver(String),
    /// The plan's branch lost it, and the user's branch does not have it.
    Lost(LostBase),
}

fn fate(store: &Store, repository: &Repository, plan: &StoppedPlan) -> Result<Fate, RunnerError> {
    let Some(head) = repository.branch_head(&BranchName::parse(&plan.target_branch)?)? else {
        return Ok(Fate::Waits(None));
    };
    let Some(target) = store.plan_target(&plan.plan)? else {
        return Ok(Fate::Waits(None));
    };
    let (work, otherwise) = match look_at_base(store, repository, &plan.plan, &target)? {
        PlanBase::Unbegun(begin) => (begin, Fate::Waits(None)),
        PlanBase::At(base) => {
            let is_new = store.plan_base_head(&plan.plan)?.as_deref() != Some(base.as_str())
                || plan.is_base_lost;
            (base.clone(), Fate::Waits(is_new.then_some(base)))
        }
        PlanBase::Lost(lost) => {
            let recorded = RunnerError::commit(
                &lost.recorded,
                format_args!("the base of plan {}", plan.plan),
            )?;
            (recorded, Fate::Lost(lost))
        }
    };
    if repository.is_merged(&work, &head)? {
        return Ok(Fate::TakenOver(head.as_str().to_owned()));
    }
    Ok(otherwise)
}
