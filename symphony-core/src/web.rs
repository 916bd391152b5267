//! Who may search the web, and how often: one decision for the prompts, the provider's flags and the watch over the
//! stream.

use std::num::NonZeroU32;

use crate::agent::AgentType;
use crate::config::ExternalResearch;
use crate::id::PhaseName;
use crate::run::{Run, RunTarget};

/// The phases whose agents look things up outside (spec: prompts, "System-prompt layers").
const RESEARCHED_PHASES: [&str; 2] = ["research", "architecture"];

/// The key of a run's metadata under which the number of its searches is kept, if it made any.
pub const WEB_SEARCHES: &str = "web_searches";

/// Whether an agent may use the web.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WebAccess {
    /// It may search this often, and read pages.
    Searches(NonZeroU32),
    /// Its web tools are taken away.
    Denied,
}

impl WebAccess {
    /// Decides for a run, with what its project allows.
    pub fn of(run: &Run, allowed: ExternalResearch) -> Self {
        Self::decide(&run.agent, &run.target, run.phase.as_ref(), allowed)
    }

    /// Decides for an agent on a target, in a phase.
    ///
    /// Only researchers and architects look things up: in the phases that ask for it, or without an issue. All others
    /// work from a plan that was approved, and a page of the web could talk them out of it.
    pub fn decide(
        agent: &AgentType,
        target: &RunTarget,
        phase: Option<&PhaseName>,
        allowed: ExternalResearch,
    ) -> Self {
        let in_phase = phase.is_some_and(|phase| RESEARCHED_PHASES.contains(&phase.as_str()));
        let researches = match (agent, target) {
            (AgentType::Researcher | AgentType::Architect, RunTarget::Issue(_)) => in_phase,
            (AgentType::Researcher, RunTarget::Project) => true,
            _ => false,
        };
        match NonZeroU32::new(allowed.max_searches) {
            Some(max) if researches && allowed.enabled => Self::Searches(max),
            _ => Self::Denied,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{DeliveryId, IssueId, PlanId, PlanPhaseId, PrId};
    use crate::pull_request_of::PullRequestOf;

    const ALLOWED: ExternalResearch = ExternalResearch {
        enabled: true,
        max_searches: 5,
    };

    fn issue() -> IssueId {
        IssueId::parse("SYM-1").unwrap()
    }

    #[test]
    fn every_role_has_its_web_permission() {
        let five = WebAccess::Searches(NonZeroU32::new(5).unwrap());
        let on_issue = RunTarget::Issue(issue());
        let review = RunTarget::PullRequest(PullRequestOf::Issue(issue()), PrId::new(1));
        let claim = RunTarget::Delivery(issue(), DeliveryId::new(1));
        let of_plan = RunTarget::PlanPhase(
            PlanId::parse("p").unwrap(),
            PlanPhaseId::parse("phase-1").unwrap(),
        );
        let custom = AgentType::parse("doc-writer").unwrap();
        for (agent, target, phase, expected) in [
            (&AgentType::Worker, &on_issue, None, WebAccess::Denied),
            (
                &AgentType::Worker,
                &on_issue,
                Some("ready"),
                WebAccess::Denied,
            ),
            (
                &AgentType::Worker,
                &on_issue,
                Some("research"),
                WebAccess::Denied,
            ),
            (&AgentType::Worker, &of_plan, None, WebAccess::Denied),
            (&AgentType::Judge, &review, None, WebAccess::Denied),
            (
                &AgentType::Judge,
                &claim,
                Some("research"),
                WebAccess::Denied,
            ),
            (&AgentType::Planner, &on_issue, None, WebAccess::Denied),
            (
                &AgentType::Planner,
                &on_issue,
                Some("grooming"),
                WebAccess::Denied,
            ),
            (&AgentType::Intake, &on_issue, None, WebAccess::Denied),
            (
                &AgentType::Scanner,
                &RunTarget::Project,
                None,
                WebAccess::Denied,
            ),
            (
                &AgentType::Wizard,
                &RunTarget::Project,
                None,
                WebAccess::Denied,
            ),
            (
                &AgentType::Gates,
                &RunTarget::Project,
                None,
                WebAccess::Denied,
            ),
            (&custom, &on_issue, Some("research"), WebAccess::Denied),
            (
                &AgentType::Researcher,
                &on_issue,
                Some("grooming"),
                WebAccess::Denied,
            ),
            (&AgentType::Researcher, &on_issue, Some("research"), five),
            (&AgentType::Architect, &on_issue, Some("architecture"), five),
            (&AgentType::Researcher, &RunTarget::Project, None, five),
        ] {
            let phase = phase.map(|name| PhaseName::parse(name).unwrap());
            let decide = |allowed| WebAccess::decide(agent, target, phase.as_ref(), allowed);
            assert_eq!(decide(ALLOWED), expected, "{agent} {target:?} {phase:?}");
            for off in [
                ExternalResearch {
                    enabled: false,
                    ..ALLOWED
                },
                ExternalResearch {
                    max_searches: 0,
                    ..ALLOWED
                },
            ] {
                assert_eq!(decide(off), WebAccess::Denied, "{agent} {off:?}");
            }
        }
    }
}
