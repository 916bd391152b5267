//! Supervisors whose run is not this host's any more. Each finds that out with its next beat and ends; one that is stopped cannot, and its
//! agent would go on until someone ends it.

use std::time::{Duration, Instant};

use symphony_core::Timestamp;
use symphony_core::id::{ProjectId, RunId};
use symphony_core::placement::END_MS_MAX;
use symphony_core::run::Run;
use symphony_core::tick::LockState;
use symphony_store::{Project, Store, StoreError};

use super::model::WorkerNews;
use super::round::Round;
use crate::error::RunnerError;
use crate::paths::RunPaths;
use crate::process::{RunLock, end_supervisors};
use crate::tick::end_strays_of;
use crate::upkeep::leftovers::{left_files, unfinished_runs};

/// Time between two looks at all clones of this host.
const LOOK: Duration = Duration::from_secs(5);

impl Round<'_> {
    /// Ends the supervisors of runs that are not this host's, and tidies the files of runs that are over. `own` are its live runs.
    pub(super) fn end_zombies(&mut self, store: &Store, own: &[Run]) -> Vec<WorkerNews> {
        let mut news = Vec::new();
        if self.looked.is_some_and(|looked| looked.elapsed() < LOOK) {
            return news;
        }
        self.looked = Some(Instant::now());
        for project in self.installation.cloned_projects() {
            match self.zombies_of(store, &project, own) {
                Ok(found) => news.extend(found),
                Err(error) => tracing::warn!(%error, %project, "not looked at"),
            }
        }
        news
    }

    fn zombies_of(
        &mut self,
        store: &Store,
        id: &ProjectId,
        own: &[Run],
    ) -> Result<Vec<WorkerNews>, RunnerError> {
        let mut news = Vec::new();
        let local = self.installation.localize(store, id)?;
        for left in unfinished_runs(&local.project)? {
            if own.iter().any(|run| run.id == left.run) {
                continue;
            }
            let run = match store.run(&left.run) {
                Ok(run) => run,
                Err(StoreError::NotFound { .. }) => continue,
                Err(error) => return Err(error.into()),
            };
            // Another pool's worker of this host looks after it, or it was taken a moment ago.
            if run.status.is_live() && run.host.as_ref() == Some(self.host) {
                continue;
            }
            if left.lock == LockState::Held {
                if self.is_overdue(&run.id) && end_zombie(&local.project, &run)? {
                    news.push(WorkerNews::EndedZombie { run: run.id });
                }
            } else {
                self.zombies.remove(&run.id);
                let config = local.installation.project_config(&local.project)?;
                RunPaths::new(&local.project.root, &run.id).tidy(left_files(&config))?;
            }
        }
        Ok(news)
    }

    /// Returns whether a supervisor has had the time that it needs to find out by itself, and to end.
    fn is_overdue(&mut self, run: &RunId) -> bool {
        let limit = self
            .installation
            .lease()
            .fence_ms()
            .saturating_add(END_MS_MAX);
        let since = self.zombies.entry(run.clone()).or_insert_with(Instant::now);
        since.elapsed() >= Duration::from_millis(limit)
    }
}

/// Ends a supervisor and all that it started; returns whether it was there.
fn end_zombie(project: &Project, run: &Run) -> Result<bool, RunnerError> {
    let lock = RunPaths::new(&project.root, &run.id).lock();
    let ended = end_supervisors(&run.id, &lock)?;
    // Held meanwhile, so that nothing else starts there.
    let _lock = RunLock::acquire(&lock)?;
    end_strays_of(project, run, Timestamp::now())?;
    Ok(!ended.pids.is_empty())
}
