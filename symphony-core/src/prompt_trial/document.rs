//! Recorded issues: what a replay needs of issues that have ended, as a versioned JSON document.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::id::IssueId;
use crate::issue::{
    FieldError, Priority, Size, check_labels, check_required_text, check_text, check_title,
};

/// The version of the document.
pub const RECORDED_VERSION: u32 = 1;
/// Most issues of a document: each is several runs of agents.
pub const RECORDED_ISSUES_MAX: usize = 1_000;
/// Characters of a commit's id, in SHA-1 and SHA-256 repositories.
const COMMIT_CHARS: [usize; 2] = [40, 64];

/// A document of recorded issues.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedIssues {
    /// [`RECORDED_VERSION`].
    pub version: u32,
    /// The issues.
    pub issues: Vec<RecordedIssue>,
}

/// An issue as it was before any agent worked on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedIssue {
    /// Its identifier.
    pub id: IssueId,
    /// Title.
    pub title: String,
    /// What is asked for. Acceptance criteria of the issue's own text are in it.
    #[serde(default)]
    pub description: String,
    /// How urgent.
    #[serde(default = "no_priority")]
    pub priority: Priority,
    /// How much work.
    #[serde(default)]
    pub size: Option<Size>,
    /// Labels.
    #[serde(default)]
    pub labels: Vec<String>,
    /// The commit that its agent started from.
    pub base_commit: String,
    /// Acceptance criteria that documents outside of the issue's text had; a replay adds them to the description.
    #[serde(default)]
    pub criteria: Vec<String>,
    /// What people had said before the first agent started.
    #[serde(default)]
    pub comments: Vec<RecordedComment>,
}

/// A comment of a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedComment {
    /// The text.
    pub text: String,
}

const fn no_priority() -> Priority {
    Priority::None
}

/// What is wrong with a document of recorded issues.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordedError {
    /// It is not such a document.
    #[error("line {}, column {}: {source}", source.line(), source.column())]
    Json {
        /// What the parser found.
        #[from]
        source: serde_json::Error,
    },
    /// Another version.
    #[error("it has version {found}, and this Symphony reads version {RECORDED_VERSION}")]
    Version {
        /// The version that was found.
        found: u32,
    },
    /// Too many issues.
    #[error("it has {found} issues; at most {RECORDED_ISSUES_MAX} are read")]
    TooMany {
        /// How many there are.
        found: usize,
    },
    /// No issue.
    #[error("it has no issue")]
    Empty,
    /// The same issue twice.
    #[error("{issue} is in it twice")]
    Twice {
        /// The issue.
        issue: IssueId,
    },
    /// A field that breaks a rule of issues.
    #[error("{issue}: {source}")]
    Field {
        /// The issue.
        issue: IssueId,
        /// The rule.
        source: FieldError,
    },
    /// A base commit that is no id of a commit.
    #[error("{issue}: `{found}` is not the full id of a commit")]
    Commit {
        /// The issue.
        issue: IssueId,
        /// What was found.
        found: String,
    },
}

/// Reads a document.
///
/// # Errors
/// The first thing that is wrong, with its line or its issue.
pub fn parse_recorded(text: &str) -> Result<RecordedIssues, RecordedError> {
    /// A later version may have fields that this one does not know: its number is read first.
    #[derive(Deserialize)]
    struct Head {
        version: u32,
    }
    let head: Head = serde_json::from_str(text)?;
    if head.version != RECORDED_VERSION {
        return Err(RecordedError::Version {
            found: head.version,
        });
    }
    let recorded: RecordedIssues = serde_json::from_str(text)?;
    let found = recorded.issues.len();
    if found == 0 {
        return Err(RecordedError::Empty);
    }
    if found > RECORDED_ISSUES_MAX {
        return Err(RecordedError::TooMany { found });
    }
    let mut seen = BTreeSet::new();
    for issue in &recorded.issues {
        if !seen.insert(&issue.id) {
            return Err(RecordedError::Twice {
                issue: issue.id.clone(),
            });
        }
        issue.check()?;
    }
    Ok(recorded)
}

/// Writes a document, as a person can read and edit it.
///
/// # Errors
/// None that a value of these types can have.
pub fn recorded_text(recorded: &RecordedIssues) -> Result<String, serde_json::Error> {
    serde_json::to_string_pretty(recorded).map(|text| text + "\n")
}

impl RecordedIssue {
    /// Returns the description with the criteria that came from elsewhere.
    pub fn whole_description(&self) -> String {
        if self.criteria.is_empty() {
            return self.description.clone();
        }
        let items = self.criteria.iter().map(|text| format!("- {text}\n"));
        let items: String = items.collect();
        let text = self.description.trim_end();
        format!("{text}\n\n## Acceptance criteria\n\n{items}")
            .trim_start()
            .to_owned()
    }

    fn check(&self) -> Result<(), RecordedError> {
        check_title(&self.title)
            .and_then(|()| check_text("description", &self.whole_description()))
            .and_then(|()| check_labels(&self.labels))
            .and_then(|()| {
                self.comments
                    .iter()
                    .try_for_each(|comment| check_required_text("comment", &comment.text))
            })
            .map_err(|source| RecordedError::Field {
                issue: self.id.clone(),
                source,
            })?;
        let commit = &self.base_commit;
        let is_id =
            COMMIT_CHARS.contains(&commit.len()) && commit.bytes().all(|c| c.is_ascii_hexdigit());
        is_id.then_some(()).ok_or_else(|| RecordedError::Commit {
            issue: self.id.clone(),
            found: commit.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ISSUE: &str = r#"{"id": "SYM-1", "title": "One", "base_commit": "0123456789abcdef0123456789abcdef01234567"}"#;

    fn document(version: u32, issues: &str) -> String {
        format!(r#"{{"version": {version}, "issues": [{issues}]}}"#)
    }

    #[test]
    fn what_is_written_is_read_again() {
        let mut recorded = parse_recorded(&document(1, ISSUE)).unwrap();
        recorded.issues[0].criteria = vec!["It works".into()];
        recorded.issues[0].comments = vec![RecordedComment {
            text: "In English".into(),
        }];
        let text = recorded_text(&recorded).unwrap();
        assert_eq!(parse_recorded(&text).unwrap(), recorded);
        assert_eq!(
            recorded.issues[0].whole_description(),
            "## Acceptance criteria\n\n- It works\n"
        );
    }

    #[test]
    fn whatever_is_wrong_is_named() {
        for (text, expected) in [
            (
                document(2, ""),
                "it has version 2, and this Symphony reads version 1",
            ),
            (document(1, ""), "it has no issue"),
            (
                document(1, &format!("{ISSUE},{ISSUE}")),
                "SYM-1 is in it twice",
            ),
            (
                document(1, &ISSUE.replace("0123456789abcdef", "HEAD")),
                "SYM-1: `HEADHEAD01234567` is not the full id of a commit",
            ),
            (
                document(1, &ISSUE.replace("One", "")),
                "SYM-1: title must not be empty",
            ),
        ] {
            assert_eq!(parse_recorded(&text).unwrap_err().to_string(), expected);
        }
        let problem = parse_recorded("{\n  \"version\": 1,\n  \"isues\": []\n}").unwrap_err();
        assert!(
            problem
                .to_string()
                .starts_with("line 3, column 9: unknown field `isues`"),
            "{problem}"
        );
    }
}
