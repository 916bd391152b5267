//! Which model of its provider a run would use: holds are placed by provider and model.

use std::collections::BTreeMap;

use crate::agent::AgentType;
use crate::id::PhaseName;
use crate::run::RunTarget;

/// The models that the agents of a project use; others use their provider's default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AskedModels {
    /// By agent, by the phase for which it works on an issue, and by the provider that the issue names.
    by_agent: BTreeMap<(AgentType, Option<PhaseName>, Option<String>), String>,
    /// The model of plans' phases that have none of their own.
    of_plans: Option<String>,
}

/// Returns the phase whose model a run uses: what is configured for a phase is meant for its author, not for its judge,
/// and an issue without a phase counts as ready.
pub fn phase_of_model(
    target: &RunTarget,
    agent: &AgentType,
    phase: Option<&PhaseName>,
) -> Option<PhaseName> {
    let works = matches!(target, RunTarget::Issue(_)) && *agent != AgentType::Intake;
    if !works {
        return None;
    }
    phase
        .cloned()
        .or_else(|| PhaseName::parse(PhaseName::READY).ok())
}

impl AskedModels {
    /// Names the model of an agent, in a phase or outside of any; `of_issue` is the provider that its issue names.
    pub fn set(
        &mut self,
        agent: AgentType,
        phase: Option<PhaseName>,
        of_issue: Option<String>,
        model: String,
    ) {
        self.by_agent.insert((agent, phase, of_issue), model);
    }

    /// Names the model of plans' phases.
    pub fn set_for_plans(&mut self, model: Option<String>) {
        self.of_plans = model;
    }

    /// Returns the model that a run would use; `None` for its provider's default. `of_issue` is the provider that its
    /// issue names.
    pub fn of(
        &self,
        target: &RunTarget,
        agent: &AgentType,
        phase: Option<&PhaseName>,
        of_issue: Option<&str>,
    ) -> Option<&str> {
        if matches!(target, RunTarget::PlanPhase(..)) {
            return self.of_plans();
        }
        let phase = phase_of_model(target, agent, phase);
        let key = (agent.clone(), phase, of_issue.map(str::to_owned));
        self.by_agent.get(&key).map(String::as_str)
    }

    /// Returns the model of plans' phases that have none of their own.
    pub fn of_plans(&self) -> Option<&str> {
        self.of_plans.as_deref()
    }
}
