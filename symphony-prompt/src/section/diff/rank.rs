//! What a file of a diff is, by its path: what a reviewer reads first comes first.

use symphony_core::lock_file::manifests_of;

use super::file::{FileDiff, FileRank};
use crate::input::{PullRequestReview, Risk};

/// Folders of code that others wrote.
const VENDORED_FOLDERS: &[&str] = &[
    "bower_components",
    "node_modules",
    "third_party",
    "vendor",
    "vendored",
];

/// Ends of names that only generators give.
const GENERATED_ENDS: &[&str] = &[
    ".min.js",
    ".min.css",
    ".js.map",
    ".css.map",
    ".pb.go",
    ".pb.cc",
    ".pb.h",
    "_pb2.py",
    "_pb2_grpc.py",
    ".g.dart",
];

const TEST_FOLDERS: &[&str] = &[
    "__snapshots__",
    "__tests__",
    "e2e",
    "fixtures",
    "snapshots",
    "spec",
    "specs",
    "test",
    "testdata",
    "tests",
];

const CONFIGURATION_NAMES: &[&str] = &[
    "agents.md",
    "claude.md",
    "cmakelists.txt",
    "constraints.txt",
    "go.mod",
    "go.work",
    "workflow.md",
];

const CONFIGURATION_ENDS: &[&str] = &[
    ".cfg",
    ".conf",
    ".config",
    ".env",
    ".ini",
    ".json",
    ".json5",
    ".jsonc",
    ".lock",
    ".plist",
    ".properties",
    ".toml",
    ".xml",
    ".yaml",
    ".yml",
];

const DOCUMENTATION_NAMES: &[&str] = &[
    "authors",
    "changelog",
    "copying",
    "license",
    "notice",
    "readme",
];

const DOCUMENTATION_ENDS: &[&str] = &[".adoc", ".asciidoc", ".md", ".mdx", ".org", ".rst", ".txt"];

