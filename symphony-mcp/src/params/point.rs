//! The arguments about review points.

use schemars::JsonSchema;
use serde::Deserialize;

/// How much a point matters.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(crate) enum SeverityName {
    /// Must be answered before the work is handed in again, and closed before approval.
    Must,
    /// Worth doing, but no obstacle to approval.
    Should,
    /// A remark.
    Note,
}

/// A new state for an earlier point.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(crate) enum PointStateName {
    /// It is met, or settled.
    Closed,
    /// It is not met: it needs another answer.
    Reopened,
}

/// A point of a review: an earlier one by its `id`, or a new one by its `text`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "an object such as {\"text\": \"no test\", \"severity\": \"must\"} or {\"id\": 3, \"state\": \"closed\"}"
)]
#[schemars(inline)]
pub(crate) struct PointParam {
    /// The number of an earlier point. Omit it for a new one.
    #[serde(default)]
    pub(crate) id: Option<u32>,
    /// The new state of the earlier point.
    #[serde(default)]
    pub(crate) state: Option<PointStateName>,
    /// For a new point: what is wrong, what that leads to, and what has to be true instead. With `id`: why. At most 2,000 characters.
    #[serde(default)]
    pub(crate) text: Option<String>,
    /// How much a new point matters. Defaults to `must`.
    #[serde(default)]
    pub(crate) severity: Option<SeverityName>,
    /// The number of the acceptance criterion that you do not find met, for a new point about it.
    #[serde(default)]
    pub(crate) criterion: Option<u32>,
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
    /// The commit that answers it, by at least 4 digits of its hash.
    #[serde(default)]
    pub(crate) commit: Option<String>,
    /// How you met it, why you did not, or what a person has to decide. At most 2,000 characters.
    pub(crate) text: String,
}
