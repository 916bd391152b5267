//! Resets a branch to the head that a pull request recorded.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use symphony_core::Timestamp;

use super::operation;
use super::overwrite::overwrite;
use super::rescue_ref::RescueRef;
use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::failpoint::Failpoint;
use crate::git::fields;
use crate::repository::{Expect, Repository, move_ref, point_head, set_own_ref};
use crate::worktree::{Worktree, clear_stale_locks, is_start};

/// What a reset did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reset {
    /// Where later work was saved; `None` if there was none.
    pub rescue: Option<RescueRef>,
}

impl Repository {
    /// Resets a worktree and its branch to `recorded`. Later commits and everything uncommitted are saved to a rescue
    /// ref first. Idempotent after a crash.
    ///
    /// # Errors
    /// [`WorkspaceError::CommitMissing`] when the commit is not here; when the work cannot be saved,
    /// nothing was changed.
    pub fn reset_to(
        &self,
        worktree: &Worktree,
        recorded: &CommitId,
        now: Timestamp,
    ) -> Result<Reset, WorkspaceError> {
        self.require_commit(recorded)?;
        let mut recovered = Vec::new();
        clear_stale_locks(worktree, &mut recovered)?;
        let git = &worktree.git;
        let head = self.head(worktree)?;
        let branch_head = match worktree.branch() {
            Some(branch) => self.branch_head(branch)?,
            None => Some(head.clone()),
        };
        let mut rescue = self.rescue_around(worktree, now)?;
        let known = head == *recorded || is_start(worktree, &head)?;
        if !known && rescue.is_none() && !self.is_merged(&head, recorded)? {
            rescue = Some(self.keep(worktree.key(), &head, now)?);
        }
        if let Some(tip) = branch_head
            .as_ref()
            .filter(|tip| **tip != head && *tip != recorded)
            && !self.is_merged(tip, recorded)?
        {
            // The agent left the branch: both its tip and what is checked out are kept.
            let kept = self.keep(worktree.key(), tip, now)?;
            rescue.get_or_insert(kept);
        }
        // Everything is saved before the branch moves: from then on only the rescue ref has the later commits.
        Failpoint::ResetSaved.reach();
        move_branch(worktree, branch_head.as_ref(), recorded)?;
        Failpoint::ResetMoved.reach();
        operation::forget(git)?;
        overwrite(git, recorded)?;
        Failpoint::ResetOverwritten.reach();
        self.remove_saved_untracked(worktree)?;
        Ok(Reset { rescue })
    }

    /// Removes the untracked files, which are in the rescue ref. Copied and ignored files stay, and so does what the
    /// set-up left, which the next run needs.
    fn remove_saved_untracked(&self, worktree: &Worktree) -> Result<(), WorkspaceError> {
        let status = self.status(worktree)?;
        if status.untracked.is_empty() {
            return Ok(());
        }
        let mut command = worktree
            .git
            .command("clean")
            .args(["-f", "-d", "-q"])
            .slow();
        for path in self.kept_by_clean(worktree)? {
            command = command.arg("-e").arg(exclude_pattern(&path));
        }
        command.run()?;
        Ok(())
    }

    /// Returns the paths that git must not clean: a folder without any committed file is listed as a whole, even if the
    /// set-up left only a part of it.
    fn kept_by_clean(&self, worktree: &Worktree) -> Result<BTreeSet<PathBuf>, WorkspaceError> {
        let listed = worktree
            .git
            .command("ls-tree")
            .args(["-z", "--name-only", "HEAD"])
            .run()?;
        let tracked: BTreeSet<&[u8]> = fields(&listed).collect();
        let top = |path: &PathBuf| {
            let first = path.components().next()?.as_os_str();
            (!tracked.contains(first.as_bytes())).then(|| PathBuf::from(first))
        };
        let protected = self.protected_paths(worktree)?;
        let left = self.left_by_set_up(worktree)?;
        let left = left.into_iter().map(PathBuf::from);
        let left = left.map(|path| top(&path).unwrap_or(path));
        Ok(protected.into_iter().chain(left).collect())
    }
}

fn move_branch(
    worktree: &Worktree,
    from: Option<&CommitId>,
    to: &CommitId,
) -> Result<(), WorkspaceError> {
    let git = &worktree.git;
    let why = "symphony: back to the recorded head";
    match worktree.branch() {
        Some(branch) => {
            let expect = from.map_or(Expect::Absent, Expect::At);
            if from != Some(to) {
                move_ref(git, &branch.reference(), expect, to, why)?;
            }
            point_head(git, branch, why)
        }
        None => set_own_ref(git, "HEAD", to, why),
    }
}

/// Writes a path as an anchored pattern of `.gitignore`.
fn exclude_pattern(path: &Path) -> std::ffi::OsString {
    let mut pattern = vec![b'/'];
    for byte in path.as_os_str().as_bytes() {
        if matches!(byte, b'\\' | b'*' | b'?' | b'[' | b'!' | b'#' | b' ') {
            pattern.push(b'\\');
        }
        pattern.push(*byte);
    }
    std::ffi::OsStr::from_bytes(&pattern).to_owned()
}
