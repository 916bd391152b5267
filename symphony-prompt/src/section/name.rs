//! Names of the sections.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The sections of a user prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SectionName {
    /// Identifier, title, place of work, priority, size, labels, notes.
    Header,
    /// That the session of the last run goes on, and what is on the base since.
    Resumed,
    /// Messages that wait for the agent.
    Messages,
    /// The description.
    Description,
    /// Open points of earlier reviews.
    ReviewPoints,
    /// What a pull request changes, its risk, branches, approach; how a verdict is given.
    PullRequest,
    /// What the commits change that answer review points.
    AnswerDiff,
    /// The pull request's diff.
    Diff,
    /// What a phase delivers; how a verdict is given.
    PhaseReview,
    /// The proposal that nothing is left to do; how a verdict is given.
    DoneReview,
    /// The phase's artifact.
    Artifact,
    /// Acceptance criteria.
    Criteria,
    /// Documents of the phases, and of its parent's.
    Documents,
    /// The sub-tasks of a parent that has come back.
    Integration,
    /// Issues this one depends on.
    Dependencies,
    /// Runs before this one.
    PreviousAttempts,
    /// What agents found.
    PreviousFindings,
    /// Comments.
    Conversation,
    /// Learnings of other issues.
    RelatedLearnings,
    /// Commands that must pass.
    GateCommands,
    /// What verified gates said.
    GateResults,
    /// The project's own instructions.
    ProjectInstructions,
    /// The phase, its artifact and conditions.
    PhaseAssignment,
    /// Claims of the phase that were rejected.
    RejectedDeliveries,
    /// Artifacts of the phases before.
    PreviousArtifacts,
    /// The fixed instruction of a background run.
    Instruction,
    /// The projects of the installation.
    WorkspaceProjects,
    /// What there is to know about a project that is set up.
    ProjectSummary,
    /// The worker template of a plan phase.
    PlanPhase,
}

impl SectionName {
    /// Returns the section's name in reports and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Header => "header",
            Self::Resumed => "resumed",
            Self::Messages => "messages",
            Self::Description => "description",
            Self::ReviewPoints => "review_points",
            Self::PullRequest => "pull_request",
            Self::AnswerDiff => "answer_diff",
            Self::Diff => "diff",
            Self::PhaseReview => "phase_review",
            Self::DoneReview => "done_review",
            Self::Artifact => "artifact",
            Self::Criteria => "criteria",
            Self::Documents => "documents",
            Self::Integration => "integration",
            Self::Dependencies => "dependencies",
            Self::PreviousAttempts => "previous_attempts",
            Self::PreviousFindings => "previous_findings",
            Self::Conversation => "conversation",
            Self::RelatedLearnings => "related_learnings",
            Self::GateCommands => "gate_commands",
            Self::GateResults => "gate_results",
            Self::ProjectInstructions => "project_instructions",
            Self::PhaseAssignment => "phase_assignment",
            Self::RejectedDeliveries => "rejected_claims",
            Self::PreviousArtifacts => "previous_artifacts",
            Self::Instruction => "instruction",
            Self::WorkspaceProjects => "workspace_projects",
            Self::ProjectSummary => "project_summary",
            Self::PlanPhase => "plan_phase",
        }
    }
}

impl fmt::Display for SectionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
