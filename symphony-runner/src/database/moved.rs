//! Finds a repository that was moved by its marker.

use std::path::Path;

use symphony_core::Timestamp;
use symphony_core::id::ProjectId;
use symphony_core::listing::list_few;
use symphony_store::{Context, Store};
use symphony_workspace::Repository;

use super::locks::held_runs;
use super::marker::adopt;
use crate::error::RunnerError;
use crate::installation::Installation;
use crate::repository::options;

/// Most runs that a refusal names; the rest is counted.
const NAMES_MAX: usize = 3;

/// Records the new folder of a project, and repairs the links between its worktrees and its repository.
pub(super) fn follow_move(
    installation: &Installation,
    store: &mut Store,
    project: &ProjectId,
    from: &Path,
) -> Result<(), RunnerError> {
    let root = &installation.root;
    refuse_held(
        root,
        &format!(
            "project {project} was moved from {} to {}",
            from.display(),
            root.display()
        ),
    )?;
    store.move_project(&Context::system(Timestamp::now()), project, root)?;
    repair_worktrees(installation, root, from);
    adopt(installation, store, None, project, root)?;
    tracing::warn!(%project, from = %from.display(), to = %root.display(), "the project was moved: its new folder is recorded");
    Ok(())
}

/// Refuses while runs are active in a project's folder.
pub(super) fn refuse_held(root: &Path, what: &str) -> Result<(), RunnerError> {
    let held = held_runs(root)?;
    if held.is_empty() {
        return Ok(());
    }
    Err(RunnerError::refused(format!(
        "{what}, and runs are active there ({}): wait until they have ended, or end them",
        list_few(held.iter().map(String::as_str), NAMES_MAX)
    )))
}

/// Repairs the links of worktrees that were moved with their repository. The work in them is not touched; what cannot
/// be repaired now is repaired, or rescued, when the next run needs it.
pub(super) fn repair_worktrees(installation: &Installation, root: &Path, from: &Path) {
    let settings = installation
        .loaded()
        .project(None, root, None)
        .map(|checked| options(&checked.config))
        .unwrap_or_default();
    let repaired =
        Repository::open(root, settings).and_then(|repository| repository.follow_move(from));
    if let Err(error) = repaired {
        tracing::warn!(%error, "the worktrees were not repaired");
    }
}
