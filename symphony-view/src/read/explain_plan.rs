//! `symphony explain PLAN`: from the same predicates as ticks, the inbox and the audit.

use symphony_core::Timestamp;
use symphony_core::id::PlanId;
use symphony_core::inbox::{InboxItem, InboxKind, PlanWaitsFor};
use symphony_core::plan::state::{PhaseStatus, PlanStatus};
use symphony_core::standing::{Item, Standing};
use symphony_core::tick::{Action, Reason, Schedule, Snapshot};
use symphony_runner::RunnerError;
use symphony_runner::session::Session;
use symphony_runner::standing::Outlook;
use symphony_runner::tick::observe_with_phases;
use symphony_store::RunFilter;

use super::explain_wait::{for_you, note_changed_base, stranded};
use crate::{ActionView, Elsewhere, ExplainPlanView, PlanView, ReasonView, RunView, WaitView};

/// Phases that are named one by one: a plan may have thousands.
const PHASES_MAX: usize = 20;

/// Reads why a plan waits, or what runs it.
///
/// # Errors
/// When there is no such plan, or the database, the repository or the plan's lock cannot be read.
pub fn explain_plan(
    session: &mut Session,
    id: &PlanId,
    elsewhere: &Elsewhere,
    now: Timestamp,
) -> Result<ExplainPlanView, RunnerError> {
    let snapshot = observe_with_phases(&session.installation, &mut session.store, now)?;
    let mut view = explain(session, id, &snapshot, now)?;
    let project = session.store.plan(id)?.project;
    elsewhere.waits(&project, &mut view.reasons);
    let advice = view.advice.take();
    view.advice = advice.map(|text| elsewhere.text(&project, text));
    Ok(view)
}

fn explain(
    session: &mut Session,
    id: &PlanId,
    snapshot: &Snapshot,
    now: Timestamp,
) -> Result<ExplainPlanView, RunnerError> {
    let record = session.store.plan(id)?;
    let project = session.store.project(&record.project)?;
    let Outlook {
        schedule,
        inbox,
        mut standings,
    } = Outlook::of(&mut session.store, snapshot, now)?;
    let standing = standings.remove(&Item::Plan(id.clone()));
    let store = &session.store;
    let live = RunFilter {
        plan: Some(id.clone()),
        live_only: true,
        ..RunFilter::default()
    };
    let running = store.runs(&live)?.into_iter().map(RunView::from).collect();
    let view = PlanView::of(store, &project, &record, &session.configured_gates())?;
    let mut reasons = reasons(&schedule, &inbox, id, snapshot);
    reasons.extend(phases(&view, now));
    if let Some(Standing::Stranded { why }) = &standing {
        reasons.push(stranded(why));
    }
    let next = schedule.actions.iter().find(|action| concerns(action, id));
    Ok(ExplainPlanView {
        next: next.map(ActionView::from),
        advice: standing.is_none().then(|| view.next()).flatten(),
        plan: record.id,
        path: record.path,
        status: record.state.status,
        standing,
        running,
        reasons,
    })
}

/// What is left to a person, else what keeps its pull request from a judge. A run at work is shown as such.
fn reasons(
    schedule: &Schedule,
    items: &[InboxItem],
    id: &PlanId,
    snapshot: &Snapshot,
) -> Vec<WaitView> {
    let prefix = format!("plan:{id}:");
    let of_plan = items.iter().filter(|item| item.key.starts_with(&prefix));
    let mut waits: Vec<WaitView> = of_plan
        // one that was not published is judged and merged all the same
        .filter(|item| item.kind != InboxKind::Publication)
        .map(|item| for_you(item, &[]))
        .collect();
    let decisions = schedule.plan_decisions.iter();
    for decision in decisions.filter(|decision| decision.plan == *id) {
        if !waits.is_empty() && PlanWaitsFor::from_decision(decision).is_some() {
            continue;
        }
        let reasons = decision.reasons.iter();
        let reasons = reasons.filter(|reason| !matches!(reason, Reason::Running { .. }));
        waits.extend(reasons.cloned().map(|mut reason| {
            note_changed_base(&mut reason, snapshot);
            WaitView::Dispatch(ReasonView::from(&reason))
        }));
    }
    waits
}

/// What each phase waits for that is not complete.
fn phases(view: &PlanView, now: Timestamp) -> Vec<WaitView> {
    let is_open = !view.status.is_ended() && view.status != PlanStatus::Review;
    let open = view.phases.iter().filter(|phase| {
        // what awaits a decision is in the inbox, with its answers
        is_open
            && !matches!(
                phase.status,
                PhaseStatus::Complete | PhaseStatus::Running | PhaseStatus::AwaitingDecision
            )
    });
    let said = open.map(|phase| {
        let remark = phase.remark(now);
        let separator = if remark.is_empty() { "" } else { ": " };
        WaitView::Person {
            reason: "phase",
            text: format!(
                "phase {} is {}{separator}{remark}",
                phase.id,
                phase.status.words()
            ),
        }
    });
    let mut said: Vec<WaitView> = said.collect();
    let more = said.len().saturating_sub(PHASES_MAX);
    if more > 0 {
        said.truncate(PHASES_MAX);
        said.push(WaitView::Person {
            reason: "phase",
            text: format!(
                "and {more} more: `symphony plan status --plan {}` lists all phases",
                view.id
            ),
        });
    }
    said
}

fn concerns(action: &Action, id: &PlanId) -> bool {
    match action {
        Action::StartRun(start) => start.target.plan() == Some(id),
        Action::RecordMerge(merge) => merge.of.plan() == Some(id),
        _ => false,
    }
}
