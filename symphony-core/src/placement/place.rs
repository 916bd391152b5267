//! Which runs go to a project's pool.

use super::name::Pool;
use crate::agent::AgentType;
use crate::run::RunTarget;

/// Where a run is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place<'a> {
    /// By the control itself, as on a single machine.
    Control,
    /// By the first worker of the pool that has a free slot.
    Pool(&'a Pool),
}

/// Returns where a run is started, from the pool of its project. What works on a whole project or a plan, and intake, which only reads
/// an issue, stay on the control: they need its repository, and no results of theirs are brought in from another host.
pub fn place_of<'a>(target: &RunTarget, agent: &AgentType, pool: Option<&'a Pool>) -> Place<'a> {
    let may_leave = target.issue().is_some() && *agent != AgentType::Intake;
    match pool {
        Some(pool) if may_leave => Place::Pool(pool),
        _ => Place::Control,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{DeliveryId, IssueId, PlanId, PlanPhaseId, PrId};

    #[test]
    fn what_works_on_an_issue_leaves_the_control() {
        let (pool, pr) = (Pool::parse("linux").unwrap(), PrId::new(1));
        let issue = IssueId::parse("DEM-1").unwrap();
        let plan = PlanId::parse("p").unwrap();
        let phase = PlanPhaseId::parse("one").unwrap();
        for (target, agent, leaves) in [
            (RunTarget::Issue(issue.clone()), AgentType::Worker, true),
            (RunTarget::Issue(issue.clone()), AgentType::Planner, true),
            (RunTarget::Issue(issue.clone()), AgentType::Intake, false),
            (
                RunTarget::PullRequest(issue.clone().into(), pr),
                AgentType::Judge,
                true,
            ),
            (
                RunTarget::Gates(issue.clone().into(), pr),
                AgentType::Gates,
                true,
            ),
            (
                RunTarget::Delivery(issue, DeliveryId::new(1)),
                AgentType::Judge,
                true,
            ),
            (
                RunTarget::PlanPhase(plan.clone(), phase),
                AgentType::Worker,
                false,
            ),
            (
                RunTarget::PullRequest(plan.clone().into(), pr),
                AgentType::Judge,
                false,
            ),
            (RunTarget::Gates(plan.into(), pr), AgentType::Gates, false),
            (RunTarget::Project, AgentType::Scanner, false),
            (RunTarget::Project, AgentType::Gates, false),
        ] {
            let expected = if leaves {
                Place::Pool(&pool)
            } else {
                Place::Control
            };
            assert_eq!(
                place_of(&target, &agent, Some(&pool)),
                expected,
                "{target:?} {agent}"
            );
            assert_eq!(place_of(&target, &agent, None), Place::Control);
        }
    }
}
