//! The twenty-two tools and each role's row.

use super::role::Role;
use super::set::ToolSet;
use super::tool::Tool;
use crate::closed_set::closed_set;
use crate::issue::IssueStatus;

closed_set!(
    /// How far a role may use `update_issue_status`.
    StatusPermission, "status permission", {
        /// `todo` gives the issue back, `blocked` asks for a human.
        Full = "full",
        /// `blocked` only: a human is needed.
        BlockedOnly = "blocked only",
        /// Labels, size, priority and phase, and `blocked`: sorting the backlog.
        Triage = "triage",
    }
);

impl StatusPermission {
    /// Returns the statuses that an agent may ask for; the state machine may still refuse one.
    pub const fn settable(self) -> &'static [IssueStatus] {
        match self {
            Self::Full => &[IssueStatus::Todo, IssueStatus::Blocked],
            Self::BlockedOnly | Self::Triage => &[IssueStatus::Blocked],
        }
    }
}

const READ: ToolSet = ToolSet::of(&[Tool::GetIssue, Tool::ListIssues, Tool::SearchLearnings]);
const NOTES: ToolSet = ToolSet::of(&[Tool::AddFinding, Tool::AddLearning]);
const JUDGE: ToolSet = READ
    .union(NOTES)
    .union(ToolSet::of(&[Tool::UpdateIssueStatus, Tool::AddComment]));
const WORKER: ToolSet = JUDGE.union(ToolSet::of(&[
    Tool::CreateIssue,
    Tool::CreatePr,
    Tool::ProposeDone,
    Tool::AnswerReviewPoint,
    Tool::RecordTestHealth,
]));
const RESEARCHER: ToolSet = JUDGE.union(ToolSet::of(&[
    Tool::CreateIssue,
    Tool::CompletePhase,
    Tool::AnswerReviewPoint,
    Tool::RecordCoverage,
]));
const SCANNER: ToolSet = READ
    .union(NOTES)
    .union(ToolSet::of(&[Tool::CreateIssue, Tool::RecordCoverage]));
const INTAKE: ToolSet = READ.union(ToolSet::of(&[
    Tool::UpdateIssueStatus,
    Tool::CreateIssue,
    Tool::AddFinding,
    Tool::AddComment,
]));

