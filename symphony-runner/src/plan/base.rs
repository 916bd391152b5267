//! The branch that the phases of a plan are merged into: where it is, compared with its record.

use symphony_core::Timestamp;
use symphony_core::id::{PlanId, ProjectId};
use symphony_core::outside::BaseNotice;
use symphony_core::plan::{BaseSight, BaseStanding, LostBase, judge_base};
use symphony_store::{Context, PlanRecord, PlanTarget, Store};
use symphony_workspace::{BranchName, CommitId, Repository};

use super::refusal::PlanRunRefusal;
use crate::error::RunnerError;

/// How often a record is retried when another phase records at the same moment: as often as phases can end together.
const TRIES_MAX: usize = 100;

/// Where the base of a plan is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PlanBase {
    /// There is none yet: it is created at this commit.
    Unbegun(CommitId),
    /// It has the work of all complete phases, and is at this commit.
    At(CommitId),
    /// It lost some of that work.
    Lost(LostBase),
}

/// Where a plan's base was left.
///
/// It is loaded before the branch is looked at. A phase moves the branch and then records that, so a branch that was
/// seen earlier than its record may lack what another phase merged in between, and would seem to have lost it.
#[derive(Debug, Clone)]
pub(crate) struct BaseRecord {
    branch: BranchName,
    begin: CommitId,
    recorded: Option<CommitId>,
    /// Where a person has accepted it without that work.
    accepted: Vec<String>,
}

impl BaseRecord {
    /// Loads the record of the base of a plan that began at a commit.
    ///
    /// # Errors
    /// When the database cannot be read, or holds no commit where one should be.
    pub(crate) fn load(
        store: &Store,
        plan: &PlanId,
        target: &PlanTarget,
    ) -> Result<Self, RunnerError> {
        let commit =
            |text: &str| RunnerError::commit(text, format_args!("the base of plan {plan}"));
        let recorded = store.plan_base_head(plan)?;
        Ok(Self {
            branch: BranchName::of_plan_base(plan),
            begin: commit(&target.base_commit)?,
            recorded: recorded.as_deref().map(commit).transpose()?,
            accepted: store.accepted_bases(plan)?,
        })
    }

    /// Compares it with where the branch is now.
    ///
    /// # Errors
    /// When git fails.
    pub(crate) fn judge(self, repository: &Repository) -> Result<PlanBase, RunnerError> {
        let found = repository.branch_head(&self.branch)?;
        let recorded = self.recorded.as_ref().unwrap_or(&self.begin);
        let holds = match &found {
            Some(head) => {
                self.accepted.iter().any(|commit| commit == head.as_str())
                    || repository.is_merged(recorded, head)?
            }
            None => false,
        };
        let sight = BaseSight {
            begin: self.begin.as_str(),
            recorded: self.recorded.as_ref().map(CommitId::as_str),
            found: found.as_ref().map(CommitId::as_str),
            holds,
        };
        Ok(match (judge_base(sight), found) {
            (BaseStanding::Intact, Some(head)) => PlanBase::At(head),
            (BaseStanding::Unbegun, _) => PlanBase::Unbegun(self.begin),
            (_, found) => PlanBase::Lost(LostBase {
                branch: self.branch.to_string(),
                recorded: recorded.to_string(),
                found: found.as_ref().map(ToString::to_string),
            }),
        })
    }
}

/// Returns where the base of a plan is.
///
/// # Errors
/// When git or the database fails.
pub(crate) fn look_at_base(
    store: &Store,
    repository: &Repository,
    plan: &PlanId,
    target: &PlanTarget,
) -> Result<PlanBase, RunnerError> {
    BaseRecord::load(store, plan, target)?.judge(repository)
}

/// Records where the base of a plan was left. If another phase was merged on top of it meanwhile, that record stays.
///
/// # Errors
/// When git or the database fails.
pub(crate) fn record_base(
    store: &mut Store,
    repository: &Repository,
    plan: &PlanId,
    head: &CommitId,
) -> Result<(), RunnerError> {
    let context = Context::system(Timestamp::now());
    for _ in 0..TRIES_MAX {
        // Compare and set: two phases that end at the same moment must not overwrite each other's record. If the record
        // fell back, a later loss of the other phase's merge would go unnoticed.
        let seen = store.plan_base_head(plan)?;
        if let Some(seen) = seen.as_deref().and_then(|seen| CommitId::parse(seen).ok())
            && seen != *head
            && repository.is_merged(head, &seen)?
        {
            return Ok(());
        }
        if store.record_plan_base(&context, plan, seen.as_deref(), head.as_str())? {
            return Ok(());
        }
    }
    Err(PlanRunRefusal::BaseKeepsMoving {
        plan: plan.clone(),
        tries: TRIES_MAX,
    }
    .into())
}

/// Tells a person what the base of a plan lost, while its phases are running.
///
/// # Errors
/// When the database fails.
pub(crate) fn tell_lost_base(
    store: &mut Store,
    plan: &PlanId,
    project: &ProjectId,
    lost: &LostBase,
) -> Result<(), RunnerError> {
    let notice = BaseNotice::of_lost_base(plan, project, lost);
    store.note_base(&Context::system(Timestamp::now()), &notice)?;
    Ok(())
}

/// Tells a person what the base of a plan lost, and stops a plan that would be reviewed without it.
///
/// # Errors
/// When the database fails.
pub(crate) fn stop_for_lost_base(
    store: &mut Store,
    record: &PlanRecord,
    lost: &LostBase,
) -> Result<(), RunnerError> {
    let notice = BaseNotice::of_lost_base(&record.id, &record.project, lost);
    let context = Context::system(Timestamp::now());
    Ok(store.stop_for_lost_base(&context, &record.id, &notice)?)
}
