//! The effects of a tick on the machine: locks, supervisors, strays, worktrees. It also provides the time and new ids.

use std::time::Duration;

use symphony_core::Timestamp;
use symphony_core::config::ProjectConfig;
use symphony_core::id::{IssueId, RunId};
use symphony_core::placement::{Host, Lease};
use symphony_core::run::Run;
use symphony_core::tick::{LeftoverOwner, LockState};
use symphony_core::watchdog::{Step, Stuck, Suspicion, Watch};
use symphony_store::{Project, Store};
use symphony_workspace::SilentHubs;

use super::turn::Turn;
use crate::error::RunnerError;
use crate::gates::clear_left_checkout;
use crate::installation::Installation;
use crate::paths::RunPaths;
use crate::placement::saved::saved_work;
use crate::placement::{Placement, Queue, control_host, placement_of};
use crate::process::{DetachedSupervisor, RunLock, RunPlace, lock_state, sweep_marked, sweep_run};
use crate::supervise::{SuperviseMode, launch_supervisor};
use crate::upkeep::clean_up::clean_up;
use crate::upkeep::leftovers::{UnfinishedRun, unfinished_runs};
use crate::watchdog::{end_stuck, look_at_run, suspect};

/// By how much a process of a run may seem older than the run, since clocks are read one after the other.
const AGE_SLACK: Duration = Duration::from_secs(2);

/// Returns the checkout of a run, where its strays may still work; `None` for a run in the project's own folder, which
/// belongs to the user.
fn place_of(project: &Project, run: &Run, now: Timestamp) -> Option<RunPlace> {
    let worktree = project.root.join(run.worktree.as_ref()?);
    let worktree = worktree.canonicalize().ok()?;
    if project.root.canonicalize().ok()?.starts_with(&worktree) {
        return None;
    }
    let age = now
        .as_millisecond()
        .saturating_sub(run.started_at.as_millisecond());
    Some(RunPlace {
        worktree,
        age_max: Duration::from_millis(u64::try_from(age).ok()?) + AGE_SLACK,
    })
}

/// Ends every process that the dead supervisor of a run left, and returns how many there were.
pub(crate) fn end_strays_of(
    project: &Project,
    run: &Run,
    now: Timestamp,
) -> Result<usize, RunnerError> {
    let ended = match place_of(project, run, now) {
        Some(place) => sweep_run(&run.id, &place)?,
        None => sweep_marked(&run.id)?,
    };
    Ok(ended.count())
}

/// The effects of a tick on the machine. Everything else that a tick does is reading and writing the database.
pub trait Effects {
    /// The lock of a run, which is alive as long as someone holds it.
    type Lock;

    /// Returns the time.
    fn now(&mut self) -> Timestamp;

    /// Records that another action begins, each of which is a separate step.
    fn begin_action(&mut self) {}

    /// Returns a new id for a run.
    fn run_id(&mut self) -> RunId;

    /// Returns how long runs of other hosts live without a sign of life.
    fn lease(&self) -> Lease {
        Lease::default()
    }

    /// Returns the name by which this control has runs of other hosts.
    fn control(&self) -> Host {
        control_host()
    }

    /// Returns what gives out the runs of pools.
    fn placement(&self) -> &dyn Placement {
        &Queue
    }

    /// Returns the ref that has what the agent of a lost host had done when it was last saved; `None` when nothing was.
    ///
    /// # Errors
    /// When the hub does not answer.
    fn saved_work(
        &mut self,
        _project: &Project,
        _run: &Run,
    ) -> Result<Option<String>, RunnerError> {
        Ok(None)
    }

    /// Returns whether someone holds the lock of a run.
    ///
    /// # Errors
    /// When it cannot be checked.
    fn lock_state(&mut self, project: &Project, run: &RunId) -> Result<LockState, RunnerError>;

    /// Takes the lock of a run, and creates what it needs.
    ///
    /// # Errors
    /// When someone holds it, or it cannot be created.
    fn lock(&mut self, project: &Project, run: &RunId) -> Result<Self::Lock, RunnerError>;

