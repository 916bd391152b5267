//! Issues, comments and findings as records.

use crate::Timestamp;
use serde::{Deserialize, Serialize};

use super::attributes::{CommentAuthor, FindingKind, Priority, Size};
use super::state::IssueState;
use crate::id::{CommentId, FindingId, IssueId, PhaseName, ProjectId, RunId};
use crate::message::MessageState;
use crate::profile::AgentChoice;
use crate::user::Attribution;

/// The prefix of the label that names an issue's phase.
pub const PHASE_LABEL_PREFIX: &str = "phase:";
/// The label that asks for a planner.
pub const NEEDS_PLANNING_LABEL: &str = "needs-planning";
/// Longest title, in characters (spec: mcp, "Limits").
pub const TITLE_CHARS_MAX: usize = 300;
/// Longest text field, in bytes (spec: mcp, "Limits").
pub const TEXT_BYTES_MAX: usize = 64 * 1024;
/// Most labels of an issue (spec: mcp, "Limits").
pub const LABELS_MAX: usize = 50;
/// Longest label, in characters: labels appear in tables and in prompts.
pub const LABEL_CHARS_MAX: usize = 100;
/// Most paths of a finding or learning (spec: mcp, "Limits").
pub const PATHS_MAX: usize = 100;

/// One piece of work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    /// Identifier, such as `SYM-12`.
    pub id: IssueId,
    /// Its project.
    pub project: ProjectId,
    /// Title.
    pub title: String,
    /// The description.
    pub description: String,
    /// Its state.
    pub state: IssueState,
    /// The priority.
    pub priority: Priority,
    /// The estimated size.
    pub size: Option<Size>,
    /// Labels, sorted; the phase label among them.
    pub labels: Vec<String>,
    /// Its parent, for a sub-task.
    pub parent: Option<IssueId>,
    /// Issues that must be done before.
    pub depends_on: Vec<IssueId>,
    /// Its id in another tracker.
    pub external_id: Option<String>,
    /// What its authors run with, where it is to be something else than for other issues.
    pub choice: AgentChoice,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// What counts towards the circuit breaker.
    pub counts: AttemptCounts,
}

impl Issue {
    /// Returns the phase that its label names.
    pub fn phase(&self) -> Option<PhaseName> {
        phase_of(&self.labels)
    }
}

/// Returns the phase that the first phase label names.
pub fn phase_of(labels: &[String]) -> Option<PhaseName> {
    labels
        .iter()
        .find_map(|label| label.strip_prefix(PHASE_LABEL_PREFIX))
        .and_then(|name| PhaseName::parse(name).ok())
}

/// What counts towards an issue's circuit breaker; both are reset when a phase is accepted or a human asks for it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptCounts {
    /// Failures in a row.
    pub consecutive_failures: u32,
    /// Runs since the issue's phase last advanced.
    pub total_runs: u32,
}

/// A field of an issue, comment, finding or learning that is over a limit or malformed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FieldError {
    /// The text is empty or blank.
    #[error("{field} must not be empty")]
    Empty {
        /// The field.
        field: &'static str,
    },
    /// The text has neither a letter nor a digit.
    #[error("{field} must have a letter or a digit")]
    NoWord {
        /// The field.
        field: &'static str,
    },
    /// The text must be a single line.
    #[error("{field} must be one line without control characters")]
    ControlCharacter {
        /// The field.
        field: &'static str,
    },
    /// The text is too long.
    #[error("{field} is {found} {unit} long; the limit is {limit}")]
    TooLong {
        /// The field.
        field: &'static str,
        /// Its length.
        found: usize,
        /// The limit.
        limit: usize,
        /// What is counted.
        unit: &'static str,
    },
    /// There are too many items.
    #[error("{field} has {found} items; the limit is {limit}")]
    TooMany {
        /// The field.
        field: &'static str,
        /// How many there are.
        found: usize,
        /// The limit.
        limit: usize,
    },
    /// The number is too large.
    #[error("{field} is {found}; the limit is {limit}")]
    TooLarge {
        /// The field.
        field: &'static str,
        /// The number.
        found: u64,
        /// The limit.
        limit: u64,
    },
    /// A label is malformed.
    #[error("label `{label}` {problem}")]
    Label {
        /// The label.
        label: String,
        /// What is wrong with it.
        problem: &'static str,
    },
}

/// Checks a title: one line, not blank, at most [`TITLE_CHARS_MAX`] characters.
///
/// # Errors
/// Names the limit that is passed.
pub fn check_title(title: &str) -> Result<(), FieldError> {
    check_line("title", title)
}

/// Checks a field that is as short as a title: one line, not blank, at most [`TITLE_CHARS_MAX`] characters.
///
/// # Errors
/// Names the limit that is passed.
pub fn check_line(field: &'static str, text: &str) -> Result<(), FieldError> {
    if text.trim().is_empty() {
        return Err(FieldError::Empty { field });
    }
    if text.chars().any(char::is_control) {
        return Err(FieldError::ControlCharacter { field });
    }
    let found = text.chars().count();
    if found > TITLE_CHARS_MAX {
        return Err(FieldError::TooLong {
            field,
            found,
            limit: TITLE_CHARS_MAX,
            unit: "characters",
        });
    }
    Ok(())
}

