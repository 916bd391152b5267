//! Plans that ended without a merge, and whose work a person has merged or dropped since: nothing waits any more.

use symphony_core::Timestamp;
use symphony_core::inbox::StoppedPlan;
use symphony_store::{Context, Project, Store};
use symphony_workspace::{BranchName, Repository};

use crate::error::RunnerError;
use crate::installation::Installation;
use crate::repository::open_repository;

/// Records of the ended plans of a project what became of their work: the user's branch has it, or its branch is gone. One
/// that completed has a pull request, unless that was before plans had them.
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
        if let Some(commit) = taken_over(&repository, &plan)? {
            let context = Context::system(Timestamp::now());
            store.record_plan_merged(&context, &plan.plan, &commit)?;
        }
    }
    Ok(())
}

/// Returns the commit of the user's branch that has a plan's work, or that a person left it at.
fn taken_over(repository: &Repository, plan: &StoppedPlan) -> Result<Option<String>, RunnerError> {
    let target = BranchName::parse(&plan.target_branch)?;
    let Some(head) = repository.branch_head(&target)? else {
        return Ok(None);
    };
    let base = repository.branch_head(&BranchName::of_plan_base(&plan.plan))?;
    let has_work = match &base {
        None => true,
        Some(base) => repository.is_merged(base, &head)?,
    };
    Ok(has_work.then(|| head.as_str().to_owned()))
}
