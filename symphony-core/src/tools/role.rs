//! Roles: what a run is for the MCP service. Each is a row of the tool table.

use crate::agent::AgentType;
use crate::closed_set::closed_set;
use crate::id::PhaseName;

closed_set!(
    /// What a run is to the MCP service; fixed when its socket is made, never an argument of a call.
    ///
    /// The `…InPhase` roles are phase runs other than `ready` of profiles whose own row lacks
    /// `complete_phase`; researcher and architect have it anyway.
    Role, "role", {
        /// Implements an issue.
        Worker = "worker",
        /// A worker's profile in a phase other than `ready`.
        WorkerInPhase = "worker_in_phase",
        /// Reviews a pull request.
        JudgePr = "judge_pr",
        /// Reviews a proposal that nothing is left to do.
        JudgeDone = "judge_done",
        /// Reviews a delivery.
        JudgePhase = "judge_phase",
        /// A judge's profile as the author of a phase: it has no verdict there.
        JudgeInPhase = "judge_in_phase",
        /// Splits an issue.
        Planner = "planner",
        /// A planner's profile in a phase, such as grooming.
        PlannerInPhase = "planner_in_phase",
        /// Researcher, architect and custom types.
        Researcher = "researcher",
        /// A researcher without an issue.
        BackgroundResearcher = "background_researcher",
        /// Looks for work.
        Scanner = "scanner",
        /// A scanner's profile in a phase.
        ScannerInPhase = "scanner_in_phase",
        /// Sorts the backlog.
        Intake = "intake",
        /// An intake's profile in a phase.
        IntakeInPhase = "intake_in_phase",
        /// Sets a project up.
        Wizard = "wizard",
        /// A phase of a plan file.
        PlanWorker = "plan_worker",
        /// A human's MCP client: every tool.
        Human = "human",
    }
);

/// What a run is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Assignment {
    /// An issue, in the phase of its label if it has one.
    Issue(Option<PhaseName>),
    /// The open pull request of an issue.
    PrReview,
    /// The open proposal that nothing is left to do on an issue.
    DoneReview,
    /// The delivery of an issue's phase.
    PhaseReview,
    /// The project, without an issue: scanner, background research, wizard.
    Background,
    /// A phase of a plan file.
    PlanPhase,
}

/// Returns the role of a run of an agent type.
///
/// Only a judge gets a verdict, and only for the review it was dispatched to: any other type that is given
/// a review keeps its plain row.
pub fn role_for(agent: &AgentType, assignment: &Assignment) -> Role {
    match (agent, assignment) {
        (_, Assignment::PlanPhase) => Role::PlanWorker,
        (AgentType::Wizard, _) => Role::Wizard,
        (AgentType::Judge, Assignment::PhaseReview) => Role::JudgePhase,
        (AgentType::Judge, Assignment::DoneReview) => Role::JudgeDone,
        (AgentType::Judge, Assignment::Issue(Some(phase))) if !phase.is_ready() => {
            Role::JudgeInPhase
        }
        (AgentType::Judge, _) => Role::JudgePr,
        (AgentType::Scanner, Assignment::Background) => Role::Scanner,
        (_, Assignment::Background) => Role::BackgroundResearcher,
        (_, Assignment::Issue(Some(phase))) if !phase.is_ready() => in_phase(agent),
        (
            _,
            Assignment::Issue(_)
            | Assignment::PrReview
            | Assignment::DoneReview
            | Assignment::PhaseReview,
        ) => plain(agent),
    }
}

fn plain(agent: &AgentType) -> Role {
    match agent {
        AgentType::Worker => Role::Worker,
        AgentType::Judge => Role::JudgePr,
        AgentType::Planner => Role::Planner,
        AgentType::Researcher | AgentType::Architect | AgentType::Gates | AgentType::Custom(_) => {
            Role::Researcher
        }
        AgentType::Intake => Role::Intake,
        AgentType::Scanner => Role::Scanner,
        AgentType::Wizard => Role::Wizard,
    }
}

fn in_phase(agent: &AgentType) -> Role {
    match agent {
        AgentType::Worker => Role::WorkerInPhase,
        AgentType::Judge => Role::JudgeInPhase,
        AgentType::Planner => Role::PlannerInPhase,
        AgentType::Researcher | AgentType::Architect | AgentType::Gates | AgentType::Custom(_) => {
            Role::Researcher
        }
        AgentType::Intake => Role::IntakeInPhase,
        AgentType::Scanner => Role::ScannerInPhase,
        AgentType::Wizard => Role::Wizard,
    }
}

