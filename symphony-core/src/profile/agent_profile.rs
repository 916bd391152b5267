//! The typed profile.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::model::ModelChoice;
use crate::agent::AgentType;
use crate::tools::{Role, Tool, ToolList, ToolSet};

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
    /// The provider that runs it, if it is to be another one than the project's.
    pub provider: Option<String>,
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
    /// Returns the tools of a run of this profile: its role's row, narrowed by its own lists. A list that names
    /// `create_pr`, `approve_pr` or `reject_pr` gives their twins for proposals that nothing is left to do, too.
    pub fn allowed(&self, role: Role) -> ToolSet {
        let row = role.allowed();
        let (named, denied) = (self.tools.named(), self.disallowed_tools.tools());
        let is_named = |tool: &Tool| {
            let older = tool.named_by();
            older.is_some_and(|older| named.contains(older) && !denied.contains(older))
        };
        let twins: Vec<Tool> = row
            .iter()
            .filter(|tool| is_named(tool) && !denied.contains(*tool))
            .collect();
        row.narrowed(&self.tools, &self.disallowed_tools)
            .union(ToolSet::of(&twins))
    }

    /// Returns the roles that a run of this profile can have.
    pub fn roles(&self) -> &'static [Role] {
        Role::of(&self.agent)
    }

    /// Reports problems of tool lists whose names are all valid.
    pub fn warnings(&self) -> Vec<ToolWarning> {
        let granted = self.roles().iter().map(|role| role.allowed());
        let granted = granted.fold(ToolSet::EMPTY, ToolSet::union);
        let in_vain = self.tools.named().difference(granted);
        let in_vain = in_vain.iter().map(ToolWarning::NotGranted);
        let silent = self.roles().iter().filter_map(|role| {
            let duty = ToolSet::of(role.duty());
            let missing = duty.difference(self.allowed(*role));
            (!duty.is_empty() && !missing.is_empty()).then_some(ToolWarning::CannotReport {
                role: *role,
                missing,
            })
        });
        in_vain.chain(silent).collect()
    }
}

/// What is wrong with a profile's tool lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolWarning {
    /// `tools` names a tool that no role of this profile has.
    NotGranted(Tool),
    /// The lists remove a tool that a run needs to report.
    CannotReport {
        /// As what it would run.
        role: Role,
        /// What it would lack.
        missing: ToolSet,
    },
}

impl fmt::Display for ToolWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotGranted(tool) => write!(
                f,
                "`tools` lists `{tool}`, which this type of agent never has, so listing it has no effect"
            ),
            Self::CannotReport { role, missing } => {
                let missing: Vec<String> = missing.iter().map(|tool| format!("`{tool}`")).collect();
                write!(
                    f,
                    "`tools` and `disallowedTools` leave a run as {role} without {}, so it could not hand in its work",
                    missing.join(", ")
                )
            }
        }
    }
}
