//! The lock files of a checkout, which name the downloads that it needs. Links to all of a cache would take too long.
//!
//! Lock files come from a branch, so their text is only searched, within limits, and no link is followed.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use super::LINKS_MAX;
use super::cargo::crates_in;
use super::npm::digests_in;

/// Folders that have no lock file of the project.
const PASSED_OVER: &[&str] = &["node_modules", "target", "vendor"];

/// How deep lock files are looked for: `packages/shop/package-lock.json`.
const DEPTH_MAX: usize = 3;

/// The most folders that are looked at for lock files.
const FOLDERS_MAX: usize = 500;

/// The most bytes of one lock file; one of npm with 10,000 packages has 5 MB.
const LOCK_BYTES_MAX: u64 = 16 << 20;

/// What the lock files of a checkout name.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Locked {
    /// Crates, such as `itoa-1.0.0`; `None` where a manifest is there without a lock file, so that any may be needed.
    pub(super) crates: Option<BTreeSet<String>>,
    /// Digests of packages of npm.
    pub(super) packages: BTreeSet<Vec<u8>>,
}

impl Locked {
    /// Reads the lock files of a checkout.
    pub(super) fn of(checkout: &Path) -> Self {
        let mut locked = Self::default();
        let mut folders = vec![(checkout.to_owned(), 1)];
        let mut looked_at = 0;
        let mut has_manifest = false;
        while let Some((folder, depth)) = folders.pop() {
            looked_at += 1;
            if looked_at > FOLDERS_MAX {
                break;
            }
            has_manifest |= folder.join("Cargo.toml").symlink_metadata().is_ok();
            if let Some(text) = read(&folder.join("Cargo.lock")) {
                let crates = locked.crates.get_or_insert_default();
                crates.extend(crates_in(&text));
            }
            for name in ["npm-shrinkwrap.json", "package-lock.json"] {
                if let Some(text) = read(&folder.join(name)) {
                    locked.packages.extend(digests_in(&text));
                }
            }
            if depth < DEPTH_MAX {
                folders.extend(subfolders(&folder).map(|folder| (folder, depth + 1)));
            }
        }
        if !has_manifest {
            // a checkout without Rust: links to all crates of the user would take longer than the rest of a start
            locked.crates.get_or_insert_default();
        }
        locked
    }
}

fn subfolders(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .take(LINKS_MAX)
        // links are no folders
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .filter(|entry| {
            let name = entry.file_name();
            !name.as_encoded_bytes().starts_with(b".")
                && !PASSED_OVER.iter().any(|passed| name == *passed)
        })
        .map(|entry| entry.path())
}

fn read(lock: &Path) -> Option<String> {
    let mut options = fs::File::options();
    // a pipe in the place of a lock file must not make Symphony wait
    options
        .read(true)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let file = options.open(lock).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    file.take(LOCK_BYTES_MAX).read_to_string(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_branch_plants_in_the_place_of_a_lock_file_is_not_read() {
        let checkout = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        let text = "name = \"itoa\"\nversion = \"1.0.0\"\n";
        fs::write(outside.path().join("Cargo.lock"), text).unwrap();
        let lock = checkout.path().join("Cargo.lock");
        let crates = || Locked::of(checkout.path()).crates;
        assert_eq!(crates(), Some(BTreeSet::new()), "no Rust, no crates");
        fs::write(checkout.path().join("Cargo.toml"), "").unwrap();
        std::os::unix::fs::symlink(outside.path().join("Cargo.lock"), &lock).unwrap();
        std::os::unix::fs::symlink(outside.path(), checkout.path().join("folder")).unwrap();
        assert_eq!(crates(), None);
        fs::remove_file(&lock).unwrap();
        fs::create_dir(&lock).unwrap();
        assert_eq!(crates(), None);
        fs::remove_dir(&lock).unwrap();
        let nested = checkout.path().join("crates/shop");
        fs::create_dir_all(&nested).unwrap();
        fs::write(nested.join("Cargo.lock"), text).unwrap();
        assert_eq!(crates(), Some(["itoa-1.0.0".to_owned()].into()));
    }
}
