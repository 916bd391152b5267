//! The arguments of each tool; their JSON schemas are made from these types.

mod criterion;
mod done;
mod point;
mod project;

use schemars::JsonSchema;
use serde::Deserialize;
use symphony_core::issue::{FindingKind, IssueStatus, Priority, Size};
use symphony_core::learning::LearningType;
use symphony_core::plan::ArtifactKind;
use symphony_core::plan::state::ReportedOutcome;

pub(crate) use criterion::CriterionParam;
pub(crate) use done::{ApproveDone, EvidenceParam, ProposeDone, RejectDone};
pub(crate) use point::{AnswerReviewPoint, PointParam};
pub(crate) use project::ConfigureProject;

use crate::named::Named;

/// `get_issue`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetIssue {
    /// Identifier such as SYM-12. Defaults to the issue you work on.
    pub(crate) issue: Option<String>,
}

/// `list_issues`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListIssues {
    /// Only issues in this status.
    pub(crate) status: Option<Named<IssueStatus>>,
    /// Only issues with this label.
    pub(crate) label: Option<String>,
    /// Only issues with this text in the title or description, ignoring case.
    pub(crate) text: Option<String>,
    /// Maximum number of issues, 1 to 100. Defaults to 20.
    #[schemars(range(min = 1, max = 100))]
    pub(crate) limit: Option<u32>,
    /// `next_cursor` of the previous page.
    pub(crate) cursor: Option<String>,
}

/// `update_issue_status`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UpdateIssueStatus {
    /// `todo` gives the issue back; `blocked` means that you cannot go on and need a person.
    pub(crate) status: Named<IssueStatus>,
    /// Why, in a sentence for a person. Required for `blocked`.
    pub(crate) reason: Option<String>,
}

/// `update_issue_status`, for those who may only ask for a human. Calls are read as [`UpdateIssueStatus`], so that another
/// status is refused in words.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct BlockIssue {
    /// `blocked` means that you cannot go on and need a person.
    status: Named<IssueStatus>,
    /// Why, in a sentence for a person.
    reason: String,
}

/// `update_issue_status`, for those who sort the backlog; what is left out stays.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TriageIssue {
    /// The complete list of labels, without the phase. At most 50.
    pub(crate) labels: Option<Vec<String>>,
    /// How much work.
    pub(crate) size: Option<Named<Size>>,
    /// How urgent.
    pub(crate) priority: Option<Named<Priority>>,
    /// The phase in which work on it begins, such as `research` or `ready`.
    pub(crate) phase: Option<String>,
    /// The new status. Usually omitted: people decide what is taken up.
    pub(crate) status: Option<Named<IssueStatus>>,
    /// Why it is moved, in a sentence for a person. Required for `blocked`.
    pub(crate) reason: Option<String>,
}

/// `create_issue`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CreateIssue {
    /// One line, at most 300 characters.
    pub(crate) title: String,
    /// What is wrong or wanted, where, and how to tell that it is done.
    #[serde(default)]
    pub(crate) description: String,
    /// At most 50 labels.
    #[serde(default)]
    pub(crate) labels: Vec<String>,
    /// How urgent.
    pub(crate) priority: Option<Named<Priority>>,
    /// How much work.
    pub(crate) size: Option<Named<Size>>,
}

/// `create_subtask`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CreateSubtask {
    /// One line, at most 300 characters.
    pub(crate) title: String,
    /// What to do, where, and how to tell that it is done. The worker sees this, not your plan.
    pub(crate) description: String,
    /// How urgent. Defaults to the priority of the issue you split.
    pub(crate) priority: Option<Named<Priority>>,
    /// How much work.
    pub(crate) size: Option<Named<Size>>,
    /// Identifiers of issues that must be done first, such as SYM-12; usually sub-tasks that you created earlier.
    #[serde(default)]
    pub(crate) depends_on: Vec<String>,
}

/// `add_finding`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AddFinding {
    /// The kind of finding.
    pub(crate) kind: Named<FindingKind>,
    /// The finding itself.
    pub(crate) text: String,
    /// The files it is about, relative to the project. At most 100.
    #[serde(default)]
    pub(crate) files: Vec<String>,
}

/// `add_learning`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AddLearning {
    /// One or two sentences that will help with other issues too. At most 600 characters.
    pub(crate) pattern: String,
    /// The kind of learning.
    pub(crate) learning_type: Option<Named<LearningType>>,
    /// The paths it applies to. At most 100.
    #[serde(default)]
    pub(crate) applies_to: Vec<String>,
}

/// `add_comment`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AddComment {
    /// The comment.
    pub(crate) content: String,
    /// Identifier of another issue of the project. Defaults to the issue you work on.
    pub(crate) issue: Option<String>,
}

/// `search_learnings`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchLearnings {
    /// What you want to know about, in your own words.
    pub(crate) query: String,
    /// Maximum number of learnings, 1 to 100. Defaults to 10.
    #[schemars(range(min = 1, max = 100))]
    pub(crate) limit: Option<u32>,
    /// Also search the other projects of this installation.
    #[serde(default)]
    pub(crate) all_projects: bool,
}

