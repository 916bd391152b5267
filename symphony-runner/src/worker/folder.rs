//! Which folder a worker works in, told apart from every other one, also from a copy of it on another machine.

use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use symphony_store::new_installation_id;

use crate::error::RunnerError;
use crate::paths::write_private;

/// The file with the folder's own id.
const FILE: &str = "id";
/// The file that a worker locks while it makes the id. It is never removed, since another worker may wait for it.
const LOCK: &str = "id.lock";
/// An id of this machine that stays. It is missing in some containers.
const MACHINE: &str = "/etc/machine-id";

/// Returns the name of a folder, which stays as long as the folder does.
///
/// # Errors
/// When its id cannot be read or written.
pub(super) fn name_of_folder(folder: &Path) -> Result<String, RunnerError> {
    let path = folder.join(FILE);
    let id = match read_id(&path)? {
        Some(id) => id,
        None => make_id(&path)?,
    };
    let machine = std::fs::read_to_string(MACHINE).unwrap_or_default();
    Ok(format!("{id}:{}", machine.trim()))
}

/// Reads an id. An empty file is none: a full disk or a power cut can leave one where it was not written as a whole.
fn read_id(path: &Path) -> Result<Option<String>, RunnerError> {
    match std::fs::read_to_string(path) {
        Ok(id) => Ok(Some(id.trim().to_owned()).filter(|id| !id.is_empty())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(RunnerError::io("read", path, error)),
    }
}

/// Makes an id, unless another worker of the folder did so at the same moment and was faster. It is on the disk before anyone goes by it.
fn make_id(path: &Path) -> Result<String, RunnerError> {
    let turn = locked(&path.with_file_name(LOCK))?;
    if let Some(id) = read_id(path)? {
        return Ok(id);
    }
    let id = new_installation_id().to_string();
    write_private(path, &id)?;
    drop(turn);
    Ok(id)
}

/// Waits for a lock, which ends with the file. As those of runs, it is of a file and not of the folder, which not every file system can lock.
fn locked(path: &Path) -> Result<File, RunnerError> {
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path)
        .and_then(|file| file.lock().map(|()| file))
        .map_err(|error| RunnerError::io("lock", path, error))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::os::unix::fs::PermissionsExt as _;
    use std::sync::Barrier;

    use super::*;

    fn name(folder: &Path) -> String {
        name_of_folder(folder).unwrap()
    }

    #[test]
    fn each_folder_has_a_name_that_stays() {
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        assert_eq!(name(one.path()), name(&one.path().join(".")));
        assert_ne!(name(one.path()), name(other.path()));
        name_of_folder(&one.path().join("missing")).unwrap_err();
        let id = one.path().join(FILE).metadata().unwrap();
        assert_eq!(id.permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn an_empty_file_is_replaced_and_the_name_stays_afterwards() {
        let folder = tempfile::tempdir().unwrap();
        let mut names = BTreeSet::new();
        for left in ["", "\n"] {
            std::fs::write(folder.path().join(FILE), left).unwrap();
            let found = name(folder.path());
            assert!(!found.starts_with(':'), "{found}");
            assert_eq!(name(folder.path()), found);
            assert!(names.insert(found), "{names:?}");
        }
    }

    #[test]
    fn workers_that_begin_in_a_folder_at_once_get_one_name() {
        for left in [None, Some("")] {
            let folder = tempfile::tempdir().unwrap();
            if let Some(left) = left {
                std::fs::write(folder.path().join(FILE), left).unwrap();
            }
            let start = Barrier::new(8);
            let begin = || {
                start.wait();
                name(folder.path())
            };
            let names: BTreeSet<String> = std::thread::scope(|scope| {
                let workers: Vec<_> = (0..8).map(|_| scope.spawn(begin)).collect();
                workers
                    .into_iter()
                    .map(|worker| worker.join().unwrap())
                    .collect()
            });
            assert_eq!(names.len(), 1, "{left:?}: {names:?}");
            assert!(names.contains(&name(folder.path())), "{left:?}: {names:?}");
        }
    }
}
