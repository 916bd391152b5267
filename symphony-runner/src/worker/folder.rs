//! Which folder a worker works in, told apart from every other one, also from a copy of it on another machine.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use symphony_store::new_installation_id;

use crate::error::RunnerError;

/// The file with the folder's own id.
const FILE: &str = "id";
/// An id of this machine that stays. It is missing in some containers.
const MACHINE: &str = "/etc/machine-id";

/// Returns the name of a folder, which stays as long as the folder does.
///
/// # Errors
/// When its id cannot be read or written.
pub(super) fn name_of_folder(folder: &Path) -> Result<String, RunnerError> {
    let path = folder.join(FILE);
    let id = match std::fs::read_to_string(&path) {
        Ok(id) => id,
        Err(error) if error.kind() == ErrorKind::NotFound => new_id(&path)?,
        Err(error) => return Err(RunnerError::io("read", path, error)),
    };
    if id.trim().is_empty() {
        return Err(RunnerError::refused(format!(
            "{} is empty, but has to name the folder: remove it, and start the worker again",
            path.display()
        )));
    }
    let machine = std::fs::read_to_string(MACHINE).unwrap_or_default();
    Ok(format!("{}:{}", id.trim(), machine.trim()))
}

/// Writes an id, which is another worker's that does the same at the same moment and is faster.
fn new_id(path: &Path) -> Result<String, RunnerError> {
    let id = new_installation_id().to_string();
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path);
    let written = match file {
        Ok(mut file) => file.write_all(id.as_bytes()).map(|()| id),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => std::fs::read_to_string(path),
        Err(error) => Err(error),
    };
    written.map_err(|error| RunnerError::io("write", path, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_folder_has_a_name_that_stays() {
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let name = |folder: &Path| name_of_folder(folder).unwrap();
        assert_eq!(name(one.path()), name(&one.path().join(".")));
        assert_ne!(name(one.path()), name(other.path()));
        name_of_folder(&one.path().join("missing")).unwrap_err();
        std::fs::write(other.path().join(FILE), "\n").unwrap();
        let error = name_of_folder(other.path()).unwrap_err().to_string();
        assert!(error.contains("is empty"), "{error}");
    }
}
