//! Files of runs: an empty folder belongs to a run that is about to be claimed, prompts to a live run (F2).

use symphony_core::Timestamp;
use symphony_core::config::ProjectConfig;
use symphony_core::id::RunId;
use symphony_core::invariant::{Invariant, Violation};
use symphony_core::tick::{Leftover, LeftoverOwner, is_over};
use symphony_store::{Project, Store};

use super::secrets::children;
use crate::error::RunnerError;
use crate::paths::{RunPaths, runs_folder};
use crate::process::lock_state;
use crate::upkeep::leftovers::{UnfinishedRun, changed, whose};

pub(super) fn check(
    store: &Store,
    project: &Project,
    config: &ProjectConfig,
    now: Timestamp,
    found: &mut Vec<Violation>,
) -> Result<(), RunnerError> {
    let mut folders = Vec::new();
    for folder in children(&runs_folder(&project.root))? {
        let name = folder.file_name().and_then(|name| name.to_str());
        let Some(run) = name.and_then(|name| RunId::parse(name).ok()) else {
            continue;
        };
        let paths = RunPaths::new(&project.root, &run);
        // Gone meanwhile.
        let Some(since) = changed(&folder) else {
            continue;
        };
        let lock = lock_state(&paths.lock())?;
        folders.push(UnfinishedRun { run, lock, since });
    }
    for leftover in whose(store, project, Some(config), folders)? {
        let paths = RunPaths::new(&project.root, &leftover.run);
        if is_over(&leftover, now)
            && let Some(detail) = problem(&leftover, &paths)?
        {
            let subject = paths.dir.display().to_string();
            found.push(Violation::new(Invariant::F2, subject, detail));
        }
    }
    Ok(())
}

fn problem(leftover: &Leftover, paths: &RunPaths) -> Result<Option<String>, RunnerError> {
    Ok(match leftover.owner {
        LeftoverOwner::Kept => None,
        LeftoverOwner::Ended => paths
            .prompts()
            .iter()
            .find(|path| path.exists())
            .and_then(|path| path.file_name())
            .map(|name| {
                let name = name.display();
                format!("its run has ended, but its {name} still exists: remove it if `symphony tick` does not")
            }),
        LeftoverOwner::Unclaimed => {
            // A folder with logs belongs to a run that an older copy of the database does not know: retention removes
            // it.
            let is_empty = children(&paths.dir)?.iter().all(|path| *path == paths.lock());
            is_empty.then(|| {
                "it belongs to no run and is empty: remove it if `symphony tick` does not".to_owned()
            })
        }
    })
}
