//! The folder that an agent works in: made, found and removed, never through a link (sections 9.2 and 9.5).

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use symphony_workflow::workspace::{WorkspaceFault, WorkspaceKey, check_contained};

/// Why there is no workspace.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FolderFault {
    /// The identifier makes no name, or the folder would be elsewhere.
    #[error(transparent)]
    Name(#[from] WorkspaceFault),
    /// Something else has its place.
    #[error("{} is {found}, not a folder: move it away, and the next attempt creates the folder", path.display())]
    Occupied {
        /// The place.
        path: PathBuf,
        /// What is there.
        found: &'static str,
    },
    /// The system refuses.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// With what.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
}

/// The folder of a ticket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Folder {
    /// The folder of all workspaces: absolute, without links.
    pub(crate) root: PathBuf,
    /// The ticket's, below it.
    pub(crate) path: PathBuf,
    /// Whether it was made now.
    pub(crate) created_now: bool,
}

fn failed(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> FolderFault {
    let path = path.to_owned();
    move |source| FolderFault::Io {
        action,
        path,
        source,
    }
}

/// Finds the folder of a ticket, or makes it. `unfinished` is where a mark is kept while a new folder is filled: one whose
/// hook was cut off is made from the beginning.
///
/// # Errors
/// When something else has its place, or the system refuses.
pub(crate) fn prepare(
    root: &Path,
    identifier: &str,
    unfinished: &Path,
) -> Result<Folder, FolderFault> {
    fs::create_dir_all(root).map_err(failed("create", root))?;
    let root = root.canonicalize().map_err(failed("open", root))?;
    let key = WorkspaceKey::of(identifier)?;
    let path = key.folder(&root);
    check_contained(&path, &root)?;
    let mark = unfinished.join(key.as_str());
    if mark.exists() {
        remove_tree(&path)?;
    }
    let created_now = match kind_of(&path)? {
        Some("a folder") => false,
        Some(found) => return Err(FolderFault::Occupied { path, found }),
        None => {
            fs::create_dir_all(unfinished).map_err(failed("create", unfinished))?;
            fs::write(&mark, "").map_err(failed("write", &mark))?;
            let mut builder = fs::DirBuilder::new();
            builder.mode(0o755);
            builder.create(&path).map_err(failed("create", &path))?;
            true
        }
    };
    Ok(Folder {
        root,
        path,
        created_now,
    })
}

/// Records that a new folder is complete.
///
/// # Errors
/// When the system refuses.
pub(crate) fn complete(identifier: &str, unfinished: &Path) -> Result<(), FolderFault> {
    let mark = unfinished.join(WorkspaceKey::of(identifier)?.as_str());
    match fs::remove_file(&mark) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(failed("remove", &mark)(error))
        }
        _ => Ok(()),
    }
}

/// Finds the folder of a ticket, and makes none. `None` where there is no folder, and where a link or a file has its place:
/// that is not the service's.
///
/// # Errors
/// When the identifier makes no name, or the system refuses.
pub(crate) fn find(root: &Path, identifier: &str) -> Result<Option<Folder>, FolderFault> {
    let key = WorkspaceKey::of(identifier)?;
    let root = match root.canonicalize() {
        Ok(root) => root,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed("open", root)(error)),
    };
    let path = key.folder(&root);
    check_contained(&path, &root)?;
    let is_folder = kind_of(&path)? == Some("a folder");
    Ok(is_folder.then_some(Folder {
        root,
        path,
        created_now: false,
    }))
}

/// Removes a folder with all that is in it. Links in it are removed, and what they lead to stays.
///
/// # Errors
/// When the system refuses.
pub(crate) fn remove_tree(path: &Path) -> Result<(), FolderFault> {
    let remove = || match kind_of(path) {
        Ok(Some("a folder")) => fs::remove_dir_all(path),
        _ => Ok(()),
    };
    if remove().is_ok() {
        return Ok(());
    }
    // caches of toolchains make their folders read-only
    open_up(path, 0).map_err(failed("remove", path))?;
    remove().map_err(failed("remove", path))
}

