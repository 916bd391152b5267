//! What a run leaves in its worktree that no commit has (spec: lifecycle, "Exit handling").
//!
//! The workspace observes the folder; this module decides what of it concerns a person.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

mod path;
mod wording;

pub use path::{LeftBehind, LeftKind, shared_changes};
pub use wording::{
    changes_comment, left_behind_sentences, left_behind_text, put_aside_comment, saved_comment,
};

/// The key in a run's metadata that lists what it left.
pub const LEFT_BEHIND: &str = "left_behind";
/// Most paths that the record of one run lists; the rest is counted.
pub const LEFT_NAMED_MAX: usize = 50;

/// Returns the name of a setting as it may be shown: a subsection that is an address may hold a password.
pub fn shown_setting(name: &str) -> String {
    let parts = name.split_once('.').and_then(|(section, rest)| {
        let (address, variable) = rest.rsplit_once('.')?;
        let is_address = address.contains("://") || address.contains('@');
        is_address.then(|| format!("{section}.….{variable}"))
    });
    parts.unwrap_or_else(|| name.to_owned())
}

/// Returns whether git itself writes a setting (as `git config --list` prints its name) in everyday work: what a branch
/// tracks.
pub fn is_kept_by_git(setting: &str) -> bool {
    setting.starts_with("branch.")
}

/// The content of the worktree before an agent worked there: recorded once, after the set-up.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Baseline {
    /// Ignored paths; a folder includes everything in it.
    pub ignored: BTreeSet<String>,
    /// A digest of each copied file.
    pub copied: BTreeMap<String, String>,
}

/// What is in the worktree now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Remains {
    /// Repositories inside the worktree.
    pub repositories: BTreeSet<String>,
    /// Ignored paths, copied files excepted.
    pub ignored: BTreeSet<String>,
    /// A digest of each copied file that is there.
    pub copied: BTreeMap<String, String>,
    /// Submodules with work that exists nowhere else.
    pub submodules: BTreeSet<String>,
    /// Uncommitted files with a filter that Symphony may not run, each with the filter.
    pub unfiltered: BTreeSet<String>,
}

/// Folders that builds, package managers, test runners and editors make, wherever they are in a project.
const USUAL_FOLDERS: &[&str] = &[
    ".bundle",
    ".cache",
    ".coverage",
    ".dart_tool",
    ".direnv",
    ".eggs",
    ".elixir_ls",
    ".gradle",
    ".hypothesis",
    ".idea",
    ".ipynb_checkpoints",
    ".mypy_cache",
    ".next",
    ".nox",
    ".nuxt",
    ".nyc_output",
    ".parcel-cache",
    ".pnpm-store",
    ".pytest_cache",
    ".ruff_cache",
    ".sass-cache",
    ".serverless",
    ".stack-work",
    ".svelte-kit",
    ".terraform",
    ".tox",
    ".turbo",
    ".venv",
    ".vite",
    ".vs",
    ".vscode",
    ".yarn",
    "DerivedData",
    "Pods",
    "__pycache__",
    "_build",
    "bin",
    "bower_components",
    "build",
    "cmake-build-debug",
    "coverage",
    "deps",
    "dist",
    "dist-newstyle",
    "htmlcov",
    "log",
    "logs",
    "node_modules",
    "obj",
    "out",
    "site-packages",
    "storybook-static",
    "target",
    "temp",
    "test-results",
    "tmp",
    "vendor",
    "venv",
    "zig-cache",
    "zig-out",
];

/// Folders and files whose names tools derive from something.
const USUAL_ENDINGS: &[&str] = &[
    ".beam",
    ".class",
    ".dll",
    ".dylib",
    ".egg-info",
    ".exe",
    ".gcda",
    ".gcno",
    ".lcov",
    ".log",
    ".o",
    ".obj",
    ".pid",
    ".profraw",
    ".pyc",
    ".pyd",
    ".pyo",
    ".rlib",
    ".so",
    ".swo",
    ".swp",
    ".tmp",
    ".tsbuildinfo",
    "~",
];

/// Files that tools make.
const USUAL_FILES: &[&str] = &[
    ".DS_Store",
    ".coverage",
    ".eslintcache",
    ".phpunit.result.cache",
    ".stylelintcache",
    "Thumbs.db",
    "coverage.out",
    "coverage.xml",
    "erl_crash.dump",
    "junit.xml",
    "lcov.info",
];

/// Returns whether an ignored path is of the kind that builds and tools create.
fn is_usual(path: &str) -> bool {
    let is_folder = path.ends_with('/');
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let Some((last, above)) = parts.split_last() else {
        return true;
    };
    let named = |list: &[&str], part: &str| list.contains(&part);
    let ends = |part: &str| USUAL_ENDINGS.iter().any(|end| part.ends_with(end));
    let in_usual_folder = above
        .iter()
        .any(|part| named(USUAL_FOLDERS, part) || ends(part));
    in_usual_folder
        || ends(last)
        || named(
            if is_folder {
                USUAL_FOLDERS
            } else {
                USUAL_FILES
            },
            last,
        )
}

