//! Pure prompt assembly: layers, sections, token budgets, omissions, and a report of each decision.
//!
//! Plain data goes in; the system prompt, the user prompt and a [`Report`] come out. Nothing here reads a
//! clock, a file, the environment or a random number: the same input gives the same bytes.
//!
//! | for | start at |
//! |---|---|
//! | worker, judge, planner on an issue | [`ProfileDispatch`] |
//! | an agent in a phase before `ready` | [`PhaseDispatch`] |
//! | scanner, researcher without an issue | [`BackgroundDispatch`] |
//! | the setup wizard | [`WizardDispatch`] |
//! | a phase of a plan file | [`PlanPhaseDispatch`], [`worker`] |
//! | what is wrong with a project's own texts | [`lint::lint`] |
//! | a document from another language | [`PromptInput`], [`build_document`] |
//! | a prompt of your own, by the same rules | [`Shares`], [`truncate_tail`], [`build_system_prompt`], [`shorten_artifact`], [`summarize_artifact`] |
//!
//! ```
//! use symphony_prompt::{AgentType, IssueId, IssueInput, Outcome, ProfileDispatch, Workspace};
//!
//! let place = Workspace { identifier: "API-7".into(), path: "/w/API-7".into(), branch: None, base: None };
//! let issue = IssueInput::new(IssueId::parse("API-7")?, "Login answers 500", "since Monday ".repeat(9_000));
//! let built = ProfileDispatch::new(AgentType::Planner, place, issue, "untrusted-7f3a9c0d51e2").build()?;
//!
//! let description = built.report.user.iter().find(|part| part.part == "description").unwrap();
//! assert!(matches!(description.outcome, Outcome::Truncated { .. }), "8,000 tokens are the budget of all sections");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Decisions where the specification leaves room
//!
//! - What sections leave unused of their shares goes to those that would be cut, unless [`Budgets::pass_on`] is off.
//! - A cap of a text applies to the text itself; a cap of a list applies to its items with their fences, because
//!   there may be any number of them. Headings, fences of texts and the list of cut files are not counted.
//! - A worker's latest `approach` finding takes its tokens from the share of the findings.
//! - Review points are outside the shares: every open one is included in full, whatever the budget; the report warns when they are long.
//! - The commits that answer points take at most half of the diff's share, each in full or only by name; the diff gets the rest.
//! - Acceptance criteria are outside the shares, too: each is a bounded line, and there is a bounded number of them.
//! - The documents of a ticket have a separate budget, outside the shares, in every prompt on an issue.
//! - The text rule over the outputs of previous attempts serves the newest attempt first.
//! - The system budget counts the separators, so that a prompt is over it only when protected or unbudgeted layers are.
//! - Phase agents' descriptions and comments have the shares of a prompt without a diff.
//! - Intake and custom types have the planner's omissions; a researcher or architect on an issue keeps its own.
//! - A fence marker that occurs in a text is replaced by one derived from it, of the same length.
//!
//! # Features
//!
//! `tokenizer`: [`TokenCounter`] by a real byte-pair encoder. `schema`: JSON Schemas of the input types.

#![expect(
    clippy::format_push_string,
    reason = "a prompt is built once a run: a plain line is worth more than an allocation"
)]

mod boundary;
mod budget;
mod dispatch;
mod document;
mod error;
mod fence;
mod fingerprint;
mod hidden;
mod input;
mod layer;
pub mod lint;
mod omission;
#[cfg(feature = "schema")]
mod plan_schema;
mod report;
mod rule;
#[cfg(feature = "schema")]
pub mod schema;
mod section;
mod share;
mod summary;
mod system;
#[cfg(feature = "tokenizer")]
mod tokenizer;
mod tokens;
mod truncate;
mod vault;
pub mod worker;

pub use budget::{
    ARTIFACT_CHARS_MAX, ARTIFACT_TOKENS, ATTEMPTS_MAX, Budgets, CHILDREN_MAX, CHILDREN_NAMED_MAX,
    Caps, DEPENDENCIES_MAX, DIFF_CHARS_MAX, FINDINGS_MAX, LEARNINGS_MAX, OUTPUT_BYTES_MAX,
    PHASE_COMMENTS_MAX, REJECTED_DELIVERIES_MAX, SYSTEM_TOKENS, Shares, SharesRow,
    UNBOUNDED_WARNING_TOKENS, USER_TOKENS,
};
pub use dispatch::{
    BackgroundDispatch, PhaseAssignment, PhaseDispatch, PlanPhaseDispatch, ProfileDispatch,
    WizardDispatch, WorkspaceProject,
};
pub use document::{PromptInput, build_document};
pub use error::PromptError;
pub use fence::{FenceMarker, MARKER_CHARS_MAX, MARKER_CHARS_MIN};
pub use hidden::{escape_hidden, is_hidden, strip_hidden};
pub use input::{
    AnswerPatch, AttemptInput, BaseNews, ChildInput, CommentInput, CriteriaInput, CriterionInput,
    DependencyInput, DocumentSource, DoneReview, EvidenceInput, ExternalResearch, FileChange,
    FindingInput, GateCommand, GateResult, IssueInput, MergedChild, PhaseArtifact, PhaseReview,
    PointAnswerInput, PointInput, ProjectContext, ProjectLearning, PullRequestReview, ResumedInput,
    Review, Risk, RiskLevel, VaultNote, Workspace,
};
pub use layer::{LAYER_SEPARATOR, Layer, LayerName, Protection};
pub use omission::OmissionList;
pub use report::{
    BuiltPrompt, DispatchPath, ItemsKept, LeftOutItem, Outcome, PartReport, Report, Warning,
};
pub use rule::WEB_RESTRICTION;
pub use section::SectionName;
pub use summary::{shorten_artifact, summarize_artifact};
pub use symphony_core::Timestamp;
pub use symphony_core::agent::AgentType;
pub use symphony_core::criteria::CriterionState;
pub use symphony_core::id::{IssueId, PhaseName};
pub use symphony_core::issue::{CommentAuthor, FindingKind, IssueStatus, Priority, Size};
pub use symphony_core::review_point::{AnswerKind, PointNumber, Severity};
pub use symphony_core::run::RunStatus;
pub use symphony_core::unit::Tokens;
pub use system::{SystemPrompt, build_system_prompt};
#[cfg(feature = "tokenizer")]
pub use tokenizer::BpeCounter;
pub use tokens::{CHARS_PER_TOKEN, HeuristicCounter, TokenCounter, estimate_tokens};
pub use truncate::{TRUNCATION_MARKER, truncate_head, truncate_tail};
pub use vault::match_notes;
pub use worker::{
    build_simple_prompt, build_task_prompt, build_worker_prompt, estimate_token_count,
    truncate_prompt_if_needed,
};
