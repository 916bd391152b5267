//! The arguments of each tool; their JSON schemas are made from these types.

mod point;
mod project;

use schemars::JsonSchema;
use serde::Deserialize;

pub(crate) use point::{AnswerName, AnswerReviewPoint, PointParam, PointStateName, SeverityName};
pub(crate) use project::ConfigureProject;

/// `get_issue`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetIssue {
    /// Identifier such as SYM-12; left out: the issue you work on.
    #[serde(default)]
    pub(crate) issue: Option<String>,
}

/// A status an issue can be asked for.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(crate) enum StatusName {
    /// Known, not asked for.
    Backlog,
    /// Waits to be dispatched.
    Todo,
    /// An agent works on it.
    InProgress,
    /// Waits for a verdict.
    Review,
    /// Waits for something named.
    Blocked,
    /// Merged, or finished by a human.
    Done,
    /// Given up.
    Cancelled,
}

/// `list_issues`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListIssues {
    /// Only issues in this status.
    #[serde(default)]
    pub(crate) status: Option<StatusName>,
    /// Only issues with this label.
    #[serde(default)]
    pub(crate) label: Option<String>,
    /// Only issues with this text in title or description, case ignored.
    #[serde(default)]
    pub(crate) text: Option<String>,
    /// How many at most, 1 to 100; 20 when left out.
    #[serde(default)]
    #[schemars(range(min = 1, max = 100))]
    pub(crate) limit: Option<u32>,
    /// `next_cursor` of the previous page.
    #[serde(default)]
    pub(crate) cursor: Option<String>,
}

/// `update_issue_status`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UpdateIssueStatus {
    /// `todo` gives the issue back, `blocked` says that you cannot go on and a human is needed.
    pub(crate) status: StatusName,
    /// Why, in a sentence for a human; required for `blocked`.
    #[serde(default)]
    pub(crate) reason: Option<String>,
}

/// `update_issue_status`, for those who may only ask for a human. Calls are read as [`UpdateIssueStatus`], so that another
/// status is refused in words.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct BlockIssue {
    /// `blocked` says that you cannot go on and a human is needed.
    status: StatusName,
    /// Why, in a sentence for a human.
    reason: String,
}

/// `update_issue_status`, for those who sort the backlog; what is left out stays.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TriageIssue {
    /// All labels that the issue is to have, without its phase; at most 50.
    #[serde(default)]
    pub(crate) labels: Option<Vec<String>>,
    /// How much work.
    #[serde(default)]
    pub(crate) size: Option<SizeName>,
    /// How urgent.
    #[serde(default)]
    pub(crate) priority: Option<PriorityName>,
    /// The phase in which work on it begins, such as `research` or `ready`.
    #[serde(default)]
    pub(crate) phase: Option<String>,
    /// Where it is to go; usually left out, since people decide what is taken up.
    #[serde(default)]
    pub(crate) status: Option<StatusName>,
    /// Why it is moved, in a sentence for a human; required for `blocked`.
    #[serde(default)]
    pub(crate) reason: Option<String>,
}

/// How urgent.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(crate) enum PriorityName {
    /// Before everything else.
    Urgent,
    /// Soon.
    High,
    /// In its turn.
    Medium,
    /// When there is room.
    Low,
    /// Nobody said.
    None,
}

/// How much work.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(crate) enum SizeName {
    /// A session or less.
    Small,
    /// One session.
    Medium,
    /// More than one session.
    Large,
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
    #[serde(default)]
    pub(crate) priority: Option<PriorityName>,
    /// How much work.
    #[serde(default)]
    pub(crate) size: Option<SizeName>,
}

/// `create_subtask`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CreateSubtask {
    /// One line, at most 300 characters.
    pub(crate) title: String,
    /// What is to be done, where, and how to tell that it is done: its worker sees this and not your plan.
    pub(crate) description: String,
    /// How urgent; left out: as the issue that you split.
    #[serde(default)]
    pub(crate) priority: Option<PriorityName>,
    /// How much work.
    #[serde(default)]
    pub(crate) size: Option<SizeName>,
    /// Identifiers of issues that must be done before, such as SYM-12: usually sub-tasks that you made earlier.
    #[serde(default)]
    pub(crate) depends_on: Vec<String>,
}

/// What a finding tells.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(crate) enum FindingName {
    /// Something worth knowing.
    Note,
    /// How the work was done, for the reviewer.
    Approach,
    /// What is missing, with a theory of the cause.
    Gap,
    /// A defect.
    Bug,
    /// A risk.
    Risk,
    /// What a review found.
    Review,
}

/// `add_finding`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AddFinding {
    /// What the finding tells.
    pub(crate) kind: FindingName,
    /// The finding itself.
    pub(crate) text: String,
    /// Files it is about, relative to the project; at most 100.
    #[serde(default)]
    pub(crate) files: Vec<String>,
}

/// What kind of learning.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(crate) enum LearningName {
    /// How things are done in this project.
    Convention,
    /// A way that works.
    Pattern,
    /// A trap.
    Gotcha,
}

