//! npm's downloads: files named by their digests. npm looks there first for a package whose digest a lock file names. Links to all files of a
//! cache would take too long, so only those that the checkout's lock files name are linked.
//!
//! Lock files come from a branch, so their text is only searched for digests, within limits, and no link is followed.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::{Item, LINKS_MAX};

/// Names of files with digests of packages.
const LOCKS: &[&str] = &["npm-shrinkwrap.json", "package-lock.json"];

/// Folders that have no lock file of the project.
const PASSED_OVER: &[&str] = &["node_modules", "target", "vendor"];

/// How deep lock files are looked for: `packages/shop/package-lock.json`.
const DEPTH_MAX: usize = 3;

/// The most folders that are looked at for lock files.
const FOLDERS_MAX: usize = 500;

/// The most bytes of one lock file; one with 10,000 packages has 5 MB.
const LOCK_BYTES_MAX: u64 = 16 << 20;

/// What comes before a digest.
const SHA512: &str = "sha512-";

/// The length of a digest in base64.
const ENCODED: usize = 88;

/// Returns the digests that the lock files of a checkout name.
pub(super) fn digests_of(checkout: &Path) -> BTreeSet<Vec<u8>> {
    let mut digests = BTreeSet::new();
    let mut folders = vec![(checkout.to_owned(), 1)];
    let mut looked_at = 0;
    while let Some((folder, depth)) = folders.pop() {
        looked_at += 1;
        if looked_at > FOLDERS_MAX {
            break;
        }
        for name in LOCKS {
            if let Some(text) = read(&folder.join(name)) {
                digests.extend(digests_in(&text));
            }
        }
        if depth < DEPTH_MAX {
            folders.extend(subfolders(&folder).map(|folder| (folder, depth + 1)));
        }
    }
    digests
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

/// Returns the digests in a text.
fn digests_in(text: &str) -> impl Iterator<Item = Vec<u8>> {
    text.match_indices(SHA512).filter_map(|(at, _)| {
        let start = at + SHA512.len();
        STANDARD.decode(text.get(start..start + ENCODED)?).ok()
    })
}

/// Returns the paths of what the cache has of these packages.
pub(super) fn contents(
    digests: &BTreeSet<Vec<u8>>,
    is_there: impl Fn(&Path) -> bool,
) -> Vec<PathBuf> {
    let paths = digests.iter().map(|digest| path_of(digest));
    paths
        .filter(|path| is_there(path))
        .take(LINKS_MAX)
        .collect()
}

/// Returns the path of a file in the cache: `sha512/ab/cd/…`.
fn path_of(digest: &[u8]) -> PathBuf {
    let mut path = String::from("sha512");
    for (at, byte) in digest.iter().enumerate() {
        if at <= 2 {
            path.push('/');
        }
        write!(path, "{byte:02x}").expect("a string can be written to");
    }
    PathBuf::from(path)
}

/// Returns what the sandbox's own cache has.
pub(super) fn items(contents: &[PathBuf], seen: &Path) -> Vec<Item> {
    let place = Path::new(".npm/_cacache/content-v2");
    let link = |path: &PathBuf| Item::link(place.join(path), seen.join(path));
    contents.iter().map(link).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_file_names_the_files_of_a_cache() {
        let digest = [0xab; 64];
        let encoded = STANDARD.encode(digest);
        let expected = format!("sha512/ab/ab/{}", "ab".repeat(62));
        for (text, found) in [
            (format!("\"integrity\": \"sha512-{encoded}\""), true),
            (format!("sha512-{encoded} sha512-{encoded}"), true),
            (format!("sha512-{}", encoded.get(..80).unwrap()), false),
            (format!("sha1-{encoded}"), false),
            (format!("sha512-../../{encoded}"), false),
            ("sha512-".to_owned(), false),
            (format!("sha512-ä{encoded}"), false),
        ] {
            let digests = digests_in(&text).collect();
            let paths = contents(&digests, |_| true);
            let expected = found.then(|| PathBuf::from(&expected));
            assert_eq!(paths, Vec::from_iter(expected), "{text}");
        }
    }

    #[test]
    fn what_a_branch_plants_in_the_place_of_a_lock_file_is_not_read() {
        let checkout = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        let text = format!("sha512-{}", STANDARD.encode([7; 64]));
        fs::write(outside.path().join("package-lock.json"), &text).unwrap();
        let lock = checkout.path().join("package-lock.json");
        let planted = || !digests_of(checkout.path()).is_empty();
        std::os::unix::fs::symlink(outside.path().join("package-lock.json"), &lock).unwrap();
        std::os::unix::fs::symlink(outside.path(), checkout.path().join("folder")).unwrap();
        assert!(!planted());
        fs::remove_file(&lock).unwrap();
        fs::create_dir(&lock).unwrap();
        assert!(!planted());
        fs::remove_dir(&lock).unwrap();
        let nested = checkout.path().join("packages/shop");
        fs::create_dir_all(&nested).unwrap();
        fs::write(nested.join("package-lock.json"), &text).unwrap();
        assert!(planted());
    }
}
