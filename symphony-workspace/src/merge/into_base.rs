//! Moving the base by compare-and-swap, together with the checkout that shows it.

use std::path::Path;

use symphony_core::outside::MERGED_BY;

use super::in_the_way::BaseCheckout;
use super::into_worktree::{index_shows, move_checkout};
use super::plan::merge_trees;
use crate::change::touched;
use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::failpoint::Failpoint;
use crate::git::{Git, Identity, Place};
use crate::repository::{BranchName, Expect, Repository, Unconfirmed, move_ref};

/// What happens to the checkout of the base, which has already moved, when git did not confirm that the base moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CheckoutAfter {
    /// It stays, since it shows what the base has.
    Stays,
    /// It goes back, since it would show merged work as staged changes that the base does not have.
    GoesBack,
}

/// Decides about the checkout of the base. `shows_base` is whether its index matches the base now: someone may have
/// committed the moved files at this very moment, and going back would stage their reversal.
fn checkout_after(base: Unconfirmed, shows_base: bool) -> CheckoutAfter {
    match base {
        Unconfirmed::Done => CheckoutAfter::Stays,
        Unconfirmed::Elsewhere if shows_base => CheckoutAfter::Stays,
        Unconfirmed::Elsewhere | Unconfirmed::NotDone => CheckoutAfter::GoesBack,
    }
}

/// Who merges, and what: the reflog of the base says both. A fast-forward leaves no other trace of what was merged.
#[derive(Debug, Clone, Copy)]
pub struct MergedBy<'a> {
    /// Who merges.
    pub identity: &'a Identity,
    /// The issue or the plan, as the subject of a merge names it.
    pub of: Option<&'a str>,
}

impl<'a> From<&'a Identity> for MergedBy<'a> {
    fn from(identity: &'a Identity) -> Self {
        Self { identity, of: None }
    }
}

impl MergedBy<'_> {
    fn reason(&self) -> String {
        let of = self.of.map(|of| format!(" ({of})")).unwrap_or_default();
        format!("{MERGED_BY}{}{of}", self.identity.name)
    }
}

