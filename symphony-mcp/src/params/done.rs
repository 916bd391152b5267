//! The arguments of the tools about proposals that nothing is left to do.

use schemars::JsonSchema;
use serde::Deserialize;
use symphony_core::done::EvidenceKind;

use super::PointParam;
use crate::named::Named;

/// An item of evidence.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "an object such as {\"kind\": \"file\", \"reference\": \"src/a.rs\", \"note\": \"has the check\"}"
)]
#[schemars(inline)]
pub(crate) struct EvidenceParam {
    /// What it names.
    pub(crate) kind: Named<EvidenceKind>,
    /// Its reference: a commit id, the number of a pull request, the name of a gate, a path from the root of the repository.
    pub(crate) reference: String,
    /// Which requirement it meets and how, in a sentence or two.
    #[serde(default)]
    pub(crate) note: String,
}

/// `propose_done`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProposeDone {
    /// Why nothing is left to do: each requirement of the issue, and what meets it.
    pub(crate) reason: String,
    /// What proves it: 1 to 50 items, each checked when you call.
    pub(crate) evidence: Vec<EvidenceParam>,
}

/// `approve_done`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ApproveDone {
    /// What convinced you.
    pub(crate) comment: Option<String>,
    /// Earlier points that are met (`id`, `state`), and remarks as new points of severity `should` or `note`.
    #[serde(default)]
    pub(crate) points: Vec<PointParam>,
}

/// `reject_done`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RejectDone {
    /// A one-sentence summary. Without `points`, say here what is still missing, specifically enough to act on; it becomes one `must` point.
    pub(crate) feedback: Option<String>,
    /// One point for each thing that is still missing, and earlier points that are met or not met (`id`, `state`).
    #[serde(default)]
    pub(crate) points: Vec<PointParam>,
}
