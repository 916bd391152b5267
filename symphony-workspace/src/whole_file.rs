//! Files that are written as a whole or not at all: a crash, or a `kill -9` in the middle, leaves the old file or the new one.

use std::fs::{File, Permissions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::Path;

use tempfile::NamedTempFile;

/// What begins the name of a file that is being written.
const PREFIX: &str = ".symphony-";
/// As for any new file: readable by all that the user's mask allows.
const SHARED: u32 = 0o666;
/// For the user alone.
const PRIVATE: u32 = 0o600;

/// Writes a file; one that is there is replaced, and its owner and permissions are kept.
///
/// # Errors
/// When it cannot be written; the file that was there stays unchanged.
pub fn write_whole(path: &Path, contents: impl AsRef<[u8]>) -> std::io::Result<()> {
    let mut file = file_beside(path, SHARED)?;
    file.write_all(contents.as_ref())?;
    if let Ok(before) = std::fs::metadata(path) {
        let now = file.as_file().metadata()?;
        if (now.uid(), now.gid()) != (before.uid(), before.gid()) {
            fchown(file.as_file(), Some(before.uid()), Some(before.gid()))?;
        }
        file.as_file().set_permissions(before.permissions())?;
    }
    replace(file, path)
}

/// Writes a file that only the user reads; one that is there is replaced.
///
/// # Errors
/// When it cannot be written; the file that was there stays unchanged.
pub fn write_private(path: &Path, contents: impl AsRef<[u8]>) -> std::io::Result<()> {
    let mut file = file_beside(path, PRIVATE)?;
    file.write_all(contents.as_ref())?;
    replace(file, path)
}

/// Writes a file that only the user reads, and does not wait for the disk: after a power cut the old file may be there, or
/// one without contents. For notes that lag behind what they are about.
///
/// # Errors
/// When it cannot be written; the file that was there stays unchanged.
pub(crate) fn write_note(path: &Path, contents: impl AsRef<[u8]>) -> std::io::Result<()> {
    let mut file = file_beside(path, PRIVATE)?;
    file.write_all(contents.as_ref())?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Writes a new file.
///
/// # Errors
/// When it cannot be written; of the kind `AlreadyExists` when a file is there, which stays unchanged.
pub(crate) fn write_new(path: &Path, contents: impl AsRef<[u8]>) -> std::io::Result<()> {
    let mut file = file_beside(path, SHARED)?;
    file.write_all(contents.as_ref())?;
    file.as_file().sync_all()?;
    file.persist_noclobber(path).map_err(|error| error.error)?;
    sync_folder(path)
}

fn file_beside(path: &Path, mode: u32) -> std::io::Result<NamedTempFile> {
    tempfile::Builder::new()
        .prefix(PREFIX)
        .permissions(Permissions::from_mode(mode))
        .tempfile_in(folder_of(path))
}

fn replace(file: NamedTempFile, path: &Path) -> std::io::Result<()> {
    // The contents reach the disk before the name does, else a power cut could leave an empty file.
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    sync_folder(path)
}

fn sync_folder(path: &Path) -> std::io::Result<()> {
    File::open(folder_of(path))?.sync_all()
}

fn folder_of(path: &Path) -> &Path {
    let folder = path.parent();
    let named = folder.filter(|folder| !folder.as_os_str().is_empty());
    named.unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().mode() & 0o777
    }

    #[test]
    fn a_file_is_replaced_and_keeps_its_permissions() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes");
        write_private(&path, "one").unwrap();
        assert_eq!(mode(&path), PRIVATE);
        write_whole(&path, "two").unwrap();
        assert_eq!(mode(&path), PRIVATE);
        let error = write_new(&path, "three").unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_link_is_replaced_and_what_it_leads_to_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let (link, led) = (folder.path().join("link"), folder.path().join("led"));
        std::fs::write(&led, "as it was").unwrap();
        std::os::unix::fs::symlink(&led, &link).unwrap();
        write_private(&link, "new").unwrap();
        assert_eq!(std::fs::read_to_string(&led).unwrap(), "as it was");
        assert!(!link.symlink_metadata().unwrap().is_symlink());
    }
}