    /// Releases the lock of a run that was not claimed, and removes what was created for it.
    fn give_up(&mut self, project: &Project, run: &RunId, lock: Self::Lock);

    /// Checks the supervisor that holds the lock of a run.
    ///
    /// # Errors
    /// When it cannot be checked.
    fn watch(
        &mut self,
        project: &Project,
        config: Option<&ProjectConfig>,
        run: &RunId,
    ) -> Result<Watch, RunnerError>;

    /// Keeps a suspicion for the next tick. Returns false when it was already kept.
    ///
    /// # Errors
    /// When it cannot be kept.
    fn suspect(
        &mut self,
        project: &Project,
        run: &RunId,
        suspicion: &Suspicion,
    ) -> Result<bool, RunnerError>;

    /// Kills the stuck supervisor of a run, and so frees its lock. Returns false when it has continued, or another one
    /// has replaced it.
    ///
    /// # Errors
    /// When it does not end.
    fn end_stuck(
        &mut self,
        project: &Project,
        run: &RunId,
        stuck: &Stuck,
    ) -> Result<bool, RunnerError>;

    /// Ends every process that a dead supervisor left, and returns how many there were. The caller must hold the lock.
    ///
    /// # Errors
    /// When a process could not be ended.
    fn end_strays(&mut self, project: &Project, run: &Run) -> Result<usize, RunnerError>;

    /// Starts a supervisor, and hands over the lock.
    ///
    /// # Errors
    /// When it cannot be started. Then the lock is free.
    fn start_supervisor(
        &mut self,
        project: &Project,
        run: &RunId,
        lock: Self::Lock,
        mode: SuperviseMode,
    ) -> Result<(), RunnerError>;

    /// Returns the runs of a project whose files have not been cleaned up yet.
    ///
    /// # Errors
    /// When they cannot be read.
    fn unfinished(&mut self, project: &Project) -> Result<Vec<UnfinishedRun>, RunnerError>;

    /// Cleans up the files of an ended run.
    ///
    /// # Errors
    /// When something cannot be removed.
    fn tidy(
        &mut self,
        project: &Project,
        run: &RunId,
        owner: LeftoverOwner,
    ) -> Result<(), RunnerError>;

    /// Removes the worktree of an ended issue, and returns a message about what was done.
    ///
    /// # Errors
    /// When it cannot be removed safely.
    fn remove_worktree(
        &mut self,
        store: &mut Store,
        project: &Project,
        config: &ProjectConfig,
        issue: &IssueId,
    ) -> Result<String, RunnerError>;
}

/// The effects of a tick on this machine.
#[derive(Debug)]
pub struct LocalEffects<'a> {
    installation: &'a Installation,
    supervisors: Vec<DetachedSupervisor>,
    turn: Option<&'a Turn>,
    placement: Box<dyn Placement>,
    hubs: SilentHubs,
}

impl<'a> LocalEffects<'a> {
    /// Returns the effects of an installation's ticks.
    pub fn new(installation: &'a Installation) -> Self {
        Self {
            installation,
            supervisors: Vec::new(),
            turn: None,
            placement: placement_of(installation),
            hubs: SilentHubs::default(),
        }
    }

    /// From now on, records each action as a step of a tick.
    pub(super) fn record_steps_in(&mut self, turn: &'a Turn) {
        self.turn = Some(turn);
    }

    /// From now on, leaves the hubs alone that have not answered this tick.
    pub(super) fn leave_alone(&mut self, hubs: SilentHubs) {
        self.hubs = hubs;
    }

    /// Takes the hubs back, with those that have not answered since.
    pub(super) fn left_alone(&mut self) -> SilentHubs {
        std::mem::take(&mut self.hubs)
    }

    /// Returns the supervisors that were started.
    pub fn into_supervisors(self) -> Vec<DetachedSupervisor> {
        self.supervisors
    }
}

