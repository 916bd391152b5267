//! Active plans that nothing drives.

use super::InboxKind;
use super::item::InboxItem;
use crate::plan::state::{PhaseState, PlanStatus};
use crate::tick::{LiveRun, OpenPlan, PlanDriver};

/// Returns the item of a plan that continues only after a person acts: it is paused, its whole work waits for a decision,
/// or neither a command nor a tick drives it and none of its phases is running. A phase that awaits a decision has an
/// item of its own.
pub fn waiting_plan_item(plan: &OpenPlan, live: &[LiveRun]) -> Option<InboxItem> {
    let at_work = plan.phases.iter().any(|phase| match &phase.state {
        PhaseState::Running { run: Some(run), .. } => live.iter().any(|live| live.run == *run),
        _ => false,
    });
    if at_work || plan.asks() {
        return None;
    }
    let OpenPlan { plan: id, path, .. } = plan;
    let show = format!("symphony plan status --plan {id}");
    let (what, text, answers) = match (plan.status, plan.driver) {
        (PlanStatus::Paused, _) => (
            "paused",
            format!("plan {id} ({path}) is paused and starts no phase"),
            vec![format!("symphony plan resume --plan {id}"), show],
        ),
        (_, PlanDriver::None) if plan.goes_on_by_itself() => (
            "left",
            format!("plan {id} ({path}) is under way, but no command is running it"),
            vec![
                format!("symphony plan run --plan {id}"),
                "symphony config set plan.by_tick true".to_owned(),
                show,
            ],
        ),
        (PlanStatus::AwaitingUserDecision, _) if plan.is_complete() => (
            "asked",
            format!("plan {id} ({path}) waits for you before its work is reviewed"),
            vec![
                show,
                format!("symphony plan resume --plan {id}"),
                format!("symphony plan abort --plan {id}"),
            ],
        ),
        _ => return None,
    };
    Some(InboxItem {
        project: Some(plan.project.clone()),
        text,
        answers,
        ..InboxItem::new(
            InboxKind::Plan,
            plan.started_at,
            format!("plan:{id}:{what}"),
        )
    })
}