/// How deep folders are opened up: deeper than any path that the system takes at once.
const DEPTH_MAX: usize = 2048;

fn open_up(folder: &Path, depth: usize) -> io::Result<()> {
    let meta = fs::symlink_metadata(folder)?;
    if !meta.is_dir() || depth > DEPTH_MAX {
        return Ok(());
    }
    if meta.mode() & 0o700 != 0o700 {
        fs::set_permissions(folder, fs::Permissions::from_mode(meta.mode() | 0o700))?;
    }
    for entry in fs::read_dir(folder)? {
        open_up(&entry?.path(), depth + 1)?;
    }
    Ok(())
}

/// Says what is at a path, without following a link.
fn kind_of(path: &Path) -> Result<Option<&'static str>, FolderFault> {
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() => Ok(Some("a folder")),
        Ok(meta) if meta.is_symlink() => Ok(Some("a symbolic link")),
        Ok(meta) if meta.is_file() => Ok(Some("a file")),
        Ok(_) => Ok(Some("no regular file")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed("look at", path)(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    struct Place {
        _folder: tempfile::TempDir,
        root: PathBuf,
        marks: PathBuf,
        outside: PathBuf,
    }

    fn place() -> Place {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let outside = base.join("outside");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("precious"), "x").unwrap();
        Place {
            root: base.join("a/work"),
            marks: base.join("marks"),
            outside,
            _folder: folder,
        }
    }

    #[test]
    fn a_missing_folder_is_made_and_an_existing_one_is_used_again() {
        let place = place();
        let first = prepare(&place.root, "AB/1", &place.marks).unwrap();
        assert!(first.created_now);
        assert_eq!(first.path, place.root.join("AB_1"));
        complete("AB/1", &place.marks).unwrap();
        fs::write(first.path.join("kept"), "x").unwrap();
        let second = prepare(&place.root, "AB/1", &place.marks).unwrap();
        assert!(!second.created_now && second.path.join("kept").exists());
        assert_eq!(find(&place.root, "AB/1").unwrap(), Some(second));
        assert_eq!(find(&place.root, "AB-2").unwrap(), None);
    }

    #[test]
    fn a_folder_whose_filling_was_cut_off_is_made_from_the_beginning() {
        let place = place();
        let first = prepare(&place.root, "A-1", &place.marks).unwrap();
        fs::write(first.path.join("half"), "x").unwrap();
        let second = prepare(&place.root, "A-1", &place.marks).unwrap();
        assert!(second.created_now && !second.path.join("half").exists());
    }

    #[test]
    fn what_is_no_folder_is_left_alone() {
        let place = place();
        fs::create_dir_all(&place.root).unwrap();
        symlink(&place.outside, place.root.join("L-1")).unwrap();
        fs::write(place.root.join("F-1"), "mine").unwrap();
        for (identifier, expected) in [("L-1", "a symbolic link"), ("F-1", "a file")] {
            let error = prepare(&place.root, identifier, &place.marks).unwrap_err();
            assert!(error.to_string().contains(expected), "{error}");
            assert_eq!(find(&place.root, identifier).unwrap(), None);
            remove_tree(&place.root.join(identifier)).unwrap();
        }
        assert!(place.outside.join("precious").exists());
        assert!(place.root.join("F-1").exists() && place.root.join("L-1").exists());
    }

    #[test]
    fn a_removal_follows_no_link_and_opens_read_only_folders() {
        let place = place();
        let folder = prepare(&place.root, "A-1", &place.marks).unwrap().path;
        symlink(&place.outside, folder.join("out")).unwrap();
        let cache = folder.join("cache/deep");
        fs::create_dir_all(&cache).unwrap();
        fs::write(cache.join("file"), "x").unwrap();
        for closed in [&cache, &folder.join("cache")] {
            fs::set_permissions(closed, fs::Permissions::from_mode(0o555)).unwrap();
        }
        remove_tree(&folder).unwrap();
        assert!(!folder.exists() && place.outside.join("precious").exists());
        remove_tree(&folder).unwrap();
    }
}
