//! The typed profile.

use serde::{Deserialize, Serialize};

use super::model::ModelChoice;
use crate::agent::AgentType;
use crate::tools::{Role, ToolList, ToolListProblem, ToolSet};

/// The profile of one type of agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentProfile {
    /// What it is called, for people.
    pub name: String,
    /// The type.
    pub agent: AgentType,
    /// What it is for, in a sentence.
    pub description: String,
    /// The tools it may use, of those its role has.
    pub tools: ToolList,
    /// The tools it may not use; wins over `tools`.
    pub disallowed_tools: ToolList,
    /// The model.
    pub model: ModelChoice,
    /// Most turns of a run, passed to the CLI.
    pub turns_max: Option<u32>,
    /// Whether it works without an issue.
    pub background: bool,
    /// The prompt.
    pub body: String,
}

impl AgentProfile {
    /// Returns the tools of a run of this profile: its role's row, narrowed by its own lists.
    pub fn allowed(&self, role: Role) -> ToolSet {
        role.allowed().narrowed(&self.tools, &self.disallowed_tools)
    }

    /// Returns the roles that a run of this profile can have.
    pub fn roles(&self) -> &'static [Role] {
        match self.agent {
            AgentType::Worker => &[Role::Worker, Role::WorkerInPhase],
            AgentType::Judge => &[Role::JudgePr, Role::JudgePhase, Role::JudgeInPhase],
            AgentType::Planner => &[Role::Planner, Role::PlannerInPhase],
            AgentType::Researcher | AgentType::Architect | AgentType::Custom(_) => {
                &[Role::Researcher, Role::BackgroundResearcher]
            }
            AgentType::Intake => &[Role::Intake, Role::IntakeInPhase],
            AgentType::Scanner => &[Role::Scanner, Role::ScannerInPhase],
            AgentType::Wizard => &[Role::Wizard],
            AgentType::Gates => &[],
        }
    }

    /// Reports what the tool lists say that the registry does not bear out: warnings.
    pub fn warnings(&self) -> Vec<ToolListProblem> {
        let mut problems = self.tools.problems("tools", self.roles());
        problems.extend(
            self.disallowed_tools
                .problems("disallowedTools", self.roles()),
        );
        problems
    }
}
