//! The files of `/etc` that every sandbox shows, copied into one folder: a start then mounts one folder and not thirty
//! files. bubblewrap reads the whole list of mounts for each, which was the most part of a start.
//!
//! The name of the folder follows from how the originals look, so that a change of one makes another folder.

use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::system::is_in_system;

/// The most files of all; a system has some hundreds.
const FILES_MAX: usize = 20_000;

/// The most bytes of all.
const BYTES_MAX: u64 = 64 << 20;

/// The most entries of a folder whose files are looked at one by one for changes. In larger ones, such as those of
/// certificates, files are replaced and not written, which shows in the folder.
const LOOKED_AT_MAX: usize = 64;

/// How long a folder stays that is no longer used: what started with it may still be there.
const OLD: Duration = Duration::from_hours(30 * 24);

/// The file `/etc/resolv.conf` of a sandbox with a network of its own. Nothing answers there, and programs that ask have to
/// notice that soon.
pub const RESOLVER: &str = "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n";

/// The file `/etc/hosts` there.
pub const HOSTS: &str = "127.0.0.1 localhost\n::1 localhost\n";

/// Files that are a sandbox's own, with their text. With the machine's network, the machine's are mounted over them.
const OWN: [(&str, &str); 2] = [("hosts", HOSTS), ("resolv.conf", RESOLVER)];

/// Returns a folder with copies of files and folders below `/etc`, in the folder `below`; makes it if there is none.
pub(super) fn gathered(paths: &[PathBuf], below: &Path) -> io::Result<PathBuf> {
    let name = format!("etc-{:016x}", mark(paths));
    let folder = below.join(&name);
    if folder.is_dir() {
        return Ok(folder);
    }
    let making = |path: &Path| {
        let mut builder = fs::DirBuilder::new();
        builder.mode(0o755).recursive(true).create(path)
    };
    making(below)?;
    let new = tempfile::Builder::new()
        .prefix(&format!("{name}."))
        .tempdir_in(below)?;
    let root = new.path().join("etc");
    making(&root)?;
    let mut left = Left {
        files: FILES_MAX,
        bytes: BYTES_MAX,
    };
    for path in paths {
        let Ok(name) = path.strip_prefix("/etc") else {
            continue;
        };
        let to = root.join(name);
        if let Some(parent) = to.parent() {
            making(parent)?;
        }
        copy_shown(path, &to, &mut left)?;
    }
    for (name, text) in OWN {
        fs::write(root.join(name), text)?;
    }
    match fs::rename(&root, &folder) {
        // another process made it meanwhile
        Err(_) if folder.is_dir() => {}
        other => other?,
    }
    remove_old(below, OsStr::new(&name));
    Ok(folder)
}

/// What may still be copied.
struct Left {
    files: usize,
    bytes: u64,
}

/// Copies a file or folder. A link stays one where a sandbox shows what it leads to.
fn copy_shown(from: &Path, to: &Path, left: &mut Left) -> io::Result<()> {
    let real = from.canonicalize()?;
    if from.is_symlink() && is_in_system(&real) {
        return symlink(real, to);
    }
    copy(&real, to, left)
}

fn copy(from: &Path, to: &Path, left: &mut Left) -> io::Result<()> {
    let meta = from.symlink_metadata()?;
    let too_much = || io::Error::other("there is too much in /etc");
    left.files = left.files.checked_sub(1).ok_or_else(too_much)?;
    if meta.is_symlink() {
        return symlink(fs::read_link(from)?, to);
    }
    if meta.is_file() {
        left.bytes = left.bytes.checked_sub(meta.len()).ok_or_else(too_much)?;
        return match fs::copy(from, to) {
            // it could not be read inside either
            Err(error) if error.kind() == ErrorKind::PermissionDenied => Ok(()),
            other => other.map(drop),
        };
    }
    if meta.is_dir() {
        fs::create_dir(to)?;
        let entries = match fs::read_dir(from) {
            Err(error) if error.kind() == ErrorKind::PermissionDenied => return Ok(()),
            other => other?,
        };
        for entry in entries {
            let entry = entry?;
            copy(&entry.path(), &to.join(entry.file_name()), left)?;
        }
    }
    Ok(())
}

