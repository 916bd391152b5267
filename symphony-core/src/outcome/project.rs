//! What happens to a project when a run on it ends: setup wizard, scanner, background research.

use super::global_condition::met_global_condition;
use super::no_outcome::missing;
use crate::agent::AgentType;
use crate::project::WizardState;
use crate::run::{RunError, RunStatus, Usage};
use crate::spending::{CapReached, Spent};
use crate::unit::Tokens;

/// What has to be written when a run on a project ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectRouting {
    /// The run's final status.
    pub status: RunStatus,
    /// The run's final error.
    pub error: Option<RunError>,
    /// The new state of the setup wizard, if it changes.
    pub wizard: Option<WizardState>,
}

/// Everything that decides what happens to a project when its agent ends.
#[derive(Debug, Clone)]
pub struct ProjectRunEnd<'a> {
    /// Who worked.
    pub agent: &'a AgentType,
    /// The refusal of its last call of `configure_project`, with the reason.
    pub refused: Option<String>,
    /// How the run ended.
    pub status: RunStatus,
    /// Why it did not succeed.
    pub error: Option<RunError>,
    /// The spending cap that ended it.
    pub cap: Option<CapReached>,
    /// The current state of the project's setup wizard.
    pub wizard: WizardState,
}

/// Decides what happens to a project whose agent ended.
///
/// A wizard that did not configure the project has failed, whatever its end: it is never retried automatically. Only a
/// global condition, which is no one's fault, leaves its state unchanged.
pub fn route_project_run_end(end: &ProjectRunEnd<'_>) -> ProjectRouting {
    let mut routing = ProjectRouting {
        status: end.status,
        error: end.error.clone(),
        wizard: None,
    };
    let open = *end.agent == AgentType::Wizard && end.wizard == WizardState::Pending;
    if !open || met_global_condition(end.error.as_ref(), end.cap) {
        return routing;
    }
    routing.wizard = Some(WizardState::Failed);
    if end.status == RunStatus::Succeeded {
        routing.status = RunStatus::Failed;
        let message = "the setup wizard ended without configure_project";
        routing.error = Some(missing(message, end.refused.clone()));
    }
    routing
}

/// Returns whether a run shows that its provider responds: it succeeded, or used tokens. One that ended earlier,
/// because of a worktree or a set-up command, shows nothing.
pub fn reached_provider(status: RunStatus, usage: &Usage) -> bool {
    status == RunStatus::Succeeded || Spent::of(usage).tokens > Tokens::ZERO
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::ErrorClass;

    fn route(
        agent: &AgentType,
        status: RunStatus,
        class: Option<ErrorClass>,
        wizard: WizardState,
    ) -> String {
        let error = class.map(|class| RunError {
            class,
            message: "m".into(),
        });
        let routing = route_project_run_end(&ProjectRunEnd {
            agent,
            refused: None,
            status,
            error,
            cap: None,
            wizard,
        });
        let error = routing.error.map_or("-", |error| error.class.name());
        let wizard = routing.wizard.map_or("-", WizardState::name);
        format!("{} {error} {wizard}", routing.status)
    }

    #[test]
    fn a_wizard_works_once_and_a_hold_is_not_its_fault() {
        use AgentType::{Researcher, Scanner, Wizard};
        use ErrorClass as C;
        use RunStatus as S;
        use WizardState::{Completed, Failed, Pending};
        for (agent, status, class, wizard, expected) in [
            // wizard | no `configure_project` | wizard failed
            (
                Wizard,
                S::Succeeded,
                None,
                Pending,
                "failed no_outcome failed",
            ),
            (Wizard, S::Succeeded, None, Completed, "succeeded - -"),
            (
                Wizard,
                S::Failed,
                Some(C::AgentFailed),
                Completed,
                "failed agent_failed -",
            ),
            (
                Wizard,
                S::Failed,
                Some(C::AgentFailed),
                Pending,
                "failed agent_failed failed",
            ),
            (
                Wizard,
                S::Crashed,
                Some(C::Crashed),
                Pending,
                "crashed crashed failed",
            ),
            (
                Wizard,
                S::TimedOut,
                Some(C::TimedOut),
                Pending,
                "timed_out timed_out failed",
            ),
            (
                Wizard,
                S::Cancelled,
                Some(C::Cancelled),
                Pending,
                "cancelled cancelled failed",
            ),
            (Wizard, S::Succeeded, None, Failed, "succeeded - -"),
            // waiting is not failing
            (
                Wizard,
                S::Failed,
                Some(C::RateLimited),
                Pending,
                "failed rate_limited -",
            ),
            (
                Wizard,
                S::Failed,
                Some(C::DiskFull),
                Pending,
                "failed disk_full -",
            ),
            // scanner | – | nothing
            (Scanner, S::Succeeded, None, Pending, "succeeded - -"),
            (
                Scanner,
                S::Failed,
                Some(C::AgentFailed),
                Pending,
                "failed agent_failed -",
            ),
            (Researcher, S::Succeeded, None, Pending, "succeeded - -"),
            (
                Researcher,
                S::Stalled,
                Some(C::Stalled),
                Completed,
                "stalled stalled -",
            ),
        ] {
            let found = route(&agent, status, class, wizard);
            assert_eq!(found, expected, "{agent} {status} {class:?} {wizard}");
        }
    }
}
