//! Locks that a dead git left in a worktree. An agent that is killed while it commits leaves them, and every later
//! commit would fail.

use std::path::PathBuf;

use super::model::{Recovery, Worktree};
use crate::error::WorkspaceError;
use crate::git::{Cleared, clear_lock, locks_below, locks_in};
use crate::repository::BranchName;

/// Removes the locks of a worktree, its branch and its rescue refs whose git is dead.
///
/// # Errors
/// [`WorkspaceError::GitLocked`] while git is running there.
pub(crate) fn clear_stale_locks(
    worktree: &Worktree,
    recovered: &mut Vec<Recovery>,
) -> Result<(), WorkspaceError> {
    let place = worktree.place();
    // In the user's own checkout, locks belong to the user.
    if place.git_dir == place.common_dir {
        return Ok(());
    }
    for lock in locks_of(worktree) {
        if clear_lock(place, &lock)? == Cleared::Removed {
            recovered.push(Recovery::LockRemoved(lock));
        }
    }
    Ok(())
}

fn locks_of(worktree: &Worktree) -> Vec<PathBuf> {
    let place = worktree.place();
    let mut locks = locks_in(&place.git_dir);
    locks.extend(locks_below(&place.git_dir.join("refs")));
    let branch = worktree.branch().map(BranchName::reference);
    locks.extend(
        branch
            .map(|reference| place.common_dir.join(format!("{reference}.lock")))
            .filter(|lock| lock.exists()),
    );
    let rescues = format!("refs/symphony/rescue/{}", worktree.key().as_ref_part());
    locks.extend(locks_in(&place.common_dir.join(rescues)));
    locks
}
