//! The git folders of submodules, which git keeps in the git folder of their worktree and removes together with it.
//!
//! Their commits are found through the folders, since an agent may have emptied the checkout of a submodule (`deinit`)
//! or left commits on another of its branches.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use symphony_core::Timestamp;

use super::absorb::copy_commits;
use crate::change::RescueRef;
use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::git::{Git, Place};
use crate::repository::Repository;
use crate::worktree::WorktreeKey;

/// Most folders between `modules` and the git folder of a submodule: its name may have slashes.
const NAME_DEPTH_MAX: usize = 16;
/// Unpublished commits of one submodule that are listed to find those that have all others.
const COMMITS_MAX: usize = 100_000;
/// Commits of a damaged submodule that are tried one by one.
const NAMED_MAX: usize = 200;
/// What the reflog says of a commit that was made in this repository, and not only checked out there.
const MADE_HERE: &[&str] = &["commit", "merge", "rebase", "cherry-pick", "revert", "am"];

/// Commits of a submodule that were saved before its git folder was removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedSubmodule {
    /// The name of the submodule.
    pub name: String,
    /// Where its commits are.
    pub rescue: RescueRef,
}

/// The git folder of a submodule.
#[derive(Debug)]
pub(super) struct Module {
    /// Its name, as `.gitmodules` has it.
    pub(super) name: String,
    /// Git in that folder; nothing of a checkout is read.
    pub(super) git: Git,
}

impl Module {
    pub(super) fn folder(&self) -> &Path {
        &self.git.place().git_dir
    }

    /// Returns whether all its objects and refs are its own.
    fn is_whole(&self) -> bool {
        let borrowed = ["objects/info/alternates", "commondir"];
        let is_there = |name: &&str| self.folder().join(name).symlink_metadata().is_ok();
        !borrowed.iter().any(is_there) && !has_link(self.folder())
    }

    pub(super) fn has_commit(&self, commit: &str) -> Result<bool, WorkspaceError> {
        let found = self
            .git
            .command("cat-file")
            .args(["-e", &format!("{commit}^{{commit}}")])
            .answer(&[0, 1, 128])?;
        Ok(found.code == 0)
    }

    /// Returns whether a commit came from elsewhere or was pushed: a remote-tracking branch has it, or a tag has it and
    /// nothing shows that it was created here.
    pub(super) fn is_published(&self, commit: &str) -> Result<bool, WorkspaceError> {
        let is_within = |refs: &str| -> Result<bool, WorkspaceError> {
            let beyond = self
                .git
                .command("rev-list")
                .args(["-n", "1", commit, "--not", refs])
                .run()?;
            Ok(beyond.is_empty())
        };
        if is_within("--remotes")? {
            return Ok(true);
        }
        Ok(is_within("--tags")? && !self.was_made_here(commit)?)
    }

    fn was_made_here(&self, commit: &str) -> Result<bool, WorkspaceError> {
        let log = self
            .git
            .command("log")
            .args(["-g", "--format=%H %gs", "HEAD"])
            .answer(&[0, 128])?;
        let log = String::from_utf8_lossy(&log.stdout).into_owned();
        let mut subjects = log.lines().filter_map(|line| {
            let (made, subject) = line.split_once(' ')?;
            (made == commit).then_some(subject)
        });
        Ok(subjects.any(|subject| MADE_HERE.iter().any(|word| subject.starts_with(word))))
    }

    /// Returns the unpublished commits as [`Module::unpublished_tips`] does. Where objects are missing, so that git cannot go
    /// through the history, those are all that a ref or a log names.
    fn tips(&self) -> Result<Vec<CommitId>, WorkspaceError> {
        match self.unpublished_tips() {
            Err(WorkspaceError::Git { code: Some(_), .. }) => self.named_commits(),
            other => other,
        }
    }

    fn named_commits(&self) -> Result<Vec<CommitId>, WorkspaceError> {
        let list = self
            .git
            .command("rev-list")
            .args(["--no-walk", "--ignore-missing", "--all", "--reflog"])
            .run()?;
        let list = String::from_utf8_lossy(&list).into_owned();
        let commits = list.lines().filter_map(|line| CommitId::parse(line).ok());
        Ok(commits.take(NAMED_MAX).collect())
    }

    /// Returns the unpublished commits, without those that another one contains: of branches, of the stash, of the
    /// current checkout and of earlier ones.
    fn unpublished_tips(&self) -> Result<Vec<CommitId>, WorkspaceError> {
        let list = self
            .git
            .command("rev-list")
            .arg(format!("--max-count={COMMITS_MAX}"))
            .args(["--parents", "--ignore-missing", "--all", "--reflog"])
            .args(["--not", "--remotes"])
            .run()?;
        let list = String::from_utf8_lossy(&list).into_owned();
        let parents: BTreeSet<&str> = list
            .lines()
            .flat_map(|line| line.split(' ').skip(1))
            .collect();
        let commits = list.lines().filter_map(|line| line.split(' ').next());
        let mut tips = Vec::new();
        for tip in commits.filter(|commit| !parents.contains(commit)) {
            if let (Ok(id), false) = (CommitId::parse(tip), self.is_published(tip)?) {
                tips.push(id);
            }
        }
        Ok(tips)
    }
}