impl Effects for LocalEffects<'_> {
    type Lock = RunLock;

    fn now(&mut self) -> Timestamp {
        Timestamp::now()
    }

    fn lease(&self) -> Lease {
        self.installation.lease()
    }

    fn placement(&self) -> &dyn Placement {
        self.placement.as_ref()
    }

    fn saved_work(&mut self, project: &Project, run: &Run) -> Result<Option<String>, RunnerError> {
        saved_work(self.installation, project, run, &mut self.hubs)
    }

    fn begin_action(&mut self) {
        if let Some(turn) = self.turn {
            turn.enter(Step::Act);
        }
    }

    fn run_id(&mut self) -> RunId {
        RunId::parse(uuid::Uuid::now_v7().to_string()).expect("a UUID is a run id")
    }

    fn lock_state(&mut self, project: &Project, run: &RunId) -> Result<LockState, RunnerError> {
        Ok(lock_state(&RunPaths::new(&project.root, run).lock())?)
    }

    fn lock(&mut self, project: &Project, run: &RunId) -> Result<RunLock, RunnerError> {
        let paths = RunPaths::new(&project.root, run);
        paths.create()?;
        Ok(RunLock::acquire(paths.lock())?)
    }

    fn give_up(&mut self, project: &Project, run: &RunId, lock: RunLock) {
        // The claim was refused, so no run has this id, and no process waits for the lock. The folder is removed after
        // the lock is free; if this process dies in between, a later tick finds a folder without a run.
        drop(lock);
        if let Err(error) = self.tidy(project, run, LeftoverOwner::Unclaimed) {
            tracing::warn!(%error, "the next tick removes the folder of a run that was not claimed");
        }
    }

    fn watch(
        &mut self,
        project: &Project,
        config: Option<&ProjectConfig>,
        run: &RunId,
    ) -> Result<Watch, RunnerError> {
        let limits = self
            .installation
            .config
            .watchdog
            .limits_of_supervisor(config);
        look_at_run(&RunPaths::new(&project.root, run), &limits)
    }

    fn suspect(
        &mut self,
        project: &Project,
        run: &RunId,
        suspicion: &Suspicion,
    ) -> Result<bool, RunnerError> {
        suspect(&RunPaths::new(&project.root, run), suspicion)
    }

    fn end_stuck(
        &mut self,
        project: &Project,
        run: &RunId,
        stuck: &Stuck,
    ) -> Result<bool, RunnerError> {
        let ended = end_stuck(&RunPaths::new(&project.root, run), run, stuck)?;
        if let Some(ended) = &ended {
            tracing::warn!(%run, pids = ?ended.pids, left = ended.left.count(), "ended a supervisor");
        }
        Ok(ended.is_some())
    }

    fn end_strays(&mut self, project: &Project, run: &Run) -> Result<usize, RunnerError> {
        end_strays_of(project, run, self.now())
    }

    fn start_supervisor(
        &mut self,
        project: &Project,
        run: &RunId,
        lock: RunLock,
        mode: SuperviseMode,
    ) -> Result<(), RunnerError> {
        let supervisor = launch_supervisor(self.installation, project, run, lock, mode)?;
        self.supervisors.push(supervisor);
        Ok(())
    }

    fn unfinished(&mut self, project: &Project) -> Result<Vec<UnfinishedRun>, RunnerError> {
        unfinished_runs(project)
    }

    fn tidy(
        &mut self,
        project: &Project,
        run: &RunId,
        owner: LeftoverOwner,
    ) -> Result<(), RunnerError> {
        if owner == LeftoverOwner::Unclaimed {
            clear_left_checkout(self.installation, project, run)?;
        }
        RunPaths::new(&project.root, run).tidy(owner)
    }

    fn remove_worktree(
        &mut self,
        store: &mut Store,
        project: &Project,
        config: &ProjectConfig,
        issue: &IssueId,
    ) -> Result<String, RunnerError> {
        clean_up(store, project, config, issue)
    }
}
