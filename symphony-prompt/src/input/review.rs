//! What a judge reviews.

use serde::{Deserialize, Serialize};
use symphony_core::id::PhaseName;

use crate::input::{AnswerPatch, GateResult};

/// What a judge reviews.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Review {
    /// A pull request.
    PullRequest(Box<PullRequestReview>),
    /// A phase's delivery.
    Phase(Box<PhaseReview>),
    /// The proposal that nothing is left to do.
    Done(Box<DoneReview>),
}

impl Review {
    /// Returns what the gates said; none where none ran.
    pub(crate) fn gate_results(&self) -> Option<&[GateResult]> {
        match self {
            Self::PullRequest(review) => Some(&review.gate_results),
            Self::Done(review) => Some(&review.gate_results),
            Self::Phase(_) => None,
        }
    }
}

/// A proposal that nothing is left to do, under review.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct DoneReview {
    /// Why nothing is left, markdown.
    pub reason: String,
    /// What shows it.
    pub evidence: Vec<EvidenceInput>,
    /// The base branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// The commit of the base that the proposal was made on; a verdict counts for it only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_commit: Option<String>,
    /// What the gates said when Symphony ran them on that commit.
    pub gate_results: Vec<GateResult>,
    /// Whether no gate is required.
    #[serde(skip_serializing_if = "is_false")]
    pub unverified: bool,
}

/// An item of evidence. Symphony has checked that it exists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct EvidenceInput {
    /// What it is: `commit 0123…`, `pull request 4`, `gate test`, `file src/a.rs`.
    pub what: String,
    /// What it shows, by the worker's word.
    #[serde(default)]
    pub note: String,
}

/// A pull request under review. Every field may be empty; its part of the prompt is then left out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct PullRequestReview {
    /// Its title.
    pub title: String,
    /// Its body, markdown.
    pub body: String,
    /// The branch to be merged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The branch it would be merged into.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// The commit under review; a verdict counts for it only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head_commit: Option<String>,
    /// What it changes, per file.
    pub files: Vec<FileChange>,
    /// How risky it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub risk: Option<Risk>,
    /// What the gates said when Symphony ran them; takes the place of the gate commands.
    pub gate_results: Vec<GateResult>,
    /// Whether no gate is required, so that only the review is between the change and the base branch.
    #[serde(skip_serializing_if = "is_false")]
    pub unverified: bool,
    /// What it does to the submodules that `.gitmodules` declares, a sentence part each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub submodules: Vec<String>,
    /// Paths that the base branch calls generated (`.gitattributes`, `linguist-generated` or `linguist-vendored`). The change
    /// itself has no say in that: take them from the base commit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub generated_paths: Vec<String>,
    /// What the commits change that answer points of earlier reviews.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub answer_patches: Vec<AnswerPatch>,
    /// The whole diff, in git's unified form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// Whether the diff may lack files, because there is a limit to what is read of one: those are named.
    #[serde(skip_serializing_if = "is_false")]
    pub diff_is_cut: bool,
    /// The file that holds the whole diff and that the judge may read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff_path: Option<String>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the form that serde asks for"
)]
const fn is_false(value: &bool) -> bool {
    !*value
}

/// How a pull request changes a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FileChange {
    /// Its path.
    pub path: String,
    /// Lines added.
    pub insertions: u64,
    /// Lines removed.
    pub deletions: u64,
}

/// How risky a change is thought to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Risk {
    /// The level.
    pub level: RiskLevel,
    /// Files touched.
    pub files: u64,
    /// Lines added and removed.
    pub lines: u64,
    /// Sensitive paths that are touched.
    #[serde(default)]
    pub sensitive_paths: Vec<String>,
}

/// The level of a risk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RiskLevel {
    /// Small, and nothing sensitive.
    Low,
    /// Above the medium threshold.
    Medium,
    /// Above the high threshold, or a sensitive path.
    High,
}

impl RiskLevel {
    /// Returns the level's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// A phase's delivery under review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PhaseReview {
    /// The phase.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub phase: PhaseName,
    /// What the agent says it did.
    #[serde(default)]
    pub summary: String,
    /// Where the artifact is in the worktree; `{id}` stands for the identifier.
    #[serde(default)]
    pub artifact_path: String,
    /// The artifact; none when the phase is skipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact: Option<String>,
    /// Headings it must have.
    #[serde(default)]
    pub required_sections: Vec<String>,
    /// When the phase is done.
    #[serde(default)]
    pub done_when: Vec<String>,
    /// The later phase that the agent asks to skip to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub skip_to: Option<PhaseName>,
}
