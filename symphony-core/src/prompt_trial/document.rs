//! Recorded issues: what a replay needs of issues that have ended, as a versioned JSON document.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::id::IssueId;
use crate::issue::{
    FieldError, Priority, Size, check_labels, check_required_text, check_text, check_title,
};

/// The version of the document.
pub const RECORDED_VERSION: u32 = 1;
/// Most issues of a document: each is several runs of agents.
pub const RECORDED_ISSUES_MAX: usize = 1_000;
/// Most comments of an issue: far more than a prompt has room for.
pub const RECORDED_COMMENTS_MAX: usize = 1_000;
/// Characters of a commit's id, in SHA-1 and SHA-256 repositories.
const COMMIT_CHARS: [usize; 2] = [40, 64];

/// A document of recorded issues.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "an object with `version` and `issues`"
)]
pub struct RecordedIssues {
    /// [`RECORDED_VERSION`].
    pub version: u32,
    /// The issues: at least one, without duplicates.
    #[serde(deserialize_with = "issues")]
    pub issues: Vec<RecordedIssue>,
}

/// An issue as it was before any agent worked on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an issue as an object")]
pub struct RecordedIssue {
    /// Its identifier.
    pub id: IssueId,
    /// Title.
    #[serde(deserialize_with = "title")]
    pub title: String,
    /// The description. It includes acceptance criteria of the issue's own text.
    #[serde(default, deserialize_with = "description")]
    pub description: String,
    /// The priority.
    #[serde(default = "no_priority")]
    pub priority: Priority,
    /// The estimated size.
    #[serde(default)]
    pub size: Option<Size>,
    /// Labels.
    #[serde(default, deserialize_with = "labels")]
    pub labels: Vec<String>,
    /// The commit that its agent started from.
    #[serde(deserialize_with = "commit")]
    pub base_commit: String,
    /// Acceptance criteria that documents outside of the issue's text had; a replay adds them to the description.
    #[serde(default)]
    pub criteria: Vec<String>,
    /// People's comments from before the first agent started, [`RECORDED_COMMENTS_MAX`] at most.
    #[serde(default, deserialize_with = "comments")]
    pub comments: Vec<RecordedComment>,
}

/// A comment of a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with `text`")]
pub struct RecordedComment {
    /// The text.
    #[serde(deserialize_with = "comment")]
    pub text: String,
}

const fn no_priority() -> Priority {
    Priority::None
}

/// Reads the issues one after the other, so that an error names the issue it is about.
fn issues<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<RecordedIssue>, D::Error> {
    deserializer.deserialize_seq(Issues)
}

struct Issues;

impl<'de> Visitor<'de> for Issues {
    type Value = Vec<RecordedIssue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of 1 to {RECORDED_ISSUES_MAX} issues")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut issues: Vec<RecordedIssue> = Vec::new();
        let mut seen = BTreeMap::new();
        while let Some(issue) = list.next_element::<RecordedIssue>()? {
            let place = issues.len();
            if place >= RECORDED_ISSUES_MAX {
                return Err(A::Error::custom(format!(
                    "a trial takes at most {RECORDED_ISSUES_MAX} issues"
                )));
            }
            if let Some(first) = seen.insert(issue.id.clone(), place) {
                let id = &issue.id;
                return Err(A::Error::custom(format!(
                    "{id} is in the list twice, as issues[{first}] and issues[{place}]"
                )));
            }
            check_text(
                "the description with its criteria",
                &issue.whole_description(),
            )
            .map_err(|problem| A::Error::custom(format!("{}: {problem}", issue.id)))?;
            issues.push(issue);
        }
        if issues.is_empty() {
            return Err(A::Error::custom("the list is empty"));
        }
        Ok(issues)
    }
}

/// Reads a field and checks it by a rule of issues: the error is then about its place in the document.
fn checked<'de, D, T>(
    deserializer: D,
    check: impl FnOnce(&T) -> Result<(), FieldError>,
) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    let value = T::deserialize(deserializer)?;
    check(&value).map_err(D::Error::custom)?;
    Ok(value)
}

fn title<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    checked(deserializer, |text: &String| check_title(text))
}