/// Lists the git folders of submodules below a git folder, including those of submodules inside submodules, sorted by
/// name.
///
/// # Errors
/// When a folder cannot be read.
pub(super) fn modules_below(git: &Git, git_dir: &Path) -> Result<Vec<Module>, WorkspaceError> {
    let mut found = Vec::new();
    let mut to_read = vec![(git_dir.join("modules"), String::new(), 0)];
    while let Some((folder, prefix, depth)) = to_read.pop() {
        for (name, path) in folders_in(&folder)? {
            let name = format!("{prefix}{name}");
            if path.join("HEAD").is_file() && path.join("objects").is_dir() {
                to_read.push((path.join("modules"), format!("{name}/"), depth + 1));
                let git = git.at(Place {
                    common_dir: path.clone(),
                    work_tree: path.clone(),
                    git_dir: path,
                });
                found.push(Module { name, git });
            } else if depth < NAME_DEPTH_MAX {
                to_read.push((path, format!("{name}/"), depth + 1));
            }
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

/// Returns whether there is a link among the objects and refs of a git folder, or in its place.
fn has_link(folder: &Path) -> bool {
    const LOOKED_MAX: usize = 100_000;
    let mut open: Vec<PathBuf> = ["objects", "refs", "logs", "HEAD", "packed-refs", "shallow"]
        .iter()
        .map(|name| folder.join(name))
        .collect();
    let mut looked = 0;
    while let Some(path) = open.pop() {
        let Ok(meta) = path.symlink_metadata() else {
            continue;
        };
        looked += 1;
        if meta.is_symlink() || looked > LOOKED_MAX {
            return true;
        }
        if meta.is_dir() {
            let entries = fs::read_dir(&path).into_iter().flatten().flatten();
            open.extend(entries.map(|entry| entry.path()));
        }
    }
    false
}

/// Lists the folders in a folder; empty if it does not exist. Links are skipped: they could lead anywhere.
fn folders_in(folder: &Path) -> Result<Vec<(String, PathBuf)>, WorkspaceError> {
    if !fs::symlink_metadata(folder).is_ok_and(|meta| meta.is_dir()) {
        return Ok(Vec::new());
    }
    let entries =
        fs::read_dir(folder).map_err(|source| WorkspaceError::io("list", folder, source))?;
    let folders = entries
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    Ok(folders
        .map(|entry| {
            (
                entry.file_name().to_string_lossy().into_owned(),
                entry.path(),
            )
        })
        .collect())
}

impl Repository {
    /// Saves the commits of submodules that only the git folder of a worktree has, each with its whole history, to
    /// rescue refs of this repository. A commit that has such a ref keeps it.
    ///
    /// # Errors
    /// [`WorkspaceError::ShallowSubmodule`] when a submodule does not have its whole history, so that it cannot be
    /// saved here.
    pub(crate) fn save_submodules(
        &self,
        key: &WorktreeKey,
        git_dir: &Path,
        now: Timestamp,
    ) -> Result<Vec<SavedSubmodule>, WorkspaceError> {
        let mut saved = Vec::new();
        for module in modules_below(&self.git, git_dir)? {
            // Before git opens it: by a link or by borrowed objects an agent could have commits of any repository saved here.
            if !module.is_whole() {
                return Err(WorkspaceError::ShallowSubmodule {
                    folder: module.folder().to_owned(),
                    name: module.name,
                });
            }
            let tips = module.tips()?;
            if tips.is_empty() {
                continue;
            }
            if module.folder().join("shallow").exists() {
                return Err(WorkspaceError::ShallowSubmodule {
                    folder: module.folder().to_owned(),
                    name: module.name,
                });
            }
            let tips = self.copy_complete(&module, tips)?;
            let folder = format!(
                "refs/symphony/rescue/{}.submodules/{}",
                key.as_ref_part(),
                WorktreeKey::of(&module.name).as_ref_part()
            );
            for tip in tips {
                let rescue = self.keep_once(&folder, &tip, now)?;
                saved.push(SavedSubmodule {
                    name: module.name.clone(),
                    rescue,
                });
            }
        }
        Ok(saved)
    }

    /// Copies commits of a submodule with their history. One whose objects are missing is left out: it can never be saved, and
    /// would keep its worktree for ever. Returns those that came.
    fn copy_complete(
        &self,
        module: &Module,
        tips: Vec<CommitId>,
    ) -> Result<Vec<CommitId>, WorkspaceError> {
        match copy_commits(&self.git, &module.git, &tips) {
            Ok(()) => return Ok(tips),
            Err(WorkspaceError::Git { code: Some(_), .. }) => {}
            Err(error) => return Err(error),
        }
        let mut complete = Vec::new();
        for tip in tips {
            match copy_commits(&self.git, &module.git, std::slice::from_ref(&tip)) {
                Ok(()) => complete.push(tip),
                Err(WorkspaceError::Git { code: Some(_), .. }) => {
                    tracing::warn!(submodule = %module.name, commit = %tip, "objects of a commit are missing, and it is left out");
                }
                Err(error) => return Err(error),
            }
        }
        Ok(complete)
    }
}