impl Role {
    /// Returns the roles that a run of an agent type can have.
    pub const fn of(agent: &AgentType) -> &'static [Self] {
        match agent {
            AgentType::Worker => &[Self::Worker, Self::WorkerInPhase],
            AgentType::Judge => &[
                Self::JudgePr,
                Self::JudgeDone,
                Self::JudgePhase,
                Self::JudgeInPhase,
            ],
            AgentType::Planner => &[Self::Planner, Self::PlannerInPhase],
            AgentType::Researcher | AgentType::Architect | AgentType::Custom(_) => {
                &[Self::Researcher, Self::BackgroundResearcher]
            }
            AgentType::Intake => &[Self::Intake, Self::IntakeInPhase],
            AgentType::Scanner => &[Self::Scanner, Self::ScannerInPhase],
            AgentType::Wizard => &[Self::Wizard],
            AgentType::Gates => &[],
        }
    }

    /// Returns the roles in which an agent reads its profile's text. In a phase before `ready` it reads the contract
    /// instead.
    pub const fn with_profile(agent: &AgentType) -> &'static [Self] {
        match agent {
            AgentType::Worker => &[Self::Worker],
            AgentType::Judge => &[Self::JudgePr, Self::JudgeDone, Self::JudgePhase],
            AgentType::Planner => &[Self::Planner],
            AgentType::Researcher => &[Self::BackgroundResearcher, Self::Researcher],
            AgentType::Architect | AgentType::Custom(_) => &[Self::Researcher],
            AgentType::Intake => &[Self::Intake],
            AgentType::Scanner => &[Self::Scanner],
            AgentType::Wizard => &[Self::Wizard],
            AgentType::Gates => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::Tool;

    fn phase(name: &str) -> Assignment {
        Assignment::Issue(Some(PhaseName::parse(name).unwrap()))
    }

    #[test]
    fn role_follows_agent_and_assignment() {
        let custom = AgentType::parse("doc-writer").unwrap();
        let no_phase = Assignment::Issue(None);
        for (agent, assignment, role) in [
            (&AgentType::Worker, &no_phase, Role::Worker),
            (&AgentType::Worker, &phase("ready"), Role::Worker),
            (&AgentType::Worker, &phase("spike"), Role::WorkerInPhase),
            (&AgentType::Worker, &Assignment::PlanPhase, Role::PlanWorker),
            (&AgentType::Judge, &Assignment::PrReview, Role::JudgePr),
            (&AgentType::Judge, &Assignment::DoneReview, Role::JudgeDone),
            (
                &AgentType::Judge,
                &Assignment::PhaseReview,
                Role::JudgePhase,
            ),
            (&AgentType::Judge, &phase("audit"), Role::JudgeInPhase),
            (&AgentType::Planner, &no_phase, Role::Planner),
            (
                &AgentType::Planner,
                &phase("grooming"),
                Role::PlannerInPhase,
            ),
            (&AgentType::Researcher, &phase("research"), Role::Researcher),
            (
                &AgentType::Researcher,
                &Assignment::Background,
                Role::BackgroundResearcher,
            ),
            (
                &AgentType::Architect,
                &phase("architecture"),
                Role::Researcher,
            ),
            (&custom, &no_phase, Role::Researcher),
            (&custom, &Assignment::Background, Role::BackgroundResearcher),
            (&AgentType::Scanner, &Assignment::Background, Role::Scanner),
            (&AgentType::Scanner, &phase("audit"), Role::ScannerInPhase),
            (&AgentType::Intake, &no_phase, Role::Intake),
            (&AgentType::Intake, &phase("triage"), Role::IntakeInPhase),
            (&AgentType::Wizard, &Assignment::Background, Role::Wizard),
        ] {
            assert_eq!(role_for(agent, assignment), role, "{agent} {assignment:?}");
        }
    }

    #[test]
    fn only_a_judge_reviews() {
        for agent in AgentType::SHIPPED
            .iter()
            .filter(|a| **a != AgentType::Judge)
        {
            for assignment in [
                Assignment::PrReview,
                Assignment::DoneReview,
                Assignment::PhaseReview,
            ] {
                let tools = role_for(agent, &assignment).allowed();
                assert!(
                    !tools.iter().any(|tool| tool.name().starts_with("approve_")
                        || tool.name().starts_with("reject_")),
                    "{agent} {assignment:?}"
                );
            }
        }
    }

    #[test]
    fn every_profile_claims_its_phase_and_makes_neither_pr_nor_subtask() {
        for agent in &AgentType::SHIPPED {
            let tools = role_for(agent, &phase("grooming")).allowed();
            assert!(tools.contains(Tool::CompletePhase), "{agent}");
            assert!(!tools.contains(Tool::CreatePr), "{agent}");
            assert!(!tools.contains(Tool::ProposeDone), "{agent}");
            assert!(!tools.contains(Tool::CreateSubtask), "{agent}");
        }
    }
}
