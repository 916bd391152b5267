//! What a simulated tick does to its machine; each step may be the last one.

use std::collections::BTreeSet;

use symphony_core::Timestamp;
use symphony_core::config::ProjectConfig;
use symphony_core::id::{IssueId, RunId};
use symphony_core::run::Run;
use symphony_core::tick::{LeftoverOwner, LockState};
use symphony_core::watchdog::{Stuck, Suspicion, Watch};
use symphony_runner::RunnerError;
use symphony_runner::supervise::SuperviseMode;
use symphony_runner::tick::{Effects, UnfinishedRun};
use symphony_store::{Context, Project, Store};

use super::machine::Machine;

/// What ends a tick in the middle.
#[derive(Debug)]
pub(super) struct Crash;

/// What goes wrong in one tick.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct TickFaults {
    /// After how many looks, moves and writes its process dies.
    pub(super) crash_after: Option<u32>,
    /// How many supervisors cannot be started.
    pub(super) failing_starts: u32,
    /// How many locks cannot be made, since the disk is full.
    pub(super) failing_locks: u32,
    /// Whether removing worktrees fails.
    pub(super) failing_removals: bool,
}

/// What a simulated tick does to its machine.
#[derive(Debug)]
pub(super) struct SimulatedEffects<'a> {
    pub(super) machine: &'a mut Machine,
    pub(super) faults: TickFaults,
    /// Locks that this tick has.
    pub(super) taken: BTreeSet<RunId>,
}

impl SimulatedEffects<'_> {
    /// A moment at which the process may die.
    fn moment(&mut self) {
        if let Some(left) = &mut self.faults.crash_after {
            if *left == 0 {
                std::panic::resume_unwind(Box::new(Crash));
            }
            *left -= 1;
        }
    }
}

fn disk_full(what: &'static str) -> RunnerError {
    RunnerError::Io {
        action: what,
        path: "/simulated".into(),
        source: std::io::ErrorKind::StorageFull.into(),
    }
}

impl Effects for SimulatedEffects<'_> {
    type Lock = RunId;

    fn now(&mut self) -> Timestamp {
        self.moment();
        self.machine.now()
    }

    fn run_id(&mut self) -> RunId {
        RunId::parse(format!("r{}", self.machine.number())).unwrap()
    }

    fn lock_state(&mut self, _: &Project, run: &RunId) -> Result<LockState, RunnerError> {
        self.moment();
        Ok(if self.machine.locks.contains(run) {
            LockState::Held
        } else {
            LockState::Free
        })
    }

    fn lock(&mut self, _: &Project, run: &RunId) -> Result<RunId, RunnerError> {
        self.moment();
        if self.faults.failing_locks > 0 {
            self.faults.failing_locks -= 1;
            return Err(disk_full("make the run's folder"));
        }
        if !self.machine.locks.insert(run.clone()) {
            return Err(RunnerError::Refused {
                reason: format!("somebody has the lock of {run}"),
            });
        }
        self.taken.insert(run.clone());
        self.moment();
        Ok(run.clone())
    }

    fn give_up(&mut self, _: &Project, run: &RunId, lock: RunId) {
        self.moment();
        self.machine.note(format_args!("{run} was not claimed"));
        self.machine.count("claim refused");
        self.taken.remove(&lock);
        self.machine.locks.remove(&lock);
    }

    fn watch(
        &mut self,
        _: &Project,
        _: Option<&ProjectConfig>,
        run: &RunId,
    ) -> Result<Watch, RunnerError> {
        self.moment();
        Ok(self.machine.watch(run))
    }

    fn suspect(
        &mut self,
        _: &Project,
        run: &RunId,
        suspicion: &Suspicion,
    ) -> Result<bool, RunnerError> {
        self.moment();
        let before = self
            .machine
            .suspicions
            .insert(run.clone(), suspicion.clone());
        self.moment();
        Ok(before.as_ref() != Some(suspicion))
    }

    fn end_stuck(&mut self, _: &Project, run: &RunId, stuck: &Stuck) -> Result<bool, RunnerError> {
        self.moment();
        if !self.machine.is_still_stuck(run, stuck) {
            self.machine.count("went on since the look");
            return Ok(false);
        }
        // a person may have ended it since the tick looked
        if self.machine.locks.contains(run) {
            self.machine.end_stuck(run);
        }
        self.moment();
        Ok(true)
    }

    fn end_strays(&mut self, _project: &Project, run: &Run) -> Result<usize, RunnerError> {
        self.moment();
        let ended = usize::from(self.machine.strays.remove(&run.id));
        self.moment();
        Ok(ended)
    }

    fn start_supervisor(
        &mut self,
        _: &Project,
        run: &RunId,
        lock: RunId,
        mode: SuperviseMode,
    ) -> Result<(), RunnerError> {
        self.moment();
        if self.faults.failing_starts > 0 {
            self.faults.failing_starts -= 1;
            self.taken.remove(&lock);
            self.machine.locks.remove(&lock);
            return Err(disk_full("start the supervisor of"));
        }
        if mode == SuperviseMode::Finish {
            self.machine.count("crash finished");
        }
        self.taken.remove(&lock);
        self.machine.note(format_args!("started {run} ({mode:?})"));
        self.machine.record_start(run);
        self.machine.born.push((run.clone(), mode));
        self.moment();
        Ok(())
    }

    /// The simulated machine has no files.
    fn unfinished(&mut self, _: &Project) -> Result<Vec<UnfinishedRun>, RunnerError> {
        Ok(Vec::new())
    }

    fn tidy(&mut self, _: &Project, run: &RunId, _: LeftoverOwner) -> Result<(), RunnerError> {
        unreachable!("nothing is left of run {run}")
    }

    fn remove_worktree(
        &mut self,
        store: &mut Store,
        _: &Project,
        _: &ProjectConfig,
        issue: &IssueId,
    ) -> Result<String, RunnerError> {
        self.moment();
        if self.faults.failing_removals {
            return Err(disk_full("remove"));
        }
        let context = Context::system(self.now());
        store.record_worktree(&context, issue, false)?;
        self.moment();
        Ok(format!("{issue}: worktree removed"))
    }
}