/// Checks a text field against [`TEXT_BYTES_MAX`].
///
/// # Errors
/// Names the limit that is passed.
pub fn check_text(field: &'static str, text: &str) -> Result<(), FieldError> {
    if text.len() > TEXT_BYTES_MAX {
        return Err(FieldError::TooLong {
            field,
            found: text.len(),
            limit: TEXT_BYTES_MAX,
            unit: "bytes",
        });
    }
    Ok(())
}

/// Checks a text field that must also not be blank.
///
/// # Errors
/// Names the rule that is broken.
pub fn check_required_text(field: &'static str, text: &str) -> Result<(), FieldError> {
    if text.trim().is_empty() {
        return Err(FieldError::Empty { field });
    }
    check_text(field, text)
}

/// Checks labels: at most [`LABELS_MAX`], each short, on one line, at most one phase label among them.
///
/// # Errors
/// Names the first label that breaks a rule.
pub fn check_labels(labels: &[String]) -> Result<(), FieldError> {
    if labels.len() > LABELS_MAX {
        return Err(FieldError::TooMany {
            field: "labels",
            found: labels.len(),
            limit: LABELS_MAX,
        });
    }
    let mut phase_seen = false;
    for label in labels {
        let problem = if label.trim().is_empty() {
            Some("must not be empty")
        } else if label.chars().count() > LABEL_CHARS_MAX {
            Some("is longer than 100 characters")
        } else if label.chars().any(char::is_control) {
            Some("has a control character")
        } else if let Some(name) = label.strip_prefix(PHASE_LABEL_PREFIX) {
            let second = std::mem::replace(&mut phase_seen, true);
            if PhaseName::parse(name).is_err() {
                Some("names no phase (expected kebab-case after `phase:`)")
            } else if second {
                Some("is a second phase label; an issue has at most one")
            } else {
                None
            }
        } else {
            None
        };
        if let Some(problem) = problem {
            return Err(FieldError::Label {
                label: label.clone(),
                problem,
            });
        }
    }
    Ok(())
}

/// Checks a list of paths against [`PATHS_MAX`].
///
/// # Errors
/// Names the limit that is passed.
pub fn check_paths(field: &'static str, paths: &[String]) -> Result<(), FieldError> {
    if paths.len() > PATHS_MAX {
        return Err(FieldError::TooMany {
            field,
            found: paths.len(),
            limit: PATHS_MAX,
        });
    }
    paths
        .iter()
        .try_for_each(|path| check_required_text(field, path))
}

/// A remark on an issue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Comment {
    /// Its id.
    pub id: CommentId,
    /// The issue.
    pub issue: IssueId,
    /// Who wrote it.
    pub author: CommentAuthor,
    /// The text.
    pub content: String,
    /// When it was created.
    pub created_at: Timestamp,
    /// Why Symphony could not tell that a person wrote it; `None` if it could, and for others' comments.
    pub unverified: Option<String>,
    /// With what it was written, and as which user of the page.
    #[serde(flatten)]
    pub attribution: Attribution,
    /// The login of the tracker's user who wrote it; `None` for all others' comments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub login: Option<String>,
    /// Whom it is a message to; `None` for a plain comment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<MessageState>,
}

/// Something an agent or a gate found out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Its id.
    pub id: FindingId,
    /// Its kind.
    pub kind: FindingKind,
    /// The text.
    pub text: String,
    /// Files it is about.
    pub files: Vec<String>,
    /// Who found it.
    pub author: CommentAuthor,
    /// In which run.
    pub run: Option<RunId>,
    /// When it was created.
    pub created_at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_those_of_the_specification() {
        let limits = (TITLE_CHARS_MAX, TEXT_BYTES_MAX, LABELS_MAX, PATHS_MAX);
        assert_eq!(limits, (300, 65_536, 50, 100));
    }

    #[test]
    fn labels_hold_at_most_one_phase() {
        let labels = |list: &[&str]| list.iter().map(|l| (*l).to_owned()).collect::<Vec<_>>();
        assert_eq!(check_labels(&labels(&["a", "phase:ready"])), Ok(()));
        for (bad, message) in [
            (
                labels(&["phase:a", "phase:b"]),
                "label `phase:b` is a second phase label; an issue has at most one",
            ),
            (labels(&[" "]), "label ` ` must not be empty"),
            (
                labels(&["phase:No"]),
                "label `phase:No` names no phase (expected kebab-case after `phase:`)",
            ),
            (vec!["x".into(); 51], "labels has 51 items; the limit is 50"),
        ] {
            assert_eq!(check_labels(&bad).unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn titles_and_texts_name_their_limit() {
        assert_eq!(check_title(&"ä".repeat(300)), Ok(()));
        assert_eq!(
            check_title(&"ä".repeat(301)).unwrap_err().to_string(),
            "title is 301 characters long; the limit is 300"
        );
        assert_eq!(
            check_title(" \n").unwrap_err().to_string(),
            "title must not be empty"
        );
        assert_eq!(
            check_title("one\ntwo").unwrap_err().to_string(),
            "title must be one line without control characters"
        );
        assert!(check_text("description", &"a".repeat(TEXT_BYTES_MAX + 1)).is_err());
    }
}
