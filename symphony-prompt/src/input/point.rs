//! Review points and their answers.

use serde::{Deserialize, Serialize};
use symphony_core::issue::CommentAuthor;
use symphony_core::review_point::{AnswerKind, PointNumber, Severity};

/// An open point of an earlier review. Points are given in the order of their numbers, and are never cut.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PointInput {
    /// Its number, by which it is answered and closed.
    #[cfg_attr(feature = "schema", schemars(with = "u32"))]
    pub number: PointNumber,
    /// How serious it is: `must`, `should`, `note`.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub severity: Severity,
    /// Who made it: `human`, or an agent type.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub author: CommentAuthor,
    /// The review that it came from, such as `pull request 2 at commit 0a1b2c3`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review: Option<String>,
    /// The file and the lines that it is about, such as `src/a.rs:12-20`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// What it asks for.
    pub text: String,
    /// Whether it was answered since it was last opened.
    #[serde(default)]
    pub answered: bool,
    /// What was said to it, oldest first.
    #[serde(default)]
    pub answers: Vec<PointAnswerInput>,
}

/// What was said to a point.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PointAnswerInput {
    /// What it says: `fixed`, `declined`, `question`, `remark`.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub kind: AnswerKind,
    /// Whose it is.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub author: CommentAuthor,
    /// The commit that answers the point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// In words.
    pub text: String,
}

/// What a commit changes that answers points.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct AnswerPatch {
    /// The commit.
    pub commit: String,
    /// The points that it answers.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<u32>"))]
    pub points: Vec<PointNumber>,
    /// Its patch, in git's unified form; none when it is too long to be shown, or no longer on the branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patch: Option<String>,
}