impl Role {
    /// Returns the tools that record the outcome of a run of the role: without a call of one of them it has no result.
    pub const fn duty(self) -> &'static [Tool] {
        match self {
            Self::Worker => &[Tool::CreatePr],
            Self::JudgePr => &[Tool::ApprovePr, Tool::RejectPr],
            Self::JudgeDone => &[Tool::ApproveDone, Tool::RejectDone],
            Self::JudgePhase => &[Tool::ApprovePhase, Tool::RejectPhase],
            Self::Planner => &[Tool::CreateSubtask],
            Self::WorkerInPhase
            | Self::JudgeInPhase
            | Self::PlannerInPhase
            | Self::ScannerInPhase
            | Self::IntakeInPhase
            | Self::Researcher
            | Self::PlanWorker => &[Tool::CompletePhase],
            Self::Intake => &[Tool::UpdateIssueStatus],
            Self::Wizard => &[Tool::ConfigureProject],
            Self::BackgroundResearcher | Self::Scanner | Self::Human => &[],
        }
    }

    /// Returns whether a refusal of the tool is kept with a run of the role: its end says why nothing was handed in.
    pub fn hands_in_with(self, tool: Tool) -> bool {
        // a worker may hand in either way, and needs only the first
        self.duty().contains(&tool) || (self == Self::Worker && tool == Tool::ProposeDone)
    }

    /// Returns the tools of the role: exactly these are listed and callable.
    pub const fn allowed(self) -> ToolSet {
        match self {
            Self::Worker => WORKER,
            Self::WorkerInPhase => in_phase(WORKER),
            Self::JudgePr => JUDGE.union(ToolSet::of(&[Tool::ApprovePr, Tool::RejectPr])),
            Self::JudgeDone => JUDGE.union(ToolSet::of(&[Tool::ApproveDone, Tool::RejectDone])),
            Self::JudgePhase => JUDGE.union(ToolSet::of(&[Tool::ApprovePhase, Tool::RejectPhase])),
            Self::Planner => JUDGE.union(ToolSet::of(&[Tool::CreateSubtask])),
            Self::JudgeInPhase | Self::PlannerInPhase => in_phase(JUDGE),
            Self::Researcher => RESEARCHER,
            Self::BackgroundResearcher => RESEARCHER.difference(ToolSet::of(&[
                Tool::CompletePhase,
                Tool::AnswerReviewPoint,
                Tool::UpdateIssueStatus,
            ])),
            Self::Scanner => SCANNER,
            Self::ScannerInPhase => in_phase(SCANNER),
            Self::Intake => INTAKE,
            Self::IntakeInPhase => in_phase(INTAKE),
            Self::Wizard => ToolSet::of(&[Tool::ConfigureProject]),
            Self::PlanWorker => ToolSet::of(&[
                Tool::CompletePhase,
                Tool::AnswerReviewPoint,
                Tool::AddLearning,
                Tool::SearchLearnings,
            ]),
            Self::Human => ToolSet::ALL,
        }
    }

    /// Returns the statuses that `update_issue_status` offers the role, and takes from it: people set any.
    pub const fn settable_statuses(self) -> &'static [IssueStatus] {
        match (self, self.status_permission()) {
            (Self::Human, _) => IssueStatus::ALL,
            (_, Some(permission)) => permission.settable(),
            (_, None) => &[],
        }
    }

    /// Returns how far the role may use `update_issue_status`; `None` when it lacks the tool.
    pub const fn status_permission(self) -> Option<StatusPermission> {
        match self {
            Self::Worker | Self::WorkerInPhase | Self::Human => Some(StatusPermission::Full),
            Self::JudgePr
            | Self::JudgeDone
            | Self::JudgePhase
            | Self::JudgeInPhase
            | Self::Planner
            | Self::PlannerInPhase
            | Self::Researcher => Some(StatusPermission::BlockedOnly),
            Self::Intake | Self::IntakeInPhase => Some(StatusPermission::Triage),
            Self::BackgroundResearcher
            | Self::Scanner
            | Self::ScannerInPhase
            | Self::Wizard
            | Self::PlanWorker => None,
        }
    }
}

/// A phase run other than `ready` delivers its phase, and creates neither pull requests nor sub-tasks.
const fn in_phase(row: ToolSet) -> ToolSet {
    row.union(ToolSet::of(&[Tool::CompletePhase, Tool::AnswerReviewPoint]))
        .difference(ToolSet::of(&[
            Tool::CreatePr,
            Tool::ProposeDone,
            Tool::CreateSubtask,
        ]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_twenty_two_tools() {
        assert_eq!(Tool::ALL.len(), 22);
    }

    #[test]
    fn a_status_permission_goes_with_the_tool() {
        for role in Role::ALL {
            assert_eq!(
                role.status_permission().is_some(),
                role.allowed().contains(Tool::UpdateIssueStatus),
                "{role}"
            );
        }
    }

    #[test]
    fn no_agent_but_a_judge_of_that_kind_has_a_verdict() {
        for role in Role::ALL.iter().filter(|role| **role != Role::Human) {
            let verdicts: Vec<&str> = role
                .allowed()
                .iter()
                .map(Tool::name)
                .filter(|name| name.starts_with("approve_") || name.starts_with("reject_"))
                .collect();
            let expected: &[&str] = match role {
                Role::JudgePr => &["approve_pr", "reject_pr"],
                Role::JudgeDone => &["approve_done", "reject_done"],
                Role::JudgePhase => &["approve_phase", "reject_phase"],
                _ => &[],
            };
            assert_eq!(verdicts, expected, "{role}");
        }
    }
}
