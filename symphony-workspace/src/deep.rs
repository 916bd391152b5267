//! Removing a folder whatever its depth: relative to a folder that is open, with a few open folders at a time, so that
//! neither the longest path that the kernel takes nor the number of open files is a limit.

use std::ffi::{CString, OsStr};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, chmodat, fstat, open, openat, statat, unlinkat,
};
use rustix::io::Errno;

/// The longest path that the kernel takes: what is further away cannot be named by git, nor by a person.
pub(crate) const PATH_BYTES_MAX: usize = 4096;

/// What is done in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
    /// Everything is removed.
    Remove,
    /// A file whose path has at least this many bytes ends the look.
    Look(usize),
}

/// A folder that the walk is in.
struct Level {
    name: CString,
    /// Device and inode: it is this folder that the walk returns to.
    id: (u64, u64),
    /// Folders in it that are left to do.
    folders: Vec<CString>,
}

/// Removes a folder with everything below it; returns whether it was there. A link in its place is not followed.
/// Folders that may not be written are made writable.
///
/// # Errors
/// When something cannot be removed, or another process works there.
pub fn remove_deep(path: &Path) -> io::Result<bool> {
    let Some((fd, level)) = begin(path, Work::Remove)? else {
        return Ok(false);
    };
    walk(fd, level, path.as_os_str().len(), Work::Remove)?;
    std::fs::remove_dir(path)?;
    Ok(true)
}

/// Returns a file below a folder whose path has at least this many bytes, if there is one.
pub(crate) fn find_file(path: &Path, bytes_min: usize) -> io::Result<Option<PathBuf>> {
    let work = Work::Look(bytes_min);
    let Some((fd, level)) = begin(path, work)? else {
        return Ok(None);
    };
    walk(fd, level, path.as_os_str().len(), work)
}

fn folder_flags() -> OFlags {
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC
}

fn begin(path: &Path, work: Work) -> io::Result<Option<(OwnedFd, Level)>> {
    if work == Work::Remove && path.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700))?;
    }
    match open(path, folder_flags(), Mode::empty()) {
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
        Ok(fd) => level(fd, CString::default()).map(Some),
    }
}

fn level(fd: OwnedFd, name: CString) -> io::Result<(OwnedFd, Level)> {
    let id = id_of(&fd)?;
    let folders = Vec::new();
    Ok((fd, Level { name, id, folders }))
}

fn id_of(fd: impl AsFd) -> io::Result<(u64, u64)> {
    let stat = fstat(fd)?;
    Ok((stat.st_dev, stat.st_ino))
}

/// Opens a folder in another one. One that is removed gets the rights first that this takes.
fn enter(parent: &OwnedFd, name: CString, work: Work) -> io::Result<(OwnedFd, Level)> {
    if work == Work::Remove {
        // a link is not followed: it cannot be given rights, and cannot be opened either
        let stat = statat(parent, &name, AtFlags::SYMLINK_NOFOLLOW)?;
        let is_folder = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
        if is_folder && stat.st_mode & Mode::RWXU.as_raw_mode() != Mode::RWXU.as_raw_mode() {
            chmodat(parent, &name, Mode::RWXU, AtFlags::empty())?;
        }
    }
    let fd = openat(parent, &name, folder_flags(), Mode::empty())?;
    level(fd, name)
}

fn walk(
    mut fd: OwnedFd,
    mut at: Level,
    mut length: usize,
    work: Work,
) -> io::Result<Option<PathBuf>> {
    let mut above: Vec<Level> = Vec::new();
    if let Some(file) = look_through(&fd, &mut at, length, work)? {
        return Ok(Some(path_of(&above, &at, &file)));
    }
    loop {
        if let Some(name) = at.folders.pop() {
            length += name.as_bytes().len() + 1;
            let (inner, level) = enter(&fd, name, work)?;
            fd = inner;
            above.push(std::mem::replace(&mut at, level));
            if let Some(file) = look_through(&fd, &mut at, length, work)? {
                return Ok(Some(path_of(&above, &at, &file)));
            }
            continue;
        }
        let Some(parent) = above.pop() else {
            return Ok(None);
        };
        let up = openat(&fd, "..", folder_flags(), Mode::empty())?;
        if id_of(&up)? != parent.id {
            return Err(io::Error::other(
                "a folder was moved while it was being removed: another process is working there",
            ));
        }
        length -= at.name.as_bytes().len() + 1;
        if work == Work::Remove {
            unlinkat(&up, &at.name, AtFlags::REMOVEDIR)?;
        }
        (fd, at) = (up, parent);
    }
}

