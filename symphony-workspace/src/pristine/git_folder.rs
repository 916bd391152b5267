//! Restores the git folder of a pristine checkout to its state before the first command of the gates.
//!
//! Commands may write there: one that moves `HEAD` would change what the next one reads as the commit's message, one
//! that stages a file would change what `git ls-files` lists. An object there takes precedence over the object of the
//! same id in the repository.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::clone::Pristine;
use super::entry::Entry;
use crate::deep::remove_deep;
use crate::error::WorkspaceError;
use crate::repository::Repository;
use crate::worktree::refuse_link;

/// Contents of repositories inside, and of large files, that a set-up created: they are not checked.
const LEFT_ALONE: [&str; 2] = ["modules", "lfs"];
/// Larger files are only compared by their marks, and cannot be restored.
const BYTES_MAX: u64 = 32 * 1024 * 1024;

impl Repository {
    /// Restores the git folder of a pristine checkout to its state at the first call; returns what commands had changed
    /// there. The index counts as unchanged: git writes it whenever it looks at files.
    ///
    /// Whoever calls it has ended the processes of those commands.
    ///
    /// # Errors
    /// [`WorkspaceError::Link`] when the checkout's folder is a link; when something cannot be read, written or
    /// removed.
    pub fn restore_git_folder(&self, pristine: &Pristine) -> Result<Vec<String>, WorkspaceError> {
        refuse_link(pristine.path())?;
        let root = pristine.path().join(".git");
        let mut folder = pristine.git_folder();
        let result = match &folder.entries {
            Some(entries) => put_back(&root, entries),
            None => read(&root).map(|entries| {
                folder.entries = Some(entries);
                Vec::new()
            }),
        };
        let changed =
            result.map_err(|source| WorkspaceError::io("restore the git folder", root, source))?;
        Ok(changed
            .iter()
            .filter(|path| path.as_path() != Path::new("index"))
            .map(|path| Path::new(".git").join(path).display().to_string())
            .collect())
    }
}

/// Reads the entries below a folder, as paths relative to it; the folder itself is the empty path.
fn read(root: &Path) -> io::Result<BTreeMap<PathBuf, Entry>> {
    let mut entries = BTreeMap::new();
    let mut open = vec![PathBuf::new()];
    while let Some(path) = open.pop() {
        let entry = look(root, &path)?;
        if entry == Entry::Folder {
            for found in fs::read_dir(place(root, &path))? {
                let name = found?.file_name();
                if !is_left_alone(&path, &name) {
                    open.push(path.join(name));
                }
            }
        }
        entries.insert(path, entry);
    }
    Ok(entries)
}

/// Joins an entry's path to the folder; an empty one would end in a slash, which follows a link.
fn place(root: &Path, path: &Path) -> PathBuf {
    if path.as_os_str().is_empty() {
        root.to_owned()
    } else {
        root.join(path)
    }
}

fn is_left_alone(folder: &Path, name: &OsStr) -> bool {
    folder.as_os_str().is_empty() && LEFT_ALONE.iter().any(|known| name == OsStr::new(known))
}

fn look(root: &Path, path: &Path) -> io::Result<Entry> {
    // an object is known by its mark: one that is gone is found in the repository, or missed by the command that asks
    // for it
    let is_object = path.starts_with("objects") && !path.starts_with("objects/info");
    let bytes_max = if is_object { 0 } else { BYTES_MAX };
    Entry::look(&place(root, path), bytes_max)
}

/// Removes what was not there, and writes what is not as it was; returns both.
fn put_back(root: &Path, entries: &BTreeMap<PathBuf, Entry>) -> io::Result<Vec<PathBuf>> {
    let mut changed = Vec::new();
    // folders come before what is in them
    for (path, wanted) in entries {
        let at = place(root, path);
        let found = match look(root, path) {
            Ok(found) => Some(found),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            // one that cannot be read is not what was there
            Err(_) => Some(Entry::Other),
        };
        if found.as_ref() != Some(wanted) {
            if found.is_some() {
                remove(&at)?;
            }
            wanted.write(&at)?;
            changed.push(path.clone());
        }
        if *wanted == Entry::Folder {
            changed.extend(remove_unknown(root, path, entries)?);
        }
    }
    Ok(changed)
}

fn remove_unknown(
    root: &Path,
    folder: &Path,
    entries: &BTreeMap<PathBuf, Entry>,
) -> io::Result<Vec<PathBuf>> {
    let at = place(root, folder);
    let mode = fs::symlink_metadata(&at)?.permissions().mode();
    if mode & 0o700 != 0o700 {
        fs::set_permissions(&at, Permissions::from_mode(mode | 0o700))?;
    }
    let mut removed = Vec::new();
    for found in fs::read_dir(&at)? {
        let name = found?.file_name();
        let path = folder.join(&name);
        if !entries.contains_key(&path) && !is_left_alone(folder, &name) {
            remove(&root.join(&path))?;
            removed.push(path);
        }
    }
    Ok(removed)
}

fn remove(at: &Path) -> io::Result<()> {
    if fs::symlink_metadata(at)?.is_dir() {
        remove_deep(at).map(|_| ())
    } else {
        fs::remove_file(at)
    }
}
