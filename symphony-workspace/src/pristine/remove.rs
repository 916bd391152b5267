//! Removing a tree that commands of the project wrote.

use std::fs::{self, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Removes a folder with everything below it; returns whether it was there. Folders that a command
/// made read-only, as Go's module cache does, are made writable.
///
/// # Errors
/// When something cannot be removed.
pub(super) fn remove_tree(path: &Path) -> io::Result<bool> {
    match fs::remove_dir_all(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            make_writable(path)?;
            fs::remove_dir_all(path)?;
            Ok(true)
        }
        Err(error) => Err(error),
    }
}

/// Gives the owner every right on the folders of a tree; no link is followed.
fn make_writable(path: &Path) -> io::Result<()> {
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        let mode = fs::symlink_metadata(&folder)?.permissions().mode();
        fs::set_permissions(&folder, Permissions::from_mode(mode | 0o700))?;
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_only_folders_go_too() {
        let folder = tempfile::tempdir().unwrap();
        let tree = folder.path().join("tree");
        fs::create_dir_all(tree.join("a/b")).unwrap();
        fs::write(tree.join("a/b/file"), "x").unwrap();
        for path in ["a/b", "a"] {
            fs::set_permissions(tree.join(path), Permissions::from_mode(0o555)).unwrap();
        }
        assert!(remove_tree(&tree).unwrap());
        assert!(!tree.exists());
        assert!(!remove_tree(&tree).unwrap());
    }
}
