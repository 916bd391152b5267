//! Removing what commands of a pristine checkout left beside the files of the commit.
//!
//! Commands share a checkout, and with it what git ignores: packages, build output. Untracked files would be work in a
//! worktree; here they are no one's, and the next command would take them for a part of the commit. What existed before
//! the first command (copied files, what the set-up left) stays.
//!
//! The rules of ignoring are those of the commit's own `.gitignore` files, which were restored before. Nothing of the
//! checkout's git folder has a say, and no `.gitignore` that a command left does: it is removed before git is asked.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::beside::Beside;
use super::clone::Pristine;
use super::kept;
use super::tracked::{look, settle};
use crate::change::repo_path_text;
use crate::deep::remove_deep;
use crate::error::WorkspaceError;
use crate::git::{Git, Place, fields};
use crate::repository::Repository;

/// Most levels of folders that are searched; deeper ones are removed whole.
const LEVELS_MAX: usize = 64;

/// What was found of what commands left.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Planted {
    /// Files that were removed, and folders without any.
    pub removed: Vec<String>,
    /// Copied files, and files of the set-up, that a command had changed; they are as they were again.
    pub restored: Vec<String>,
    /// Files of the set-up that a command changed, and whose content was not kept: they are too many, or too large.
    pub changed: Vec<String>,
}

/// What happens to an entry that git does not ignore.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Keep,
    Remove,
}

impl Repository {
    /// Removes what commands left in a pristine checkout that git does not ignore; returns it. The first call records
    /// what is there, and removes nothing.
    ///
    /// Whoever calls it has ended the processes of those commands, and restored the tracked files.
    ///
    /// # Errors
    /// When git fails, or something cannot be read or removed.
    pub fn remove_planted(&self, pristine: &Pristine) -> Result<Planted, WorkspaceError> {
        let mut beside = pristine.beside();
        let fate = if beside.is_recorded {
            Fate::Remove
        } else {
            let folders = pristine.tracked().folders();
            beside.folders = folders.into_iter().map(|folder| (folder, None)).collect();
            Fate::Keep
        };
        let root = pristine.path();
        let begin: Vec<PathBuf> = beside
            .folders
            .iter()
            .filter(|(folder, mark)| mark.is_none() || look(root, folder) != **mark)
            .map(|(folder, _)| folder.clone())
            .collect();
        let mut planted = Planted::default();
        let mut of_set_up = Vec::new();
        if !begin.is_empty() {
            let scratch = self.scratch_path(pristine.key());
            self.remove_scratch(pristine.key())?;
            let git = self.judge_of_ignoring(&scratch, pristine)?;
            let walk = Walk {
                root,
                git: &git,
                pristine,
                fate,
            };
            let walked = walk.through(begin, &mut beside, &mut planted, &mut of_set_up);
            self.remove_scratch(pristine.key())?;
            walked?;
        }
        if beside.is_recorded {
            let found = beside.kept.restore(root);
            let kept::KeptChanges { restored, changed } =
                found.map_err(|(path, source)| WorkspaceError::io("restore", path, source))?;
            planted.restored = restored.iter().map(|path| repo_path_text(path)).collect();
            planted.changed = changed.iter().map(|path| repo_path_text(path)).collect();
        } else {
            let tracked = pristine.tracked();
            let copied = pristine.copied().clone();
            let copied = copied.into_iter().filter(|path| !tracked.has(path));
            beside.kept.record(root, copied, of_set_up);
        }
        let folders = beside.folders.values().flatten();
        settle(folders.chain(beside.kept.marks()));
        beside.is_recorded = true;
        Ok(planted)
    }

    /// A git folder that has the commit's settings, and whose work tree is the checkout.
    fn judge_of_ignoring(
        &self,
        scratch: &Path,
        pristine: &Pristine,
    ) -> Result<Git, WorkspaceError> {
        let git_dir = scratch.join(".git");
        self.lay_out(&git_dir, pristine.commit())?;
        let config = git_dir.join("config");
        fs::write(&config, pristine.settings())
            .map_err(|source| WorkspaceError::io("write", config, source))?;
        Ok(self.git.at(Place {
            common_dir: git_dir.clone(),
            git_dir,
            work_tree: pristine.path().to_owned(),
        }))
    }
}

/// A walk through the folders of a checkout, level by level, so that the ignore rules of a folder are clean before git
/// is asked about its contents.
struct Walk<'a> {
    root: &'a Path,
    git: &'a Git,
    pristine: &'a Pristine,
    fate: Fate,
}

/// An entry that is neither of the commit nor known.
struct UnknownEntry {
    path: PathBuf,
    is_folder: bool,
}