impl Repository {
    /// Moves the base from one commit to another, such as the merge commit that gates ran on. When the base is there already (a
    /// merge that was interrupted after its effect, or a repetition), that counts as done.
    ///
    /// # Errors
    /// [`WorkspaceError::RefMoved`] when the base is not where it was expected, [`WorkspaceError::CheckoutDirty`] when
    /// the base is checked out with changes, or untracked files, that the move would overwrite. Nothing was changed then.
    pub fn move_base<'a>(
        &self,
        base: &BranchName,
        expected: &CommitId,
        to: &CommitId,
        by: impl Into<MergedBy<'a>>,
    ) -> Result<(), WorkspaceError> {
        let _lock = self.lock()?;
        // Before the base is read: a checkout that a crash left between two commits would look like changes of its
        // owner.
        self.finish_interrupted()?;
        self.require_commit(to)?;
        if self.branch_head(base)?.as_ref() == Some(to) {
            return Ok(());
        }
        self.move_locked(base, expected, to, &by.into().reason())
    }

    fn move_locked(
        &self,
        base: &BranchName,
        from: &CommitId,
        to: &CommitId,
        why: &str,
    ) -> Result<(), WorkspaceError> {
        // Read again under the lock: gates ran for minutes since `from` was read, and only their result may become the
        // base.
        let found = self.branch_head(base)?;
        if found.as_ref() != Some(from) {
            return Err(WorkspaceError::RefMoved {
                reference: base.reference(),
                expected: from.clone(),
                found,
            });
        }
        let Some(checkout) = self.checkout_of(base)? else {
            return move_ref(&self.git, &base.reference(), Expect::At(from), to, why);
        };
        let seen = BaseCheckout::at(checkout)?;
        let changes = seen.in_the_way(from, to)?;
        if !changes.is_empty() {
            return Err(WorkspaceError::CheckoutDirty {
                path: seen.path().to_owned(),
                files: changes,
            });
        }
        let checkout = seen.git();
        // The note comes first, so that a crash between the folder and the ref is found and repaired.
        let note = self.note_move(base, from, to, checkout.work_tree())?;
        Failpoint::MergeNoted.reach();
        // The folder moves before the ref: git refuses here if a file is in the way, and the base is untouched. The
        // other way round, the checkout would show the merge as staged reversals until it follows.
        if let Some(files) = move_checkout(checkout, from, to)? {
            note.remove()?;
            return Err(WorkspaceError::CheckoutDirty {
                path: checkout.work_tree().to_owned(),
                files,
            });
        }
        Failpoint::MergeCheckoutMoved.reach();
        let moved = move_ref(&self.git, &base.reference(), Expect::At(from), to, why);
        Failpoint::MergeBaseMoved.reach();
        let Err(error) = moved else {
            return note.remove();
        };
        // If the base cannot be read, the note stays, and the next merge decides.
        let Ok(found) = self.branch_head(base) else {
            return Err(error);
        };
        let unconfirmed = Unconfirmed::of(Some(from), Some(to), found.as_ref());
        let shows_base = match &found {
            Some(found) => index_shows(checkout, found, &touched(checkout, from, to)?)?,
            None => false,
        };
        match checkout_after(unconfirmed, shows_base) {
            CheckoutAfter::Stays => {}
            CheckoutAfter::GoesBack => {
                move_checkout(checkout, to, from)?;
            }
        }
        note.remove()?;
        match unconfirmed {
            Unconfirmed::Done => Ok(()),
            Unconfirmed::NotDone | Unconfirmed::Elsewhere => Err(error),
        }
    }

    /// Looks at the checkout of a base; `None` when it is not checked out. An interrupted move is no obstacle to a merge, which takes it
    /// back, so then it is `None` as well.
    ///
    /// # Errors
    /// When git fails.
    pub fn base_checkout(&self, base: &BranchName) -> Result<Option<BaseCheckout>, WorkspaceError> {
        match self.checkout_of(base)? {
            Some(git) if !self.is_move_noted() => BaseCheckout::at(git).map(Some),
            _ => Ok(None),
        }
    }

    /// Returns the files in the checkout of a base, which is at this commit, that a merge of `head` would overwrite; none when the merge
    /// conflicts.
    ///
    /// # Errors
    /// [`WorkspaceError::CommitMissing`], and when git fails.
    pub fn in_the_way_of(
        &self,
        head: &CommitId,
        checkout: &BaseCheckout,
        at: &CommitId,
    ) -> Result<Vec<String>, WorkspaceError> {
        self.require_commit(head)?;
        match merge_trees(&self.git, at, head)? {
            Ok(tree) => checkout.in_the_way(at, &tree),
            Err(_) => Ok(Vec::new()),
        }
    }

    /// Returns git at the checkout that has a branch; `None` when it is not checked out.
    pub(super) fn checkout_of(&self, branch: &BranchName) -> Result<Option<Git>, WorkspaceError> {
        let reference = branch.reference();
        let holder = self.registrations()?.into_iter().find(|registration| {
            registration.reference.as_ref() == Some(&reference) && registration.path.is_dir()
        });
        match holder {
            Some(registration) => self.git_at(&registration.path).map(Some),
            None => Ok(None),
        }
    }

    /// Pins git to any checkout of the repository.
    pub(super) fn git_at(&self, path: &Path) -> Result<Git, WorkspaceError> {
        let git_dir = self.git_dir_of(path)?;
        let is_main = git_dir.is_none();
        Ok(self.git.at(Place {
            git_dir: git_dir.unwrap_or_else(|| self.common_dir().to_owned()),
            common_dir: self.common_dir().to_owned(),
            // Git lists the main checkout by its git folder, which a `.git` file may put elsewhere.
            work_tree: if is_main {
                self.root.clone()
            } else {
                path.to_owned()
            },
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checkout_goes_back_only_when_the_base_did_not_move() {
        for (base, shows_base, expected) in [
            (Unconfirmed::Done, true, CheckoutAfter::Stays),
            (Unconfirmed::Done, false, CheckoutAfter::Stays),
            (Unconfirmed::NotDone, false, CheckoutAfter::GoesBack),
            (Unconfirmed::NotDone, true, CheckoutAfter::GoesBack),
            (Unconfirmed::Elsewhere, false, CheckoutAfter::GoesBack),
            (Unconfirmed::Elsewhere, true, CheckoutAfter::Stays),
        ] {
            assert_eq!(
                checkout_after(base, shows_base),
                expected,
                "{base:?} {shows_base}"
            );
        }
    }
}
