//! What the set-up command of a worktree made and an agent committed as it was: usually by `git add -A`, seldom on
//! purpose.
//!
//! It is reported and not refused: only a person can tell whether a file that tools made belongs to the change.

use std::collections::BTreeSet;

use crate::lock_file::manifests_of;

/// The key in a run's metadata that lists the set-up's by-products in its commits.
pub const COMMITTED_BY_PRODUCTS: &str = "committed_by_products";
/// Most paths that the record of one run lists: a folder of packages has thousands.
pub const BY_PRODUCTS_NAMED_MAX: usize = 50;

/// What is seen of a worktree when its run ends.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SetUpTraces {
    /// Paths that are unchanged since the set-up command wrote them.
    pub untouched: BTreeSet<String>,
    /// Paths that are not committed as they are.
    pub uncommitted: BTreeSet<String>,
    /// Paths that the commits of the branch change.
    pub changed: BTreeSet<String>,
}

/// Returns the set-up's by-products in the commits, without lock files whose manifest they change too.
pub fn committed_by_products(seen: &SetUpTraces) -> Vec<String> {
    let committed = seen
        .changed
        .intersection(&seen.untouched)
        .filter(|path| !seen.uncommitted.contains(*path));
    committed
        .filter(|path| !is_explained(path, &seen.changed))
        .cloned()
        .collect()
}

/// Returns whether a lock file is explained by a changed manifest beside it, or in a member of its workspace below.
fn is_explained(path: &str, changed: &BTreeSet<String>) -> bool {
    let (folder, name) = split(path);
    let Some(manifests) = manifests_of(name) else {
        return false;
    };
    changed.iter().any(|other| {
        let (at, name) = split(other);
        let below = at.strip_prefix(folder);
        let is_below =
            folder.is_empty() || below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        is_below && manifests.contains(&name)
    })
}

fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(paths: &[&str]) -> BTreeSet<String> {
        paths.iter().map(|path| (*path).to_owned()).collect()
    }

    fn decided(untouched: &[&str], uncommitted: &[&str], changed: &[&str]) -> Vec<String> {
        committed_by_products(&SetUpTraces {
            untouched: set(untouched),
            uncommitted: set(uncommitted),
            changed: set(changed),
        })
    }

    #[test]
    fn only_what_is_committed_as_the_set_up_left_it_is_a_by_product() {
        let left = ["made.txt", "pack/one.txt", "rewritten.txt"];
        let work = "src/work.rs";
        assert_eq!(decided(&left, &left, &[work]), [""; 0]);
        assert_eq!(
            decided(&left, &[], &["made.txt", "pack/one.txt", work]),
            ["made.txt", "pack/one.txt"]
        );
        // an agent changed it: it is the agent's
        assert_eq!(decided(&[], &[], &["made.txt", work]), [""; 0]);
        // committed before, and made again since
        assert_eq!(decided(&left, &["made.txt"], &["made.txt"]), [""; 0]);
    }

    #[test]
    fn a_lock_file_is_explained_by_its_manifest_only() {
        for (lock, changed, is_named) in [
            ("package-lock.json", "src/index.js", true),
            ("package-lock.json", "package.json", false),
            // a member of a workspace
            ("Cargo.lock", "crates/core/Cargo.toml", false),
            ("web/yarn.lock", "web/package.json", false),
            ("web/yarn.lock", "web/packages/ui/package.json", false),
            // another project's
            ("web/yarn.lock", "package.json", true),
            ("web/yarn.lock", "website/package.json", true),
            ("uv.lock", "package.json", true),
            ("lock.txt", "package.json", true),
        ] {
            let named = decided(&[lock], &[], &[lock, changed]);
            assert_eq!(
                named.contains(&lock.to_owned()),
                is_named,
                "{lock} {changed}"
            );
        }
    }
}
