//! Git's locks: where they are, when they were created and who takes them.

use std::fs;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use symphony_core::Timestamp;
use symphony_core::git_lock::LockOwner;

use super::place::Place;

/// Returns who takes a lock. Those of a linked checkout, of Symphony's branches and of its own refs are never a
/// person's.
pub(super) fn owner_of(place: &Place, lock: &Path) -> LockOwner {
    let is_linked = place.git_dir != place.common_dir;
    let refs = place.common_dir.join("refs");
    let is_own = is_linked && lock.starts_with(&place.git_dir)
        || lock.starts_with(refs.join("heads/symphony"))
        || lock.starts_with(refs.join("symphony"));
    if is_own {
        LockOwner::Run
    } else {
        LockOwner::Shared
    }
}

/// Returns when a file was created, if the file system knows.
pub(super) fn created(meta: &Metadata) -> Timestamp {
    meta.created()
        .ok()
        .and_then(moment)
        .unwrap_or_else(|| written(meta))
}

pub(super) fn written(meta: &Metadata) -> Timestamp {
    // A file without a time counts as new.
    meta.modified()
        .ok()
        .and_then(moment)
        .unwrap_or_else(Timestamp::now)
}

fn moment(time: SystemTime) -> Option<Timestamp> {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Timestamp::from_millisecond(i64::try_from(since.as_millis()).ok()?).ok()
}

/// Lists the locks directly in a folder.
pub(crate) fn locks_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    let mut found: Vec<PathBuf> = paths.filter(|path| is_lock(path)).collect();
    found.sort();
    found
}

fn is_lock(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "lock")
}

/// Lists the locks in a folder and below it, among at most [`ENTRIES_MAX`] entries.
pub(crate) fn locks_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    let mut seen = 0_usize;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            seen += 1;
            if seen > ENTRIES_MAX {
                return found;
            }
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let path = entry.path();
            if is_folder {
                folders.push(path);
            } else if is_lock(&path) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// How many files are searched for locks. A repository with this many loose refs is packed first.
pub(super) const ENTRIES_MAX: usize = 20_000;
