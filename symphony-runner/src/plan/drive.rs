//! A plan, driven by the process that holds its lock.

use std::collections::BTreeSet;

use symphony_core::config::ProjectConfig;
use symphony_core::id::{PlanId, PlanPhaseId};
use symphony_core::plan::state::OnFailure;
use symphony_store::{Project, Store};

use super::conclude::{Conclusion, conclude_plan, remove_worktrees};
use super::lock::PlanLock;
use super::round::{PlanRound, plan_round};
use crate::error::RunnerError;
use crate::installation::Installation;
use crate::process::DetachedSupervisor;
use crate::tick::LocalHands;

/// Makes the rounds of one plan, for as long as it has the plan's lock.
#[derive(Debug)]
pub struct PlanDrive<'a> {
    installation: &'a Installation,
    project: Project,
    config: ProjectConfig,
    hands: LocalHands<'a>,
    plan: PlanId,
    removed: BTreeSet<PlanPhaseId>,
    _lock: PlanLock,
}

impl<'a> PlanDrive<'a> {
    /// Takes the plan's lock; none when another process has it.
    ///
    /// # Errors
    /// When the lock can not be made, or the project's configuration is wrong.
    pub fn take(
        installation: &'a Installation,
        project: &Project,
        plan: &PlanId,
    ) -> Result<Option<Self>, RunnerError> {
        let Some(lock) = PlanLock::take(project, plan)? else {
            return Ok(None);
        };
        Ok(Some(Self {
            installation,
            config: installation.project_config(project)?,
            project: project.clone(),
            hands: LocalHands::new(installation),
            plan: plan.clone(),
            removed: BTreeSet::new(),
            _lock: lock,
        }))
    }

    /// Returns the plan's id.
    pub const fn plan(&self) -> &PlanId {
        &self.plan
    }

    /// Returns the plan's project.
    pub const fn project(&self) -> &Project {
        &self.project
    }

    /// Returns the supervisors that were started.
    pub fn into_supervisors(self) -> Vec<DetachedSupervisor> {
        self.hands.into_supervisors()
    }

    /// Makes one round, then removes the worktrees of phases that are complete.
    ///
    /// # Errors
    /// When the database can not be read or written, or the repository not be opened.
    pub fn round(
        &mut self,
        store: &mut Store,
        on_failure: Option<OnFailure>,
    ) -> Result<PlanRound, RunnerError> {
        let mut round = plan_round(
            self.installation,
            store,
            &mut self.hands,
            &self.plan,
            on_failure,
        )?;
        let (record, removed) = (&round.record, &mut self.removed);
        let problems = remove_worktrees(&self.project, &self.config, record, removed)?;
        round.problems.extend(problems);
        Ok(round)
    }

    /// Gives the user's branch the work of the plan, if it has completed and nothing stands in the way. Worktrees that the
    /// plan's last round did not come to remove go first.
    ///
    /// # Errors
    /// When git or the database fails.
    pub fn conclude(&mut self, store: &mut Store) -> Result<Conclusion, RunnerError> {
        let record = store.plan(&self.plan)?;
        let removed = &mut self.removed;
        for problem in remove_worktrees(&self.project, &self.config, &record, removed)? {
            tracing::warn!("{problem}");
        }
        conclude_plan(store, &self.project, &self.config, &self.plan)
    }
}
