//! Taking the files of a nested repository as plain files of the worktree.
//!
//! Its history is saved to rescue refs first; only then is its git folder removed. Git never opens that folder: its commits come in
//! like those of an agent (see `import`), so that links and borrowed objects bring nothing else in.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use symphony_core::Timestamp;

use crate::change::{Inner, RescueRef, inner_at};
use crate::commit_id::CommitId;
use crate::deep::remove_deep;
use crate::error::WorkspaceError;
use crate::git::Git;
use crate::import::Tags;
use crate::linux::Folder;
use crate::repository::Repository;
use crate::worktree::Worktree;

/// Most repositories in one worktree that one call absorbs: more is no accident.
const REPOSITORIES_MAX: usize = 100;
/// Branches and tags of one nested repository whose history is saved.
const TIPS_MAX: usize = 100;
/// Largest history that is saved, packed.
const PACK_BYTES_MAX: usize = 256 * 1024 * 1024;

/// A nested repository whose files are plain files now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Absorbed {
    /// Where it was, relative to the worktree.
    pub path: String,
    /// Where its history is saved; empty if it had no commit.
    pub rescues: Vec<RescueRef>,
}

impl Repository {
    /// Turns the nested repositories of a worktree into plain files, until none is left. The history of each is saved
    /// to rescue refs. Its files are not committed yet. Idempotent after a crash.
    ///
    /// # Errors
    /// [`WorkspaceError::Embedded`] when the git folder of one is elsewhere; when the history of one cannot be saved,
    /// that one is unchanged.
    pub fn absorb_nested(
        &self,
        worktree: &Worktree,
        base: Option<&CommitId>,
        now: Timestamp,
    ) -> Result<Vec<Absorbed>, WorkspaceError> {
        let mut absorbed = Vec::new();
        // a repository may hold others
        while absorbed.len() < REPOSITORIES_MAX {
            let nested = self.nested_repositories(worktree, base)?;
            if nested.is_empty() {
                break;
            }
            for path in nested {
                absorbed.push(self.absorb(worktree, path, now)?);
            }
        }
        Ok(absorbed)
    }

    fn absorb(
        &self,
        worktree: &Worktree,
        path: String,
        now: Timestamp,
    ) -> Result<Absorbed, WorkspaceError> {
        let git = &worktree.git;
        let relative = Path::new(&path);
        let mut rescues = Vec::new();
        match inner_at(git, relative) {
            Inner::Own(_) => {
                for tip in self.take_history(worktree, relative)? {
                    rescues.push(self.keep(worktree.key(), &tip, now)?);
                }
                remove_git_folder(worktree, relative)?;
            }
            // only the link was committed, and nothing is there
            Inner::Absent => {}
            Inner::Module(_) | Inner::Elsewhere => {
                return Err(WorkspaceError::Embedded {
                    path: worktree.path().to_owned(),
                    embedded: vec![path],
                });
            }
        }
        // the link, should the agent have added it: its files take its place
        let mut entry = relative.as_os_str().as_bytes().to_vec();
        entry.push(0);
        git.command("update-index")
            .args(["--force-remove", "-z", "--stdin"])
            .stdin(entry)
            .run()?;
        Ok(Absorbed { path, rescues })
    }

    /// Imports what a nested repository has committed; returns its checked-out commit and the tips of its branches and tags.
    fn take_history(
        &self,
        worktree: &Worktree,
        relative: &Path,
    ) -> Result<Vec<CommitId>, WorkspaceError> {
        let checkout = worktree.path().join(relative);
        let imported = self.import_with(&checkout, worktree.key(), None, Tags::Own)?;
        if !imported.left_out.is_empty() {
            return Err(WorkspaceError::Tampered {
                path: worktree.path().join(relative),
                what: format!(
                    "commits of the repository are not complete: {}",
                    imported.left_out.join(", ")
                ),
            });
        }
        let mut tips: Vec<CommitId> = imported.head.into_iter().collect();
        tips.extend(imported.branches.into_values());
        tips.extend(imported.others.into_iter().map(|(_, commit)| commit));
        for tag in imported.tags {
            tips.extend(self.commit_of_tag(&tag)?);
        }
        tips.sort();
        tips.dedup();
        tips.truncate(TIPS_MAX);
        Ok(tips)
    }

    /// Returns the commit that a tag leads to; `None` where that is a file or a folder.
    fn commit_of_tag(&self, tag: &CommitId) -> Result<Option<CommitId>, WorkspaceError> {
        let found = self
            .git
            .command("rev-parse")
            .args(["--verify", "--quiet", &format!("{tag}^{{commit}}")])
            .answer(&[0, 1, 128])?;
        let text = String::from_utf8_lossy(&found.stdout);
        Ok(CommitId::parse(text.trim()).ok())
    }
}

/// Removes the git folder of a nested repository. It is moved out first: a live agent could put a link above it.
fn remove_git_folder(worktree: &Worktree, relative: &Path) -> Result<(), WorkspaceError> {
    let place = worktree.path().join(relative);
    let beside = worktree
        .path()
        .with_file_name(format!(".nested-of-{}", worktree.key()));
    let failed = |source| WorkspaceError::io("remove the git folder of", &place, source);
    remove_deep(&beside).map_err(failed)?;
    let checkout = Folder::open(worktree.path()).map_err(failed)?;
    let inner = checkout.folder(relative).map_err(failed)?;
    inner.move_out(Path::new(".git"), &beside).map_err(failed)?;
    remove_deep(&beside).map(drop).map_err(failed)
}

/// Copies commits, with all that they reach, from another repository.
///
/// # Errors
/// When git fails, or there is more than [`PACK_BYTES_MAX`].
pub(super) fn copy_commits(git: &Git, from: &Git, tips: &[CommitId]) -> Result<(), WorkspaceError> {
    let wanted: Vec<u8> = tips
        .iter()
        .flat_map(|tip| [tip.as_str().as_bytes(), b"\n"].concat())
        .collect();
    let pack = from
        .command("pack-objects")
        .args(["--revs", "--stdout", "-q"])
        .stdin(wanted)
        .stdout_max(PACK_BYTES_MAX)
        .slow()
        .run()?;
    git.command("index-pack")
        .args(["--stdin", "--fix-thin"])
        .stdin(pack)
        .slow()
        .run()
        .map(drop)
}
