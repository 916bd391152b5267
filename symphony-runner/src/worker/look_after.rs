//! What a worker does for the runs that its host has begun, as a tick does for those of the control.

use symphony_core::run::Run;
use symphony_core::tick::LockState;
use symphony_core::watchdog::Watch;
use symphony_store::{Project, SignsOfLife, Store};

use super::local::LocalProject;
use super::model::{Looked, WorkerNews};
use super::put_off::is_put_off;
use super::refusal::WorkerRefusal;
use super::round::Round;
use crate::error::RunnerError;
use crate::installation::Installation;
use crate::paths::{RunPaths, write_private};
use crate::process::{ProcessError, RunLock, lock_state};
use crate::supervise::{SuperviseMode, launch_supervisor};
use crate::watchdog::{end_stuck, finish_dead, look_at_run, suspect};

impl Round<'_> {
    /// Starts the supervisor of a run that was just taken.
    pub(super) fn start(&mut self, store: &Store, run: &Run) -> Result<(), RunnerError> {
        let local = self.installation.localize(store, &run.project)?;
        // Its supervisor could not even say what is wrong with it.
        local.installation.project_config(&local.project)?;
        self.launch(&local.installation, &local.project, run, SuperviseMode::Run)
    }

    /// Looks at a live run of this host: its supervisor may have died, or be stuck, or this worker died before it started one.
    pub(super) fn look_after(
        &mut self,
        store: &mut Store,
        run: &Run,
    ) -> Result<Looked, RunnerError> {
        let root = self.installation.require_clone_of(&run.project)?;
        let paths = RunPaths::new(&root, &run.id);
        let lock = lock_state(&paths.lock())?;
        if lock == LockState::Free
            // Someone who asked for its end does not wait for the next try.
            && run.cancel_requested_at.is_none()
            && is_put_off(store, run)?
        {
            // Before anything that can fail: meanwhile no one else gives its signs of life.
            self.beat_for(store, run)?;
            return Ok(Looked::Waits);
        }
        let local = match self.readable(store, run, lock) {
            Ok(local) => local,
            Err(error) => return self.without_project(store, run, lock, error),
        };
        let (installation, project) = (&local.installation, &local.project);
        match lock {
            LockState::Held => {
                pass_on_request(run, &paths)?;
                watch_over(installation, project, run, &paths)
            }
            // It ended after this round had asked for the runs of its host: its supervisor records that before it lets the lock go.
            _ if !store.run(&run.id)?.status.is_live() => Ok(Looked::Fine),
            // It could not be started when it was begun.
            _ if self.is_unlaunched(run) => self.start_again(installation, project, run),
            LockState::Missing => match store.signs_of_life(&run.id, self.installation.lease())? {
                // Another folder has what it did: there may still be a supervisor, and here there is nothing to finish.
                SignsOfLife::Seen => Err(WorkerRefusal::InAnotherFolder.into()),
                SignsOfLife::Awaited => Ok(Looked::Fine),
                // No one has worked on it: the worker before this one died after it had taken the run.
                SignsOfLife::Never => {
                    let lease = self.installation.lease();
                    let Some(raised) = store.begin_again(&run.id, run.fence, lease)? else {
                        return Ok(Looked::Fine);
                    };
                    self.unlaunched.insert(run.id.clone(), raised);
                    self.start_again(installation, project, run)
                }
            },
            LockState::Free => match finish_dead(installation, project, run)? {
                Some(supervisor) => {
                    self.supervisors.push(supervisor);
                    Ok(finishing(run))
                }
                None => Ok(Looked::Fine),
            },
        }
    }

    /// Returns the project of a run, with a configuration that a supervisor which is to be started can read.
    fn readable(
        &self,
        store: &Store,
        run: &Run,
        lock: LockState,
    ) -> Result<LocalProject, RunnerError> {
        let local = self.installation.localize(store, &run.project)?;
        if lock != LockState::Held {
            local.installation.project_config(&local.project)?;
        }
        Ok(local)
    }

    /// Does what is left for a run whose project this worker cannot read now.
    fn without_project(
        &mut self,
        store: &mut Store,
        run: &Run,
        lock: LockState,
        error: RunnerError,
    ) -> Result<Looked, RunnerError> {
        // One that the database does not say is another matter.
        let is_over = lock == LockState::Free
            && !matches!(error, RunnerError::Store(_))
            && !self.is_unlaunched(run)
            && store.run(&run.id)?.status.is_live();
        if is_over && self.put_off(store, run, error.with_causes())? {
            return Ok(Looked::Waits);
        }
        Err(error)
    }

    fn start_again(
        &mut self,
        installation: &Installation,
        project: &Project,
        run: &Run,
    ) -> Result<Looked, RunnerError> {
        self.launch(installation, project, run, SuperviseMode::Run)?;
        Ok(Looked::Did(WorkerNews::StartedAgain {
            run: run.id.clone(),
        }))
    }

    fn launch(
        &mut self,
        installation: &Installation,
        project: &Project,
        run: &Run,
        mode: SuperviseMode,
    ) -> Result<(), RunnerError> {
        let paths = RunPaths::new(&project.root, &run.id);
        paths.create()?;
        let lock = match RunLock::acquire(paths.lock()) {
            Ok(lock) => lock,
            // Another worker of this host is faster.
            Err(ProcessError::LockHeld { .. }) => {
                self.unlaunched.remove(&run.id);
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        };
        let supervisor = launch_supervisor(installation, project, &run.id, lock, mode)?;
        self.supervisors.push(supervisor);
        self.unlaunched.remove(&run.id);
        Ok(())
    }
}

fn finishing(run: &Run) -> Looked {
    Looked::Did(WorkerNews::Finishing {
        run: run.id.clone(),
    })
}

/// Passes on that someone asked for the end of a run: this round's question has brought it back, and the run's next beat may be 20 s away.
fn pass_on_request(run: &Run, paths: &RunPaths) -> Result<(), RunnerError> {
    let path = paths.asked_to_end();
    if run.cancel_requested_at.is_none() || path.exists() {
        return Ok(());
    }
    write_private(&path, "")
}

/// Ends a supervisor that makes no progress. Its lock is free then, and the next round does the exit handling.
fn watch_over(
    installation: &Installation,
    project: &Project,
    run: &Run,
    paths: &RunPaths,
) -> Result<Looked, RunnerError> {
    let config = installation.project_config(project).ok();
    let limits = installation
        .config
        .watchdog
        .limits_of_supervisor(config.as_ref());
    match look_at_run(paths, &limits)? {
        Watch::Suspect(suspicion) => {
            suspect(paths, &suspicion)?;
        }
        Watch::Stuck(stuck) => {
            end_stuck(paths, &run.id, &stuck)?;
        }
        Watch::InTime => {}
    }
    Ok(Looked::Fine)
}
