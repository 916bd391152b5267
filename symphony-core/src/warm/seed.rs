//! What of a generation a checkout of a certain commit starts with.

use super::choice::ColdReason;
use super::folder::FOLDERS;
use super::touch::Change;

/// How far the clock must be past the newest file of a generation, in milliseconds: file systems without fractions of a
/// second round times up to two seconds.
pub const CLOCK_GRAIN_MS: i64 = 2_100;

/// What is known about a generation and a commit.
#[derive(Debug, Clone, Copy)]
pub struct SeedFacts<'a> {
    /// The names of the folders that the generation has.
    pub folders: &'a [String],
    /// The files that differ between the generation's commit and this one.
    pub changes: &'a [Change],
    /// Entries of either commit whose path is that of a kept folder, or below one.
    pub tracked_in_kept: &'a [String],
    /// The newest time of a file in the generation, in milliseconds.
    pub newest_ms: i64,
    /// The time.
    pub now_ms: i64,
}

/// What a checkout starts with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeedPlan {
    /// The names of the folders that it keeps.
    pub keep: Vec<&'static str>,
}

/// Decides what a checkout starts with.
///
/// # Errors
/// When it must start with nothing but the files of its commit.
pub fn plan_seed(facts: SeedFacts<'_>) -> Result<SeedPlan, ColdReason> {
    // Names of build output can be guessed at a canonical path. A commit that has one could bring a forged binary.
    if let Some(path) = facts.tracked_in_kept.first() {
        let folder = path.split('/').next().unwrap_or(path).to_owned();
        return Err(ColdReason::TracksKept { folder });
    }
    // A file that git writes now must be newer than the build, or cargo takes the old output for it.
    if facts.now_ms.saturating_sub(facts.newest_ms) < CLOCK_GRAIN_MS {
        return Err(ColdReason::ClockBehind);
    }
    let fits = |name: &str| facts.folders.iter().any(|known| known == name);
    let keep: Vec<&'static str> = FOLDERS
        .iter()
        .filter(|folder| fits(folder.name))
        .filter(|folder| {
            let mut changes = facts.changes.iter();
            !changes.any(|change| folder.is_decided_by(change.path()))
        })
        .map(|folder| folder.name)
        .collect();
    if keep.is_empty() {
        return Err(ColdReason::NothingKept);
    }
    Ok(SeedPlan { keep })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn planned(
        folders: &[&str],
        changes: &[Change],
        tracked_in_kept: &[&str],
        now_ms: i64,
    ) -> Result<Vec<&'static str>, ColdReason> {
        let owned = |names: &[&str]| -> Vec<String> {
            names.iter().map(|name| (*name).to_owned()).collect()
        };
        plan_seed(SeedFacts {
            folders: &owned(folders),
            changes,
            tracked_in_kept: &owned(tracked_in_kept),
            newest_ms: 1_000_000,
            now_ms,
        })
        .map(|plan| plan.keep)
    }

    const LATER: i64 = 1_000_000 + CLOCK_GRAIN_MS;

    #[test]
    fn folders_are_kept_as_far_as_the_change_allows_it() {
        let modified = |path: &str| Change::Modified(path.to_owned());
        let all = ["target", "node_modules", ".venv"];
        for (changes, expected) in [
            (vec![], Ok(vec!["target", "node_modules", ".venv"])),
            (
                vec![modified("Cargo.lock"), modified("src/lib.rs")],
                Ok(vec!["target", "node_modules", ".venv"]),
            ),
            (vec![modified("package.json")], Ok(vec!["target", ".venv"])),
            (
                vec![Change::Deleted("uv.lock".to_owned())],
                Ok(vec!["target", "node_modules"]),
            ),
        ] {
            assert_eq!(planned(&all, &changes, &[], LATER), expected, "{changes:?}");
        }
        let lock = [Change::Added("package-lock.json".to_owned())];
        assert_eq!(
            planned(&["node_modules"], &lock, &[], LATER),
            Err(ColdReason::NothingKept)
        );
        assert_eq!(planned(&[], &[], &[], LATER), Err(ColdReason::NothingKept));
    }

    #[test]
    fn a_commit_with_files_in_a_kept_folder_goes_cold() {
        for path in ["target", "target/debug/deps/it-0011", ".venv/bin/python"] {
            let folder = path.split('/').next().unwrap().to_owned();
            assert_eq!(
                planned(&["target", ".venv"], &[], &[path], LATER),
                Err(ColdReason::TracksKept { folder })
            );
        }
    }

    #[test]
    fn a_clock_that_is_not_clearly_past_the_build_goes_cold() {
        for (now, is_warm) in [
            (0, false),
            (1_000_000, false),
            (LATER - 1, false),
            (LATER, true),
            (i64::MAX, true),
            (i64::MIN, false),
        ] {
            let found = planned(&["target"], &[], &[], now);
            assert_eq!(found.is_ok(), is_warm, "{now}");
        }
    }

    proptest! {
        #[test]
        fn no_folder_is_kept_that_a_change_decides(
            names in proptest::collection::vec("(package.json|uv.lock|Cargo.lock|src/a.rs|a/b.patch)", 0..4),
        ) {
            let changes: Vec<Change> = names.into_iter().map(Change::Deleted).collect();
            if let Ok(kept) = planned(&["target", "node_modules", ".venv"], &changes, &[], LATER) {
                for folder in FOLDERS.iter().filter(|folder| kept.contains(&folder.name)) {
                    prop_assert!(!changes.iter().any(|change| folder.is_decided_by(change.path())));
                }
            }
        }
    }
}