/// `add_learning`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AddLearning {
    /// The learning in one or two sentences that help with other issues too; at most 600 characters.
    pub(crate) pattern: String,
    /// What kind.
    #[serde(default)]
    pub(crate) learning_type: Option<LearningName>,
    /// Paths it applies to; at most 100.
    #[serde(default)]
    pub(crate) applies_to: Vec<String>,
}

/// `add_comment`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AddComment {
    /// The comment.
    pub(crate) content: String,
    /// Identifier of another issue of the project; left out: the issue you work on.
    #[serde(default)]
    pub(crate) issue: Option<String>,
}

/// `search_learnings`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchLearnings {
    /// What you want to know about, in your own words.
    pub(crate) query: String,
    /// How many at most, 1 to 100; 10 when left out.
    #[serde(default)]
    #[schemars(range(min = 1, max = 100))]
    pub(crate) limit: Option<u32>,
    /// Search the other projects of this installation too.
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
    /// The gates as you ran them; Symphony runs them again.
    #[serde(default)]
    pub(crate) gate_results: Vec<GateResult>,
    /// How you went about it, for the reviewer; recorded as a finding.
    #[serde(default)]
    pub(crate) approach: Option<String>,
    /// Whether git repositories that you made inside the worktree become plain files of your change; without it the call is
    /// refused when there is one.
    #[serde(default)]
    pub(crate) absorb: bool,
}

/// `approve_pr`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ApprovePr {
    /// What convinced you.
    #[serde(default)]
    pub(crate) comment: Option<String>,
    /// Old points that are met (`id`, `state`), and remarks as new points of severity `should` or `note`.
    #[serde(default)]
    pub(crate) points: Vec<PointParam>,
}

/// `reject_pr`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RejectPr {
    /// A summary in a sentence. Without `points` it is what must change, concretely enough to act on, and becomes one `must` point.
    #[serde(default)]
    pub(crate) feedback: Option<String>,
    /// What must change: one point for each thing, and old ones that are met or not met (`id`, `state`).
    #[serde(default)]
    pub(crate) points: Vec<PointParam>,
}

/// `complete_phase`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CompletePhase {
    /// The phase, as the issue's label names it.
    pub(crate) phase: String,
    /// Two to four sentences: what you delivered, and what deserves the reader's eye.
    pub(crate) summary: String,
    /// The artifact, relative to the worktree; left out: the path of your assignment.
    #[serde(default)]
    pub(crate) artifact_path: Option<String>,
    /// A later phase to go on with, when the issue is so simple that those between are not needed.
    #[serde(default)]
    pub(crate) skip_to: Option<String>,
    /// Whether git repositories that you made inside the worktree become plain files of your change; without it the call is
    /// refused when there is one.
    #[serde(default)]
    pub(crate) absorb: bool,
}

/// `approve_phase`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ApprovePhase {
    /// What convinced you.
    #[serde(default)]
    pub(crate) comment: Option<String>,
    /// Old points that are met (`id`, `state`), and remarks as new points of severity `should` or `note`.
    #[serde(default)]
    pub(crate) points: Vec<PointParam>,
}

/// `reject_phase`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RejectPhase {
    /// A summary in a sentence. Without `points` it is what must change, concretely enough to act on, and becomes one `must` point.
    #[serde(default)]
    pub(crate) feedback: Option<String>,
    /// What must change: one point for each thing, and old ones that are met or not met (`id`, `state`).
    #[serde(default)]
    pub(crate) points: Vec<PointParam>,
}

/// How a plan's phase ended.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(crate) enum OutcomeName {
    /// All success criteria are met.
    Complete,
    /// They are not.
    Failed,
}

/// What an artifact is.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(crate) enum ArtifactName {
    /// A file that you created.
    FileCreated,
    /// A file that you changed.
    FileModified,
    /// A file that you deleted.
    FileDeleted,
    /// Something that other code can use.
    Export,
    /// A remark for the phases that follow.
    Note,
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
    pub(crate) kind: ArtifactName,
    /// The file, relative to the project.
    #[serde(default)]
    pub(crate) path: Option<String>,
    /// The name of an export or a note.
    #[serde(default)]
    pub(crate) name: Option<String>,
    /// What there is to say: a signature, a decision.
    #[serde(default)]
    pub(crate) content: Option<String>,
    /// Anything else.
    #[serde(default)]
    pub(crate) metadata: Option<serde_json::Map<String, serde_json::Value>>,
}

/// `complete_phase` of a plan's run.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CompletePlanPhase {
    /// How the phase ended.
    pub(crate) outcome: OutcomeName,
    /// What is missing and why, with the exact message of the tool or test that failed; needed when it failed.
    #[serde(default)]
    pub(crate) error: Option<String>,
    /// What other phases have to know; at most 1,000.
    #[serde(default)]
    pub(crate) artifacts: Vec<ArtifactParam>,
    /// Whether git repositories that you made inside the worktree become plain files of your change; without it the call is
    /// refused when there is one.
    #[serde(default)]
    pub(crate) absorb: bool,
}

/// `record_coverage`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RecordCoverage {
    /// The file, relative to the project.
    pub(crate) file: String,
    /// What you looked at it for, in a few words.
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
    /// The names of the tests, with their paths; at most 10,000.
    #[serde(default)]
    pub(crate) names: Vec<String>,
}