/// A gate as the agent ran it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "an object such as {\"name\": \"test\", \"passed\": true}"
)]
#[schemars(inline)]
pub(crate) struct GateResult {
    /// The gate's name.
    pub(crate) name: String,
    /// Whether it passed.
    pub(crate) passed: bool,
    /// The end of its output.
    #[serde(default)]
    pub(crate) output: String,
}

/// `create_pr`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CreatePr {
    /// One line, at most 300 characters.
    pub(crate) title: String,
    /// What was changed and why, and how it was tested.
    pub(crate) body: String,
    /// The results of the gates as you ran them. Symphony runs them again.
    #[serde(default)]
    pub(crate) gate_results: Vec<GateResult>,
    /// One answer to each acceptance criterion, by the numbers of your prompt. Omit it if the issue has no criteria.
    #[serde(default)]
    pub(crate) checklist: Vec<CriterionParam>,
    /// How you did it and why, for the reviewer. Recorded as an `approach` finding; omit it if you have recorded one.
    pub(crate) approach: Option<String>,
    /// Turns git repositories that you created inside the worktree into plain files of your change. Without it, the call is
    /// refused if there is one.
    #[serde(default)]
    pub(crate) absorb: bool,
}

/// `approve_pr`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ApprovePr {
    /// What convinced you.
    pub(crate) comment: Option<String>,
    /// Earlier points that are met (`id`, `state`), and remarks as new points of severity `should` or `note`.
    #[serde(default)]
    pub(crate) points: Vec<PointParam>,
}

/// `reject_pr`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RejectPr {
    /// A one-sentence summary. Without `points`, say here what must change, specifically enough to act on; it becomes one `must` point.
    pub(crate) feedback: Option<String>,
    /// One point for each thing that must change, and earlier points that are met or not met (`id`, `state`).
    #[serde(default)]
    pub(crate) points: Vec<PointParam>,
}

/// `complete_phase`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CompletePhase {
    /// The phase, as in your assignment.
    pub(crate) phase: String,
    /// Two to four sentences: what you delivered, and what deserves the reader's attention.
    pub(crate) summary: String,
    /// The artifact, relative to the worktree. Defaults to the path in your assignment.
    pub(crate) artifact_path: Option<String>,
    /// A later phase to continue with, if the issue is simple enough to skip those in between.
    pub(crate) skip_to: Option<String>,
    /// Turns git repositories that you created inside the worktree into plain files of your change. Without it, the call is
    /// refused if there is one.
    #[serde(default)]
    pub(crate) absorb: bool,
}

/// `approve_phase`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ApprovePhase {
    /// What convinced you.
    pub(crate) comment: Option<String>,
    /// Earlier points that are met (`id`, `state`), and remarks as new points of severity `should` or `note`.
    #[serde(default)]
    pub(crate) points: Vec<PointParam>,
}

/// `reject_phase`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RejectPhase {
    /// A one-sentence summary. Without `points`, say here what must change, specifically enough to act on; it becomes one `must` point.
    pub(crate) feedback: Option<String>,
    /// One point for each thing that must change, and earlier points that are met or not met (`id`, `state`).
    #[serde(default)]
    pub(crate) points: Vec<PointParam>,
}

/// Something that a phase passes on.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "an object such as {\"type\": \"file_created\", \"path\": \"src/a.rs\"}"
)]
#[schemars(inline)]
pub(crate) struct ArtifactParam {
    /// What it is.
    #[serde(rename = "type")]
    pub(crate) kind: Named<ArtifactKind>,
    /// The file, relative to the project.
    pub(crate) path: Option<String>,
    /// The name of an export or a note.
    pub(crate) name: Option<String>,
    /// The content: a signature, a decision.
    pub(crate) content: Option<String>,
    /// Anything else.
    pub(crate) metadata: Option<serde_json::Map<String, serde_json::Value>>,
}

/// `complete_phase` of a plan's run.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CompletePlanPhase {
    /// How the phase ended.
    pub(crate) outcome: Named<ReportedOutcome>,
    /// What is missing and why, with the exact message of the tool or test that failed. Required for `failed`.
    pub(crate) error: Option<String>,
    /// What other phases have to know. At most 1,000.
    #[serde(default)]
    pub(crate) artifacts: Vec<ArtifactParam>,
    /// Turns git repositories that you created inside the worktree into plain files of your change. Without it, the call is
    /// refused if there is one.
    #[serde(default)]
    pub(crate) absorb: bool,
}

/// `record_coverage`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RecordCoverage {
    /// The file, relative to the project.
    pub(crate) file: String,
    /// What you read it for, in a few words.
    pub(crate) concept: String,
    /// What you found there.
    #[serde(default)]
    pub(crate) notes: String,
}

/// `record_test_health`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RecordTestHealth {
    /// How many tests the full run had.
    pub(crate) test_count: u64,
    /// How long it took, in milliseconds.
    pub(crate) duration_ms: u64,
    /// The names of the tests, with their paths. At most 10,000.
    #[serde(default)]
    pub(crate) names: Vec<String>,
}
