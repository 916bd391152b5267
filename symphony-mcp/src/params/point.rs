//! The arguments about review points.

use schemars::JsonSchema;
use serde::Deserialize;

/// How much a point holds up.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(crate) enum SeverityName {
    /// It has to be answered before the next hand-in, and closed before approval.
    Must,
    /// It is worth doing, and keeps nothing back.
    Should,
    /// A remark.
    Note,
}

/// A new state for an old point.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(crate) enum PointStateName {
    /// It is met, or settled.
    Closed,
    /// It is not met: it needs another answer.
    Reopened,
}

/// A point of a review: an old one by its `id`, or a new one by its `text`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "an object such as {\"text\": \"no test\", \"severity\": \"must\"} or {\"id\": 3, \"state\": \"closed\"}"
)]
#[schemars(inline)]
pub(crate) struct PointParam {
    /// The number of an old point; left out for a new one.
    #[serde(default)]
    pub(crate) id: Option<u32>,
    /// The new state of the old point.
    #[serde(default)]
    pub(crate) state: Option<PointStateName>,
    /// A new point: what is wrong, what happens because of it, and what has to be true instead; at most 2,000 characters. With `id`: why.
    #[serde(default)]
    pub(crate) text: Option<String>,
    /// How much a new point holds up; `must` when left out.
    #[serde(default)]
    pub(crate) severity: Option<SeverityName>,
    /// The file that a new point is about, relative to the project.
    #[serde(default)]
    pub(crate) file: Option<String>,
    /// Its lines: `12`, or `12-20`.
    #[serde(default)]
    pub(crate) lines: Option<String>,
}

/// An answer.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(crate) enum AnswerName {
    /// Your commits do what the point asks for.
    Fixed,
    /// They do not, for a reason that you give.
    Declined,
    /// Only a person can say what is meant: the issue waits for the reply.
    Question,
}

/// `answer_review_point`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AnswerReviewPoint {
    /// The point's number.
    pub(crate) point: u32,
    /// What you did with it.
    pub(crate) answer: AnswerName,
    /// The commit that answers it, by at least 4 digits of its name.
    #[serde(default)]
    pub(crate) commit: Option<String>,
    /// How it is met, why not, or what a person has to decide; at most 2,000 characters.
    pub(crate) text: String,
}
