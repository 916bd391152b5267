//! The process that drives a plan: it holds the plan's lock.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use symphony_core::config::ProjectConfig;
use symphony_core::id::{PlanId, PlanPhaseId};
use symphony_core::plan::state::OnFailure;
use symphony_store::{Project, Store};

use super::conclude::{Conclusion, conclude_plan, remove_worktrees};
use super::lock::PlanLock;
use super::round::{PlanRound, plan_round};
use super::state_file::write_state_file;
use crate::error::RunnerError;
use crate::installation::Installation;
use crate::process::DetachedSupervisor;
use crate::tick::LocalEffects;

/// How long to wait for a tick's round: it waits for no agent.
const TICK_WAIT_MAX: Duration = Duration::from_secs(5);
/// Polling interval.
const TICK_LOOK: Duration = Duration::from_millis(50);

/// Makes the rounds of one plan while it holds the plan's lock.
#[derive(Debug)]
pub struct PlanDrive<'a> {
    /// As it was last loaded: a changed limit takes effect in the next round.
    installation: Installation,
    project: Project,
    config: ProjectConfig,
    effects: LocalEffects<'a>,
    plan: PlanId,
    removed: BTreeSet<PlanPhaseId>,
    /// The revision that the state file shows.
    shown: Option<u64>,
    _lock: PlanLock,
}

impl<'a> PlanDrive<'a> {
    /// Takes the plan's lock; `None` if another process has it.
    ///
    /// # Errors
    /// When the lock cannot be created, or the project's configuration is wrong.
    pub fn take(
        installation: &'a Installation,
        project: &Project,
        plan: &PlanId,
    ) -> Result<Option<Self>, RunnerError> {
        let Some(lock) = PlanLock::take(project, plan)? else {
            return Ok(None);
        };
        Ok(Some(Self {
            installation: installation.clone(),
            config: installation.project_config(project)?,
            project: project.clone(),
            effects: LocalEffects::new(installation),
            plan: plan.clone(),
            removed: BTreeSet::new(),
            shown: None,
            _lock: lock,
        }))
    }

    /// Takes the plan's lock. If ticks drive plans too, it waits for one that is in the middle of a round.
    ///
    /// # Errors
    /// As [`Self::take`]; `PlanBusy` when another process keeps the lock.
    pub(super) fn take_or_wait(
        installation: &'a Installation,
        project: &Project,
        plan: &PlanId,
    ) -> Result<Self, RunnerError> {
        let by_tick = installation.project_config(project)?.plan.by_tick;
        let begun = Instant::now();
        loop {
            if let Some(drive) = Self::take(installation, project, plan)? {
                return Ok(drive);
            }
            if !by_tick || begun.elapsed() > TICK_WAIT_MAX {
                return Err(RunnerError::PlanBusy { plan: plan.clone() });
            }
            std::thread::sleep(TICK_LOOK);
        }
    }

    /// Returns the plan's id.
    pub const fn plan(&self) -> &PlanId {
        &self.plan
    }

    /// Returns the installation, as it was last loaded.
    pub const fn installation(&self) -> &Installation {
        &self.installation
    }

    /// Returns the plan's project.
    pub const fn project(&self) -> &Project {
        &self.project
    }

    /// Returns the supervisors that were started.
    pub fn into_supervisors(self) -> Vec<DetachedSupervisor> {
        self.effects.into_supervisors()
    }

    /// Makes one round with the current configuration, writes the state file, then removes the worktrees of complete
    /// phases.
    ///
    /// # Errors
    /// When the database cannot be read or written, or the repository not be opened.
    pub fn round(
        &mut self,
        store: &mut Store,
        on_failure: Option<OnFailure>,
    ) -> Result<PlanRound, RunnerError> {
        let stale = self.reload().err();
        let mut round = plan_round(
            &self.installation,
            store,
            &mut self.effects,
            &self.plan,
            on_failure,
        )?;
        round.problems.extend(
            stale.map(|error| format!("the previous configuration stays in effect: {error}")),
        );
        self.show(store, round.record.revision)?;
        let (record, removed) = (&round.record, &mut self.removed);
        let problems = remove_worktrees(store, &self.project, &self.config, record, removed)?;
        round.problems.extend(problems);
        Ok(round)
    }

    /// Writes the state file unless it shows this revision: whoever changed the plan may have died before writing it.
    fn show(&mut self, store: &mut Store, revision: u64) -> Result<(), RunnerError> {
        if self.shown != Some(revision) {
            write_state_file(store, &self.project, &self.plan)?;
            self.shown = Some(revision);
        }
        Ok(())
    }

    fn reload(&mut self) -> Result<(), RunnerError> {
        let installation = self.installation.reloaded()?;
        self.config = installation.project_config(&self.project)?;
        self.installation = installation;
        Ok(())
    }

    /// Opens the pull request of the plan's work when every phase is complete, and cleans up after one that was merged.
    /// First it removes the worktrees that the plan's last round did not get to.
    ///
    /// # Errors
    /// When git or the database fails.
    pub fn conclude(&mut self, store: &mut Store) -> Result<Conclusion, RunnerError> {
        let record = store.plan(&self.plan)?;
        self.show(store, record.revision)?;
        let removed = &mut self.removed;
        for problem in remove_worktrees(store, &self.project, &self.config, &record, removed)? {
            tracing::warn!("{problem}");
        }
        let conclusion = conclude_plan(store, &self.project, &self.config, &self.plan)?;
        self.show(store, store.plan_revision(&self.plan)?)?;
        Ok(conclusion)
    }
}