impl Walk<'_> {
    fn through(
        &self,
        begin: Vec<PathBuf>,
        beside: &mut Beside,
        planted: &mut Planted,
        of_set_up: &mut Vec<PathBuf>,
    ) -> Result<(), WorkspaceError> {
        let mut looked: Vec<PathBuf> = begin.clone();
        let mut folders = begin;
        let mut emptied = Vec::new();
        for _ in 0..LEVELS_MAX {
            let found = self.found_in(&folders, beside, planted)?;
            folders.clear();
            for UnknownEntry { path, is_folder } in self.judge(found, beside)? {
                match (self.fate, is_folder) {
                    (_, true) => {
                        folders.push(path.clone());
                        emptied.push(path);
                    }
                    (Fate::Keep, false) => of_set_up.push(path),
                    (Fate::Remove, false) => self.remove(&path, planted)?,
                }
            }
            if folders.is_empty() {
                break;
            }
        }
        if self.fate == Fate::Remove {
            for deep in folders {
                self.remove(&deep, planted)?;
            }
            // those below come first; what git ignores keeps its folder
            emptied.reverse();
            emptied.retain(|folder| !self.remove_empty(folder, planted));
        }
        looked.extend(emptied);
        for folder in looked {
            let mark = look(self.root, &folder);
            beside.folders.insert(folder, mark);
        }
        Ok(())
    }

    /// Returns the entries of folders that are not known. A command's `.gitignore` and `.git` are removed at once: both
    /// would have a say in what git answers.
    fn found_in(
        &self,
        folders: &[PathBuf],
        beside: &Beside,
        planted: &mut Planted,
    ) -> Result<Vec<UnknownEntry>, WorkspaceError> {
        let mut found = Vec::new();
        for folder in folders {
            let at = self.root.join(folder);
            let entries =
                entries_of(&at).map_err(|source| WorkspaceError::io("read", &at, source))?;
            for (name, is_folder) in entries {
                let path = folder.join(&name);
                let is_own_git_dir = folder.as_os_str().is_empty() && name == OsStr::new(".git");
                if is_own_git_dir || self.is_known(&path, is_folder, beside) {
                    continue;
                }
                let decides = name == OsStr::new(".gitignore") || name == OsStr::new(".git");
                if decides && self.fate == Fate::Remove {
                    self.remove(&path, planted)?;
                } else {
                    found.push(UnknownEntry { path, is_folder });
                }
            }
        }
        Ok(found)
    }

    fn is_known(&self, path: &Path, is_folder: bool, beside: &Beside) -> bool {
        if is_folder {
            return beside.folders.contains_key(path)
                || beside.ignored.contains(&(path.to_owned(), true));
        }
        self.pristine.tracked().has(path)
            || beside.kept.has(path)
            || beside.ignored.contains(&(path.to_owned(), false))
    }

    /// Returns the entries that git does not ignore, and notes the others.
    fn judge(
        &self,
        found: Vec<UnknownEntry>,
        beside: &mut Beside,
    ) -> Result<Vec<UnknownEntry>, WorkspaceError> {
        // Git does not look inside nested repositories; those that the set-up created are not ours to check.
        let (inside, asked): (Vec<_>, Vec<_>) = found
            .into_iter()
            .partition(|found| found.path.file_name() == Some(OsStr::new(".git")));
        let inside = inside
            .into_iter()
            .map(|found| (found.path, found.is_folder));
        beside.ignored.extend(inside);
        if asked.is_empty() {
            return Ok(asked);
        }
        let mut list = Vec::new();
        for UnknownEntry { path, .. } in &asked {
            // a name may begin like one of git's patterns
            list.extend_from_slice(b"./");
            list.extend_from_slice(path.as_os_str().as_bytes());
            list.push(0);
        }
        let answer = self
            .git
            .command("check-ignore")
            .args(["-z", "--stdin", "--no-index"])
            .stdin(list)
            .slow()
            .answer(&[0, 1])?;
        let ignored: BTreeSet<PathBuf> = fields(&answer.stdout)
            .filter_map(|path| path.strip_prefix(b"./"))
            .map(|path| PathBuf::from(OsStr::from_bytes(path)))
            .collect();
        let (ignored, others): (Vec<_>, Vec<_>) = asked
            .into_iter()
            .partition(|found| ignored.contains(&found.path));
        let ignored = ignored
            .into_iter()
            .map(|found| (found.path, found.is_folder));
        beside.ignored.extend(ignored);
        Ok(others)
    }

    fn remove(&self, path: &Path, planted: &mut Planted) -> Result<(), WorkspaceError> {
        let at = self.root.join(path);
        let removed = match fs::remove_file(&at) {
            Err(error) if error.kind() == ErrorKind::IsADirectory => remove_deep(&at).map(|_| ()),
            removed => removed,
        };
        removed.map_err(|source| WorkspaceError::io("remove", at, source))?;
        planted.removed.push(repo_path_text(path));
        Ok(())
    }

    /// Removes a folder unless something is in it.
    fn remove_empty(&self, folder: &Path, planted: &mut Planted) -> bool {
        match fs::remove_dir(self.root.join(folder)) {
            Ok(()) => {}
            Err(error) => return error.kind() == ErrorKind::NotFound,
        }
        let name = format!("{}/", repo_path_text(folder));
        if !planted.removed.iter().any(|path| path.starts_with(&name)) {
            planted.removed.push(name);
        }
        true
    }
}

/// Lists the names in a folder, and whether each is a folder. One that a command made unreadable is made readable.
fn entries_of(folder: &Path) -> io::Result<Vec<(OsString, bool)>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            let mode = fs::symlink_metadata(folder)?.permissions().mode();
            fs::set_permissions(folder, Permissions::from_mode(mode | 0o700))?;
            fs::read_dir(folder)?
        }
        // An empty folder of the commit was restored, one of the set-up may be gone.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        entries => entries?,
    };
    let mut listed = Vec::new();
    for entry in entries {
        let entry = entry?;
        listed.push((entry.file_name(), entry.file_type()?.is_dir()));
    }
    listed.sort();
    Ok(listed)
}
