//! Plain data that prompts are built from. Everything is serde-serialisable; nothing here has behaviour.

mod criteria;
mod document;
mod integration;
mod issue;
mod knowledge;
mod point;
mod resumed;
mod review;

pub use criteria::{CriteriaInput, CriterionInput};
pub use document::{DocumentSource, PhaseArtifact};
pub use integration::{ChildInput, MergedChild};
pub use issue::{AttemptInput, CommentInput, DependencyInput, FindingInput, IssueInput, Workspace};
pub use knowledge::{
    ExternalResearch, GateCommand, GateResult, ProjectContext, ProjectLearning, VaultNote,
};
pub use point::{AnswerPatch, PointAnswerInput, PointInput};
pub use resumed::{BaseNews, ResumedInput};
pub use review::{
    DoneReview, EvidenceInput, FileChange, PhaseReview, PullRequestReview, Review, Risk, RiskLevel,
};