/// Returns whether a path, or a folder that it is in, is one of `known`.
fn is_known(path: &str, known: &BTreeSet<String>) -> bool {
    let plain = path.trim_end_matches('/');
    let ends = plain.match_indices('/').map(|(at, _)| at);
    let ancestors = ends.filter_map(|at| plain.get(..=at));
    known.contains(plain)
        || known.contains(&format!("{plain}/"))
        || ancestors.into_iter().any(|folder| known.contains(folder))
}

/// Returns the paths that a person has to know of, sorted: repositories inside the worktree, submodules with work of
/// their own, copied files that differ from their copy, and ignored paths that were not there after the set-up, are in
/// no folder that was, and are not of a kind that builds and tools make.
pub fn left_behind(before: &Baseline, now: &Remains) -> Vec<LeftBehind> {
    let of = |kind| {
        move |path: &String| LeftBehind {
            kind,
            path: path.trim_end_matches('/').to_owned(),
        }
    };
    let ignored = now
        .ignored
        .iter()
        .filter(|path| !is_known(path, &before.ignored) && !is_usual(path))
        .filter(|path| !is_known(path, &now.repositories));
    let changed = now.copied.iter().filter(|(path, digest)| {
        before
            .copied
            .get(*path)
            .is_some_and(|before| before != *digest)
    });
    let mut left: Vec<LeftBehind> = now
        .repositories
        .iter()
        .map(of(LeftKind::Repository))
        .chain(ignored.map(of(LeftKind::Ignored)))
        .chain(changed.map(|(path, _)| path).map(of(LeftKind::Copied)))
        .chain(now.submodules.iter().map(of(LeftKind::Submodule)))
        .chain(now.unfiltered.iter().map(of(LeftKind::Unfiltered)))
        .collect();
    left.sort();
    left.dedup();
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(paths: &[&str]) -> BTreeSet<String> {
        paths.iter().map(|path| (*path).to_owned()).collect()
    }

    fn digests(files: &[(&str, &str)]) -> BTreeMap<String, String> {
        let owned = |(path, digest): &(&str, &str)| ((*path).to_owned(), (*digest).to_owned());
        files.iter().map(owned).collect()
    }

    #[test]
    fn what_builds_and_tools_make_is_usual() {
        for path in [
            "target/",
            "crates/a/target/debug/x",
            "node_modules/",
            "web/node_modules/.bin/x",
            "src/__pycache__/",
            "a.pyc",
            "debug.log",
            "pkg.egg-info/",
            "pkg.egg-info/PKG-INFO",
            ".coverage",
            ".eslintcache",
            "src/main.o",
            "notes.txt~",
            "obj/Debug/x.json",
        ] {
            assert!(is_usual(path), "{path}");
        }
        for path in [
            "data/",
            "secret.txt",
            "src/generated.rs",
            "docs/targets/",
            "model.bin",
            "target.txt",
            // the name of a folder says nothing of a file
            "build",
            "logbook/2026",
        ] {
            assert!(!is_usual(path), "{path}");
        }
    }

    #[test]
    fn what_was_there_after_the_set_up_is_known() {
        let known = set(&["data/", "local.toml", "a/b/"]);
        for path in ["data/", "data", "data/new.csv", "local.toml", "a/b/c/d"] {
            assert!(is_known(path, &known), "{path}");
        }
        for path in ["database", "a/", "a/bc", "local.toml.bak", "x/data/"] {
            assert!(!is_known(path, &known), "{path}");
        }
    }

    #[test]
    fn each_kind_is_left_behind_for_its_own_reason() {
        let before = Baseline {
            ignored: set(&["data/", "local.toml"]),
            copied: digests(&[(".env", "1"), (".env.local", "1"), ("gone.env", "1")]),
        };
        let now = Remains {
            repositories: set(&["lib", "ignored-lib/"]),
            ignored: set(&[
                "data/",
                "data/more.csv",
                "local.toml",
                "target/",
                "hidden.rs",
                "work/",
                "ignored-lib/",
            ]),
            copied: digests(&[(".env", "1"), (".env.local", "2"), ("new.env", "3")]),
            submodules: set(&["vendor/dep"]),
            unfiltered: set(&["photo.psd"]),
        };
        let told: Vec<String> = left_behind(&before, &now)
            .iter()
            .map(|left| format!("{} {}", left.kind, left.path))
            .collect();
        assert_eq!(
            told,
            [
                "nested_repository ignored-lib",
                "nested_repository lib",
                "ignored hidden.rs",
                "ignored work",
                "copied_file .env.local",
                "submodule vendor/dep",
                "unfiltered photo.psd",
            ]
        );
        assert_eq!(left_behind(&before, &Remains::default()), []);
    }

    #[test]
    fn settings_that_git_keeps_are_none_of_a_persons_business_and_no_password_is_shown() {
        for (name, is_kept, shown) in [
            ("branch.main.remote", true, "branch.main.remote"),
            ("user.email", false, "user.email"),
            ("remote.origin.url", false, "remote.origin.url"),
            (
                "url.https://me:token@example.org/.insteadof",
                false,
                "url.….insteadof",
            ),
        ] {
            assert_eq!(is_kept_by_git(name), is_kept, "{name}");
            assert_eq!(shown_setting(name), shown);
        }
    }
}
