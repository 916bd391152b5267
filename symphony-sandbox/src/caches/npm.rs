//! npm's downloads: files named by their digests. npm looks there first for a package whose digest a lock file names.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::LINKS_MAX;
use super::item::Item;

/// What comes before a digest.
const SHA512: &str = "sha512-";

/// The length of a digest in base64.
const ENCODED: usize = 88;

/// Returns the digests in a text.
pub(super) fn digests_in(text: &str) -> impl Iterator<Item = Vec<u8>> {
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
}