/// Returns the name that git had to quote; none for a name as it is.
pub(super) fn unquoted(name: &str) -> Option<String> {
    let inner = name.strip_prefix('"')?;
    let inner = inner.strip_suffix('"').unwrap_or(inner);
    // `a/` or `b/` is inside the quotes.
    let inner = ["a/", "b/"]
        .iter()
        .find_map(|side| inner.strip_prefix(side))
        .unwrap_or(inner);
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'\\' {
            bytes.push(*first);
            continue;
        }
        let octal = rest
            .get(..3)
            .filter(|digits| digits.iter().all(|digit| (b'0'..=b'7').contains(digit)));
        if let Some(digits) = octal {
            let value = digits
                .iter()
                .fold(0_u32, |value, digit| value * 8 + u32::from(digit - b'0'));
            bytes.push(u8::try_from(value).unwrap_or(b'?'));
            rest = rest.get(3..).unwrap_or_default();
        } else if let Some((letter, after)) = rest.split_first() {
            bytes.push(match letter {
                b'a' => 7,
                b'b' => 8,
                b't' => b'\t',
                b'n' => b'\n',
                b'v' => 11,
                b'f' => 12,
                b'r' => b'\r',
                other => *other,
            });
            rest = after;
        }
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Says what a file is. What the project calls sensitive is that, whatever else it is; a file counts as what either of its names
/// says, and one whose name git had to quote is read like source: no one hides a change behind a name.
pub(super) fn rank_of(file: &FileDiff<'_>, review: &PullRequestReview) -> FileRank {
    let (name, old) = file.names();
    let rank = |named: &str| {
        let unquoted = unquoted(named);
        let name = unquoted.as_deref().unwrap_or(named);
        let is_in = |list: &[String]| list.iter().any(|known| known == name);
        let is_sensitive = |risk: &Risk| is_in(&risk.sensitive_paths);
        if review.risk.as_ref().is_some_and(is_sensitive) {
            FileRank::Sensitive
        } else if unquoted.is_some() {
            FileRank::Source
        } else if is_in(&review.generated_paths) {
            FileRank::Generated
        } else {
            rank_by_name(name)
        }
    };
    old.map_or(rank(name), |old| rank(name).min(rank(old)))
}

fn rank_by_name(path: &str) -> FileRank {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let is_below = |known: &[&str]| folders.split('/').any(|folder| is_one_of(folder, known));
    let ends_with = |known: &[&str]| known.iter().any(|end| has_end(name, end));
    if is_below(VENDORED_FOLDERS) || manifests_of(name).is_some() || ends_with(GENERATED_ENDS) {
        FileRank::Generated
    } else if is_below(TEST_FOLDERS) || is_test(name) {
        FileRank::Test
    } else if is_one_of(name, CONFIGURATION_NAMES)
        || (name.starts_with("requirements") && has_end(name, ".txt"))
        || name.starts_with('.')
        || ends_with(CONFIGURATION_ENDS)
    {
        FileRank::Configuration
    } else if is_one_of(name, DOCUMENTATION_NAMES) || ends_with(DOCUMENTATION_ENDS) {
        FileRank::Documentation
    } else {
        FileRank::Source
    }
}

fn is_one_of(name: &str, known: &[&str]) -> bool {
    known.iter().any(|known| name.eq_ignore_ascii_case(known))
}

fn has_end(name: &str, end: &str) -> bool {
    let at = name.len().checked_sub(end.len());
    at.and_then(|at| name.get(at..))
        .is_some_and(|found| found.eq_ignore_ascii_case(end))
}

/// The names that test runners look for: `test_a.py`, `a_test.go`, `a.spec.ts`, `AppTest.java`.
fn is_test(name: &str) -> bool {
    let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
    name == "conftest.py"
        || stem.starts_with("test_")
        || ["_test", "_tests", "_spec", "Test", "Tests", "Spec"]
            .iter()
            .any(|end| stem.ends_with(end))
        || name.contains(".test.")
        || name.contains(".spec.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::RiskLevel;
    use crate::section::diff::file::split;

    #[test]
    fn files_are_ranked_by_their_names() {
        use FileRank::{Configuration, Documentation, Generated, Source, Test};
        for (rank, paths) in [
            (
                Source,
                &[
                    "src/a.rs",
                    "Makefile",
                    "bin/run",
                    "latest.py",
                    "vendor.rs",
                    "src/Dockerfile",
                ][..],
            ),
            (
                Test,
                &[
                    "tests/it/a.rs",
                    "src/a.test.ts",
                    "pkg/a_test.go",
                    "test_a.py",
                    "src/AppTest.java",
                    "src/__tests__/a.js",
                    "tests/data/x.json",
                ],
            ),
            (
                Configuration,
                &[
                    "Cargo.toml",
                    ".github/workflows/ci.yml",
                    "CLAUDE.md",
                    "requirements-dev.txt",
                    ".env",
                ],
            ),
            (
                Documentation,
                &["README", "docs/a.md", "CHANGELOG.rst", "notes.txt"],
            ),
            (
                Generated,
                &[
                    "Cargo.lock",
                    "web/package-lock.json",
                    "vendor/a/b.go",
                    "dist/app.min.js",
                    "api/v1.pb.go",
                ],
            ),
        ] {
            for path in paths {
                assert_eq!(rank_by_name(path), rank, "{path}");
            }
        }
    }

    #[test]
    fn what_is_sensitive_is_never_taken_for_generated() {
        let review = PullRequestReview {
            risk: Some(Risk {
                level: RiskLevel::High,
                files: 1,
                lines: 1,
                sensitive_paths: ["Cargo.lock", "auth/key.rs", "auth/a\"\tb\u{1}é.rs"]
                    .map(str::to_owned)
                    .to_vec(),
            }),
            generated_paths: vec!["auth/key.rs".to_owned(), "src/schema.rs".to_owned()],
            ..PullRequestReview::default()
        };
        for (head, rank) in [
            ("+++ b/Cargo.lock\n", FileRank::Sensitive),
            ("+++ b/auth/key.rs\n", FileRank::Sensitive),
            ("+++ b/src/schema.rs\n", FileRank::Generated),
            ("+++ b/src/evil b/vendor/x.rs\t\n", FileRank::Generated),
            (
                "rename from src/a.rs\nrename to vendor/a.rs\n",
                FileRank::Source,
            ),
            ("+++ \"b/vendor/a\\tb.rs\"\n", FileRank::Source),
            ("+++ \"b/auth/a\\\"\\tb\\001é.rs\"\n", FileRank::Sensitive),
            (
                "rename from auth/key.rs\nrename to vendor/key.rs\n",
                FileRank::Sensitive,
            ),
        ] {
            let head = format!("diff --git a/x b/x\n{head}");
            assert_eq!(rank_of(&split(&head)[0], &review), rank, "{head}");
        }
    }
}
