//! What a worker does once a day for the clones of its host: logs and sessions that are no longer kept are removed, and git packs what has
//! gathered. No tick sees these clones, and no person works in them.
//!
//! In a large clone it takes minutes. What it leaves undone, the next one does.

use std::path::Path;
use std::time::Duration;

use symphony_core::Timestamp;
use symphony_core::id::ProjectId;
use symphony_store::Store;
use symphony_workspace::{Repository, RepositoryOptions, WorkspaceError};

use super::chore::Chore;
use super::local::LocalProject;
use crate::error::RunnerError;
use crate::installation::Installation;
use crate::repository::options;
use crate::upkeep::retention::remove_old;

/// Time from the start of a worker to the first upkeep: runs come first.
const FIRST: Duration = Duration::from_mins(2);
/// Time between two.
const PAUSE: Duration = Duration::from_hours(24);
/// Time after which one that could not begin is tried again.
const PAUSE_AFTER_FAILURE: Duration = Duration::from_hours(1);
/// How far the upkeep steps back behind runs where processors are short.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 10;

/// How an upkeep ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ended {
    /// All clones were looked after, as far as that was possible.
    Done,
    /// No clone was.
    Failed,
}

/// The upkeep of a host's clones.
///
/// Another worker of the host, which serves another pool, may do the same at the same moment. It finds less to remove, and its git does
/// nothing while the other one packs.
#[derive(Debug)]
pub(super) struct Upkeep(Chore<Ended>);

impl Upkeep {
    pub(super) fn new(installation: &Installation) -> Self {
        Self(Chore::new("upkeep", installation.shorter_in_tests(FIRST)))
    }

    /// Begins the upkeep if it is due and the last one is over. It waits for nothing.
    pub(super) fn look(&mut self, installation: &Installation) {
        if let Some(ended) = self.0.ended(|| Ended::Failed) {
            self.put_off(installation, ended);
        }
        if !self.0.is_due() {
            return;
        }
        let own = installation.clone();
        let begun = self.0.begin(move || {
            step_back();
            look_after_clones(&own)
        });
        if let Err(error) = begun {
            tracing::warn!(%error, "the upkeep of this host's clones waits: a thread cannot be started");
            self.put_off(installation, Ended::Failed);
        }
    }

    fn put_off(&mut self, installation: &Installation, ended: Ended) {
        self.0
            .put_off(installation.shorter_in_tests(pause_after(ended)));
    }
}

/// Returns the time until the next upkeep.
const fn pause_after(ended: Ended) -> Duration {
    match ended {
        Ended::Done => PAUSE,
        Ended::Failed => PAUSE_AFTER_FAILURE,
    }
}

/// Lets runs have the processors first. On Linux this is a matter of the thread, and git, which it starts, inherits it.
#[cfg(target_os = "linux")]
fn step_back() {
    if let Err(error) = rustix::process::setpriority_process(None, NICENESS) {
        tracing::debug!(%error, "the upkeep has the priority of the worker");
    }
}

/// Elsewhere it is a matter of the whole worker, which does not step back.
#[cfg(not(target_os = "linux"))]
fn step_back() {}

/// Does the upkeep of all clones. Each problem is reported, and the next project is looked after all the same.
fn look_after_clones(installation: &Installation) -> Ended {
    let store = match installation.worker_store() {
        Ok(store) => store,
        Err(error) => {
            let error = error.with_causes();
            tracing::warn!(%error, "the upkeep of this host's clones waits for the database");
            return Ended::Failed;
        }
    };
    // What is old goes from all clones first: on a full disk git has no room to pack.
    let mut clones = Vec::new();
    for project in installation.cloned_projects() {
        match remove_old_of(installation, &store, &project) {
            Ok(local) => clones.push(local),
            Err(error) => report(&project, &error.with_causes()),
        }
    }
    // Git may take long, and a server has few connections.
    drop(store);
    for local in clones {
        if let Err(error) = pack(&local) {
            let clone = local.project.root.display();
            let problem = format!("pack the clone {clone}: {}", error.with_causes());
            report(&local.project.id, &problem);
        }
    }
    Ended::Done
}

fn report(project: &ProjectId, problem: &str) {
    tracing::warn!(%project, %problem, "the upkeep of its clone is not complete");
}