fn description<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    checked(deserializer, |text: &String| {
        check_text("description", text)
    })
}

fn labels<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    checked(deserializer, |labels: &Vec<String>| check_labels(labels))
}

fn comments<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<RecordedComment>, D::Error> {
    checked(deserializer, |comments: &Vec<RecordedComment>| {
        if comments.len() <= RECORDED_COMMENTS_MAX {
            return Ok(());
        }
        Err(FieldError::TooMany {
            field: "comments",
            found: comments.len(),
            limit: RECORDED_COMMENTS_MAX,
        })
    })
}

fn comment<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    checked(deserializer, |text: &String| {
        check_required_text("comment", text)
    })
}

fn commit<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let found = String::deserialize(deserializer)?;
    let is_digit = |c: u8| c.is_ascii_digit() || (b'a'..=b'f').contains(&c);
    if COMMIT_CHARS.contains(&found.len()) && found.bytes().all(is_digit) {
        Ok(found)
    } else {
        Err(D::Error::custom(format!(
            "`{found}` is not the full id of a commit (40 hexadecimal digits in lower case, as `git rev-parse` prints it)"
        )))
    }
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
}

#[cfg(test)]
mod tests {
    use super::*;

    const ISSUE: &str = r#"{"id": "SYM-1", "title": "One", "base_commit": "0123456789abcdef0123456789abcdef01234567"}"#;

    fn read(issues: &str) -> Result<RecordedIssues, serde_json::Error> {
        serde_json::from_str(&format!(r#"{{"version": 1, "issues": [{issues}]}}"#))
    }

    #[test]
    fn what_is_written_is_read_again() {
        let mut recorded = read(ISSUE).unwrap();
        recorded.issues[0].criteria = vec!["It works".into()];
        recorded.issues[0].comments = vec![RecordedComment {
            text: "In English".into(),
        }];
        let text = recorded_text(&recorded).unwrap();
        assert_eq!(
            serde_json::from_str::<RecordedIssues>(&text).unwrap(),
            recorded
        );
        assert_eq!(
            recorded.issues[0].whole_description(),
            "## Acceptance criteria\n\n- It works\n"
        );
    }

    #[test]
    fn a_field_is_refused_at_its_place() {
        for (issues, expected) in [
            (String::new(), "the list is empty at line 1"),
            (
                format!("{ISSUE},\n{ISSUE}"),
                "SYM-1 is in the list twice, as issues[0] and issues[1] at line 2",
            ),
            (
                ISSUE.replace("0123456789abcdef0", "HEAD0"),
                "`HEAD0123456789abcdef01234567` is not the full id of a commit \
                 (40 hexadecimal digits in lower case, as `git rev-parse` prints it) at line 1",
            ),
            (
                ISSUE.replace("abcdef", "ABCDEF"),
                "`0123456789ABCDEF0123456789ABCDEF01234567` is not the full id of a commit",
            ),
            (
                ISSUE.replace("SYM-1", "SYM-01"),
                "`SYM-01` is not an issue identifier such as SYM-12 at line 1",
            ),
            (
                ISSUE.replace("One", " "),
                "title must not be empty at line 1",
            ),
            (
                ISSUE.replace(
                    '}',
                    &format!(
                        r#", "comments": [{}]}}"#,
                        vec![r#"{"text": "Hi"}"#; 1_001].join(",")
                    ),
                ),
                "comments has 1001 items; the limit is 1000 at line 1",
            ),
            (
                ISSUE.replace('}', r#", "labels": [""]}"#),
                "label `` must not be empty at line 1",
            ),
        ] {
            let found = read(&issues).unwrap_err().to_string();
            assert!(found.starts_with(expected), "{found}");
        }
    }

    #[test]
    fn a_document_has_a_thousand_issues_at_most() {
        let issues = |count| {
            let issues = (1..=count).map(|number| ISSUE.replace("SYM-1", &format!("SYM-{number}")));
            issues.collect::<Vec<_>>().join(",")
        };
        assert_eq!(read(&issues(1_000)).unwrap().issues.len(), 1_000);
        assert!(read(&issues(1_001)).is_err());
    }
}
