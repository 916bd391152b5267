//! The files whose times must be newer than the build that a checkout starts with.
//!
//! cargo compares times for what a compiler or a build script declared that it read. A build script that declares one file
//! and reads another, and a macro that reads a file or lists a folder, leave stale output without a sign. So each change
//! also touches what may have read it.

use std::collections::BTreeSet;

use super::path::file_name;

/// A file that differs between two commits. A renamed one is deleted and added.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// The later commit has it, the earlier one does not.
    Added(String),
    /// Both have it, with other contents or another mode.
    Modified(String),
    /// The earlier commit has it, the later one does not.
    Deleted(String),
}

impl Change {
    /// Returns its path.
    pub fn path(&self) -> &str {
        match self {
            Self::Added(path) | Self::Modified(path) | Self::Deleted(path) => path,
        }
    }
}

/// Returns the files whose times must be newer than the build: those that changed, every build script, and all sources of a
/// package in which something changed that a compiler does not look at by itself.
///
/// `tracked` are the files of the later commit, `build_scripts` those whose name is not `build.rs`.
pub fn to_touch<'t>(
    changes: &'t [Change],
    tracked: &BTreeSet<&'t str>,
    build_scripts: &[&'t str],
) -> BTreeSet<&'t str> {
    let mut touched = BTreeSet::new();
    if changes.is_empty() {
        return touched;
    }
    let own = changes.iter().map(Change::path);
    touched.extend(own.filter(|path| tracked.contains(path)));
    let scripts = tracked.iter().copied();
    touched.extend(scripts.filter(|path| file_name(path) == "build.rs"));
    touched.extend(build_scripts.iter().filter(|path| tracked.contains(*path)));
    let packages: BTreeSet<&str> = changes
        .iter()
        .filter(|change| !is_seen_by_compiler(change))
        .map(|change| package_of(change.path(), tracked))
        .collect();
    for package in packages {
        let sources = tracked.iter().copied();
        touched.extend(sources.filter(|path| is_source(path) && is_below(path, package)));
    }
    touched
}

/// Returns whether the compiler itself notes that it read the file. It does for the text of a source; that one appeared or
/// is gone matters to macros that list a folder.
fn is_seen_by_compiler(change: &Change) -> bool {
    match change {
        Change::Modified(path) => {
            is_source(path) || ["Cargo.toml", "Cargo.lock"].contains(&file_name(path))
        }
        Change::Added(_) | Change::Deleted(_) => false,
    }
}

fn is_source(path: &str) -> bool {
    path.strip_suffix(".rs").is_some()
}

/// Returns the folder of the package that a file is in: the nearest one with a manifest, or else the root.
fn package_of<'p>(path: &'p str, tracked: &BTreeSet<&str>) -> &'p str {
    let mut folder = parent(path);
    while !folder.is_empty() {
        if tracked.contains(format!("{folder}/Cargo.toml").as_str()) {
            return folder;
        }
        folder = parent(folder);
    }
    folder
}

fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn is_below(path: &str, folder: &str) -> bool {
    folder.is_empty()
        || path
            .strip_prefix(folder)
            .is_some_and(|rest| rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TRACKED: &[&str] = &[
        "Cargo.toml",
        "Cargo.lock",
        "README.md",
        "assets/a",
        "crates/a/Cargo.toml",
        "crates/a/build.rs",
        "crates/a/migrations/1.sql",
        "crates/a/src/lib.rs",
        "crates/a/tests/it.rs",
        "crates/ab/Cargo.toml",
        "crates/ab/src/lib.rs",
        "make.rs",
        "src/lib.rs",
        "src/main.rs",
    ];

    fn touched(changes: &[Change]) -> Vec<&str> {
        let tracked = TRACKED.iter().copied().collect();
        let scripts: &[&str] = &["make.rs"];
        to_touch(changes, &tracked, scripts).into_iter().collect()
    }

    fn modified(path: &str) -> Change {
        Change::Modified(path.to_owned())
    }

    #[test]
    fn a_changed_source_touches_itself_and_the_build_scripts() {
        assert_eq!(touched(&[]), Vec::<&str>::new());
        assert_eq!(
            touched(&[modified("src/lib.rs")]),
            ["crates/a/build.rs", "make.rs", "src/lib.rs"]
        );
        assert_eq!(
            touched(&[modified("Cargo.lock")]),
            ["Cargo.lock", "crates/a/build.rs", "make.rs"]
        );
    }

    #[test]
    fn another_file_touches_the_sources_of_its_package() {
        assert_eq!(
            touched(&[modified("crates/a/migrations/1.sql")]),
            [
                "crates/a/build.rs",
                "crates/a/migrations/1.sql",
                "crates/a/src/lib.rs",
                "crates/a/tests/it.rs",
                "make.rs",
            ]
        );
        let whole: Vec<&str> = TRACKED
            .iter()
            .copied()
            .filter(|path| is_source(path))
            .collect();
        let deleted = Change::Deleted("assets/b".to_owned());
        assert_eq!(touched(&[deleted]), whole, "the root has a manifest");
    }

    #[test]
    fn a_source_that_appears_or_goes_touches_its_package() {
        for change in [
            Change::Added("crates/ab/src/lib.rs".to_owned()),
            Change::Deleted("crates/ab/src/old.rs".to_owned()),
        ] {
            assert_eq!(
                touched(&[change]),
                ["crates/a/build.rs", "crates/ab/src/lib.rs", "make.rs"]
            );
        }
    }

    proptest! {
        #[test]
        fn only_files_of_the_commit_are_touched_and_each_changed_one_is(
            picked in proptest::collection::vec((0..TRACKED.len(), 0..3_u8), 0..5),
        ) {
            let changes: Vec<Change> = picked
                .into_iter()
                .map(|(index, kind)| match kind {
                    0 => Change::Added(TRACKED[index].to_owned()),
                    1 => modified(TRACKED[index]),
                    _ => Change::Deleted(format!("{}.old", TRACKED[index])),
                })
                .collect();
            let found = touched(&changes);
            for path in &found {
                prop_assert!(TRACKED.contains(path));
            }
            for change in &changes {
                if TRACKED.contains(&change.path()) {
                    prop_assert!(found.contains(&change.path()));
                }
            }
            prop_assert_eq!(found.is_empty(), changes.is_empty());
        }
    }
}
