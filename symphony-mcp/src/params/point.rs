//! The arguments about review points.

use schemars::JsonSchema;
use serde::Deserialize;
use symphony_core::review_point::{AnswerKind, PointDecision, Severity};

use crate::named::Named;

/// A point of a review: an earlier one by its `id`, or a new one by its `text`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "an object such as {\"text\": \"no test\", \"severity\": \"must\"} or {\"id\": 3, \"state\": \"closed\"}"
)]
#[schemars(inline)]
pub(crate) struct PointParam {
    /// The number of an earlier point. Omit it for a new one.
    pub(crate) id: Option<u32>,
    /// The new state of the earlier point.
    pub(crate) state: Option<Named<PointDecision>>,
    /// For a new point: what is wrong, what that leads to, and what has to be true instead. With `id`: why. At most 2,000 characters.
    pub(crate) text: Option<String>,
    /// How much a new point matters. Defaults to `must`.
    pub(crate) severity: Option<Named<Severity>>,
    /// The number of the acceptance criterion that you do not find met, for a new point about it.
    pub(crate) criterion: Option<u32>,
    /// The file that a new point is about, relative to the project.
    pub(crate) file: Option<String>,
    /// Its lines: `12`, or `12-20`.
    pub(crate) lines: Option<String>,
}

/// `answer_review_point`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AnswerReviewPoint {
    /// The point's number.
    pub(crate) point: u32,
    /// What you did with it.
    pub(crate) answer: Named<AnswerKind>,
    /// The commit that answers it, by at least 4 digits of its hash.
    pub(crate) commit: Option<String>,
    /// How you met it, why you did not, or what a person has to decide. At most 2,000 characters.
    pub(crate) text: String,
}