/// Returns a number that changes with the files.
fn mark(paths: &[PathBuf]) -> u64 {
    let mut hasher = DefaultHasher::new();
    OWN.hash(&mut hasher);
    for path in paths {
        path.hash(&mut hasher);
        hash_link(path, &mut hasher);
        let Ok(meta) = path.metadata() else {
            continue;
        };
        hash_look(&meta, &mut hasher);
        if meta.is_dir() {
            hash_entries(path, &mut hasher);
        }
    }
    hasher.finish()
}

fn hash_link(path: &Path, hasher: &mut DefaultHasher) {
    if let Ok(target) = fs::read_link(path) {
        target.hash(hasher);
    }
}

fn hash_entries(folder: &Path, hasher: &mut DefaultHasher) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries
        .take(LOOKED_AT_MAX + 1)
        .map(|entry| entry.path())
        .collect();
    if paths.len() > LOOKED_AT_MAX {
        return;
    }
    paths.sort_unstable();
    for path in paths {
        path.hash(hasher);
        if let Ok(meta) = path.symlink_metadata() {
            hash_look(&meta, hasher);
        }
    }
}

fn hash_look(meta: &Metadata, hasher: &mut DefaultHasher) {
    (meta.dev(), meta.ino(), meta.size()).hash(hasher);
    (meta.mtime(), meta.mtime_nsec()).hash(hasher);
    (meta.ctime(), meta.ctime_nsec()).hash(hasher);
}

/// Removes what was made long ago, also by a process that died.
fn remove_old(below: &Path, used: &OsStr) {
    let entries = fs::read_dir(below).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name() != used) {
        let made = entry.metadata().and_then(|meta| meta.modified());
        let age = made.map(|made| SystemTime::now().duration_since(made).unwrap_or_default());
        if age.is_ok_and(|age| age > OLD) {
            // the next one tries again
            drop(fs::remove_dir_all(entry.path()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_the_files_of_the_machine_and_is_made_once() {
        let below = tempfile::tempdir().unwrap();
        let paths: Vec<PathBuf> = [
            "/etc/passwd",
            "/etc/nsswitch.conf",
            "/etc/os-release",
            "/etc/ssl/certs",
        ]
        .iter()
        .map(PathBuf::from)
        .filter(|path| path.exists())
        .collect();
        let folder = gathered(&paths, below.path()).unwrap();
        for path in &paths {
            let copy = folder.join(path.strip_prefix("/etc").unwrap());
            if path.is_file() {
                assert_eq!(
                    fs::read(&copy).unwrap(),
                    fs::read(path).unwrap(),
                    "{path:?}"
                );
            } else {
                let count = |path: &Path| fs::read_dir(path).unwrap().count();
                assert_eq!(count(&copy), count(path), "{path:?}");
            }
        }
        for (name, text) in OWN {
            assert_eq!(fs::read_to_string(folder.join(name)).unwrap(), text);
        }
        assert!(!folder.join("shadow").exists());
        assert_eq!(gathered(&paths, below.path()).unwrap(), folder);
        assert_eq!(fs::read_dir(below.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_change_of_a_file_makes_another_folder() {
        let folder = tempfile::tempdir().unwrap();
        let (file, inner) = (folder.path().join("file"), folder.path().join("d/inner"));
        fs::create_dir(folder.path().join("d")).unwrap();
        let paths = [file.clone(), folder.path().join("d")];
        let mut seen = vec![mark(&paths)];
        for (path, text) in [(&file, "a"), (&file, "ab"), (&inner, "a"), (&inner, "ab")] {
            fs::write(path, text).unwrap();
            let now = mark(&paths);
            assert!(!seen.contains(&now), "{path:?} {text}");
            assert_eq!(now, mark(&paths));
            seen.push(now);
        }
    }
}
