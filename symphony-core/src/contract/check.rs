//! The structural checks of a delivery, as functions of the artifact's text and the changed paths.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::artifact::{has_heading, word_count};
use super::model::{PhaseContract, StructuralCheck};
use crate::id::IssueId;
use crate::wording::counted;

/// Most paths that a reason lists; the rest are counted.
pub const PATHS_SHOWN_MAX: usize = 20;

/// What the caller found at the artifact's path: first in the worktree, then in the project's root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArtifactFound {
    /// Its text.
    Text(String),
    /// Nothing that can be read.
    Missing {
        /// The places, in the order in which they were searched.
        places: Vec<String>,
    },
}

/// Why a check failed. Its `Display` tells the agent what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "check", rename_all = "snake_case")]
#[non_exhaustive]
pub enum CheckFailure {
    /// No artifact.
    #[error("{}", missing(path, expected.as_deref(), places))]
    ArtifactMissing {
        /// The path that was searched for.
        path: String,
        /// The contract's path, when the delivery named another one.
        expected: Option<String>,
        /// The places that were searched.
        places: Vec<String>,
    },
    /// An artifact without any text.
    #[error("the artifact `{path}` is empty; write it, then claim again")]
    ArtifactEmpty {
        /// Its path.
        path: String,
    },
    /// Required headings are missing.
    #[error(
        "the artifact `{path}` lacks the required section{}: {}; add {} as heading{} of any level",
        plural(sections), sections.join(", "), if sections.len() == 1 { "it" } else { "them" }, plural(sections)
    )]
    SectionsMissing {
        /// The artifact's path.
        path: String,
        /// The headings, as the contract writes them.
        sections: Vec<String>,
    },
    /// Too few words.
    #[error("the artifact `{path}` has {}, but at least {words_min} are required", counted(*words as u64, "word"))]
    TooShort {
        /// The artifact's path.
        path: String,
        /// How many it has.
        words: usize,
        /// How many it needs.
        words_min: u32,
    },
    /// Something outside the artifact's folder was changed.
    #[error("this phase may change only `{folder}/`; revert {}", listed(paths))]
    OutOfScope {
        /// The folder.
        folder: String,
        /// The paths outside it.
        paths: Vec<String>,
    },
}

/// Runs a contract's structural checks on a delivery and returns the failures, in the order of the contract.
///
/// `path` is where the artifact was searched for: the delivery's own path, or the contract's. `changed_paths` are those
/// that differ from the base, committed or not, relative to the worktree.
pub fn check_delivery(
    contract: &PhaseContract,
    issue: &IssueId,
    path: &str,
    found: &ArtifactFound,
    changed_paths: &[String],
) -> Vec<CheckFailure> {
    contract
        .structural_checks()
        .iter()
        .filter_map(|check| match check {
            StructuralCheck::ArtifactExists => artifact_exists(contract, issue, path, found),
            StructuralCheck::RequiredSections => {
                required_sections(&contract.required_sections, path, text_of(found)?)
            }
            StructuralCheck::MinWords(words_min) => min_words(*words_min, path, text_of(found)?),
            StructuralCheck::WriteScope => {
                let folder = contract.artifact_path.as_ref()?.folder_for_issue(issue);
                write_scope(&folder, changed_paths)
            }
        })
        .collect()
}

fn text_of(found: &ArtifactFound) -> Option<&str> {
    match found {
        ArtifactFound::Text(text) => Some(text),
        // Without an artifact the other checks have nothing to say: its absence is reported once.
        ArtifactFound::Missing { .. } => None,
    }
}

fn artifact_exists(
    contract: &PhaseContract,
    issue: &IssueId,
    path: &str,
    found: &ArtifactFound,
) -> Option<CheckFailure> {
    match found {
        ArtifactFound::Text(text) if word_count(text) > 0 => None,
        ArtifactFound::Text(_) => Some(CheckFailure::ArtifactEmpty {
            path: path.to_owned(),
        }),
        ArtifactFound::Missing { places } => {
            let expected = contract
                .artifact_path
                .as_ref()
                .map(|template| template.for_issue(issue))
                .filter(|expected| expected != path);
            Some(CheckFailure::ArtifactMissing {
                path: path.to_owned(),
                expected,
                places: places.clone(),
            })
        }
    }
}

fn required_sections(required: &[String], path: &str, text: &str) -> Option<CheckFailure> {
    let sections: Vec<String> = required
        .iter()
        .filter(|section| !has_heading(text, section))
        .cloned()
        .collect();
    (!sections.is_empty()).then(|| CheckFailure::SectionsMissing {
        path: path.to_owned(),
        sections,
    })
}

fn min_words(words_min: u32, path: &str, text: &str) -> Option<CheckFailure> {
    let words = word_count(text);
    let enough = usize::try_from(words_min).is_ok_and(|words_min| words >= words_min);
    (!enough).then(|| CheckFailure::TooShort {
        path: path.to_owned(),
        words,
        words_min,
    })
}

fn write_scope(folder: &str, changed_paths: &[String]) -> Option<CheckFailure> {
    let inside = |path: &str| {
        folder.is_empty()
            || path
                .strip_prefix(folder)
                .is_some_and(|rest| rest.starts_with('/'))
    };
    let paths: Vec<String> = changed_paths
        .iter()
        .filter(|path| !inside(path))
        .cloned()
        .collect();
    (!paths.is_empty()).then(|| CheckFailure::OutOfScope {
        folder: folder.to_owned(),
        paths,
    })
}

fn missing(path: &str, expected: Option<&str>, places: &[String]) -> String {
    let mut text = format!("no artifact `{path}`");
    if !places.is_empty() {
        text.push_str("; looked at ");
        text.push_str(&places.join(" and "));
    }
    if let Some(expected) = expected {
        text.push_str("; the contract expects `");
        text.push_str(expected);
        text.push('`');
    }
    text
}

fn plural(items: &[String]) -> &'static str {
    if items.len() == 1 { "" } else { "s" }
}

/// Names paths in a message, at most [`PATHS_SHOWN_MAX`].
fn listed(paths: &[String]) -> impl fmt::Display {
    let shown: Vec<String> = paths
        .iter()
        .take(PATHS_SHOWN_MAX)
        .map(|path| format!("`{path}`"))
        .collect();
    let rest = paths.len().saturating_sub(PATHS_SHOWN_MAX);
    let mut text = shown.join(", ");
    if rest > 0 {
        text = format!("{text} and {rest} more");
    }
    text
}