/// Reads a folder: removes its files, or finds one that is too far away, and notes its folders.
fn look_through(
    fd: &OwnedFd,
    at: &mut Level,
    length: usize,
    work: Work,
) -> io::Result<Option<CString>> {
    let entries = Dir::read_from(fd)?;
    let mut files = Vec::new();
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        if is_folder(fd, &entry)? {
            at.folders.push(name.to_owned());
        } else {
            files.push(name.to_owned());
        }
    }
    for name in files {
        match work {
            Work::Look(min) if length + 1 + name.as_bytes().len() >= min => {
                return Ok(Some(name));
            }
            Work::Look(_) => {}
            Work::Remove => unlinkat(fd, &name, AtFlags::empty())?,
        }
    }
    Ok(None)
}

fn is_folder(fd: &OwnedFd, entry: &rustix::fs::DirEntry) -> io::Result<bool> {
    Ok(match entry.file_type() {
        FileType::Directory => true,
        // some file systems do not say
        FileType::Unknown => {
            let stat = statat(fd, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW)?;
            FileType::from_raw_mode(stat.st_mode) == FileType::Directory
        }
        _ => false,
    })
}

fn path_of(above: &[Level], at: &Level, file: &CString) -> PathBuf {
    let names = above
        .iter()
        .map(|level| &level.name)
        .chain([&at.name, file]);
    let names = names.filter(|name| !name.as_bytes().is_empty());
    names
        .map(|name| OsStr::from_bytes(name.as_bytes()))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    /// Makes folders in one another; returns the innermost.
    fn nest(folder: &Path, depth: usize) -> OwnedFd {
        let mut fd = open(folder, folder_flags(), Mode::empty()).unwrap();
        for _ in 0..depth {
            rustix::fs::mkdirat(&fd, "dd", Mode::RWXU).unwrap();
            fd = openat(&fd, "dd", folder_flags(), Mode::empty()).unwrap();
        }
        fd
    }

    #[test]
    fn a_tree_that_no_path_can_name_is_removed_and_its_files_are_found_before() {
        let folder = tempfile::tempdir().unwrap();
        let tree = folder.path().join("tree");
        fs::create_dir(&tree).unwrap();
        fs::write(tree.join("near.txt"), "x").unwrap();
        let inner = nest(&tree, 5_000);
        assert_eq!(find_file(&tree, PATH_BYTES_MAX).unwrap(), None);
        assert!(find_file(&tree, 0).unwrap().unwrap().ends_with("near.txt"));
        let flags = OFlags::CREATE | OFlags::WRONLY;
        drop(openat(&inner, "far.txt", flags, Mode::RWXU).unwrap());
        let far = find_file(&tree, PATH_BYTES_MAX).unwrap().unwrap();
        assert_eq!(far.components().count(), 5_001);
        assert!(far.ends_with("far.txt"));
        assert!(remove_deep(&tree).unwrap());
        assert!(!tree.exists());
        assert!(!remove_deep(&tree).unwrap());
    }

    #[test]
    fn links_are_not_followed_and_folders_that_may_not_be_read_go_too() {
        let folder = tempfile::tempdir().unwrap();
        let (tree, other) = (folder.path().join("tree"), folder.path().join("other"));
        fs::create_dir_all(tree.join("a/b")).unwrap();
        fs::create_dir(&other).unwrap();
        fs::write(other.join("kept.txt"), "x").unwrap();
        fs::write(tree.join("a/b/file"), "x").unwrap();
        symlink(&other, tree.join("link")).unwrap();
        for path in ["a/b", "a"] {
            fs::set_permissions(tree.join(path), fs::Permissions::from_mode(0o000)).unwrap();
        }
        assert!(remove_deep(&tree).unwrap());
        assert!(other.join("kept.txt").exists());
        symlink(&other, &tree).unwrap();
        assert!(remove_deep(&tree).is_err());
        assert!(other.join("kept.txt").exists());
    }
}