/// Removes what is no longer kept of a project, and returns the project as this worker has it.
fn remove_old_of(
    installation: &Installation,
    store: &Store,
    id: &ProjectId,
) -> Result<LocalProject, RunnerError> {
    let local = installation.localize(store, id)?;
    let days = installation.config.log_retention_days;
    // Nothing waits for it, so all are removed at once.
    match remove_old(store, &local.project, days, Timestamp::now(), usize::MAX) {
        Ok(removed) => {
            if removed.runs > 0 {
                tracing::info!(project = %id, runs = removed.runs, "removed the logs of old runs");
            }
            for problem in &removed.problems {
                report(id, problem);
            }
        }
        Err(error) => report(id, &error.with_causes()),
    }
    Ok(local)
}

/// Lets git pack a project's clone if much has gathered there.
fn pack(local: &LocalProject) -> Result<(), RunnerError> {
    let config = local.installation.project_config(&local.project)?;
    pack_clone(&local.project.root, options(&config))
}

fn pack_clone(root: &Path, options: RepositoryOptions) -> Result<(), RunnerError> {
    if !root.join(".git/HEAD").exists() {
        // Nothing was ever fetched.
        return Ok(());
    }
    let repository = match Repository::open(root, options) {
        Ok(repository) => repository,
        Err(WorkspaceError::NoCommits { .. }) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let own = root
        .canonicalize()
        .map_err(|error| RunnerError::io("find the folder", root, error))?;
    // Where a clone's git folder is damaged, git takes the next repository above it.
    if repository.root() != own {
        return Err(RunnerError::refused(format!(
            "its git folder is damaged; the repository above it, {}, is someone else's",
            repository.root().display()
        )));
    }
    Ok(repository.pack()?)
}

#[cfg(test)]
mod tests {
    use symphony_core::id::RunId;
    use symphony_core::retry::after;
    use symphony_store::{Context, NewProject, Project};

    use super::*;
    use crate::paths::RunPaths;
    use crate::process::RunLock;

    const DAY_MS: u64 = 24 * 60 * 60 * 1000;

    fn with_project(root: &Path) -> (Store, Project) {
        let mut store = Store::open_in_memory().unwrap();
        let new = NewProject {
            id: ProjectId::parse("demo").unwrap(),
            name: "Demo".to_owned(),
            root: root.to_owned(),
            prefix: "DEM".to_owned(),
        };
        let context = Context::system(Timestamp::now());
        let project = store.add_project(&context, &new).unwrap();
        (store, project)
    }

    #[test]
    fn the_folder_of_an_old_run_goes_and_that_of_a_supervisor_at_work_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (store, project) = with_project(folder.path());
        let [first, second, at_work] = ["first", "second", "at-work"].map(|name| {
            let paths = RunPaths::new(folder.path(), &RunId::parse(name).unwrap());
            paths.create().unwrap();
            paths
        });
        let _lock = RunLock::acquire(at_work.lock()).unwrap();
        let removed = |days, max| {
            let now = after(Timestamp::now(), 31 * DAY_MS);
            let removed = remove_old(&store, &project, days, now, max).unwrap();
            assert!(removed.problems.is_empty(), "{removed:?}");
            (removed.runs, removed.is_done)
        };
        assert_eq!(removed(40, usize::MAX), (0, true));
        assert_eq!(removed(30, 1), (1, false));
        assert_eq!(removed(30, usize::MAX), (1, true));
        assert!(!first.dir.exists() && !second.dir.exists());
        assert!(at_work.dir.exists());
    }

    #[test]
    fn a_clone_is_packed_only_if_it_is_one() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("above/demo");
        std::fs::create_dir_all(own.join(".git")).unwrap();
        let packed = || pack_clone(&own, RepositoryOptions::default());
        packed().unwrap();
        std::fs::write(own.join(".git/HEAD"), "").unwrap();
        let broken = packed().unwrap_err().to_string();
        assert!(broken.contains("no git repository was found"), "{broken}");
    }

    #[test]
    fn an_upkeep_that_could_not_begin_does_not_wait_for_the_next_day() {
        assert_eq!(pause_after(Ended::Done), Duration::from_hours(24));
        assert_eq!(pause_after(Ended::Failed), Duration::from_hours(1));
    }
}
