//! Whether a command that waits for work to end should end as a failure: something waits, and nothing will start it.

use std::collections::BTreeSet;

use symphony_core::Timestamp;
use symphony_core::id::IssueId;
use symphony_core::inbox::{InboxItem, InboxKind};
use symphony_core::listing::list_few;
use symphony_core::tick::{Hold, Reason, plan_tick};
use symphony_runner::inbox::inbox;
use symphony_runner::installation::Installation;
use symphony_runner::tick::{TickReport, observe_snapshot};
use symphony_store::Store;
use symphony_view::text::Clock;
use symphony_view::{DecisionView, TickView, issues_and_plans};

/// Issues that a sentence names; the rest is counted.
const NAMED_MAX: usize = 5;

/// Returns the issues whose circuit breaker is open.
///
/// # Errors
/// When the projects cannot be observed.
pub(crate) fn open_breakers(
    installation: &Installation,
    store: &mut Store,
) -> anyhow::Result<BTreeSet<IssueId>> {
    Ok(breakers_of(&waiting_items(installation, store)?.0))
}

/// Returns everything that waits for a person now, and what is on hold.
///
/// # Errors
/// When the projects cannot be observed.
pub(crate) fn waiting_items(
    installation: &Installation,
    store: &mut Store,
) -> anyhow::Result<(Vec<InboxItem>, Vec<Hold>)> {
    let now = Timestamp::now();
    let snapshot = observe_snapshot(installation, store, now)?;
    let schedule = plan_tick(&snapshot, now);
    let items = inbox(store, &snapshot, &schedule, now)?;
    Ok((items, snapshot.holds))
}

/// Returns everything that waits for a person after a tick, from what the tick observed.
///
/// # Errors
/// When the database cannot be read.
pub(crate) fn waiting_after(report: &TickReport, store: &Store) -> anyhow::Result<Vec<InboxItem>> {
    let TickReport {
        snapshot, schedule, ..
    } = report;
    Ok(inbox(store, snapshot, schedule, Timestamp::now())?)
}

/// Returns the issues among them whose circuit breaker is open.
pub(crate) fn breakers_of(items: &[InboxItem]) -> BTreeSet<IssueId> {
    let breakers = items.iter().filter(|item| item.kind == InboxKind::Breaker);
    breakers.filter_map(|item| item.issue.clone()).collect()
}

/// Returns why nothing continues by itself although something waits; none otherwise. `paused_since` is when a person
/// paused dispatch, if one did.
pub(crate) fn standstill(
    tick: &TickView,
    before: &BTreeSet<IssueId>,
    after: &BTreeSet<IssueId>,
    paused_since: Option<Timestamp>,
) -> Option<String> {
    let opened: Vec<&IssueId> = after.difference(before).collect();
    if !opened.is_empty() {
        let names = list_few(opened.iter().map(|id| id.as_str()), NAMED_MAX);
        return Some(format!(
            "The circuit breaker of {names} opened: `symphony inbox` shows why."
        ));
    }
    let stopped: Vec<(&DecisionView, String)> = tick
        .decisions
        .iter()
        .filter_map(|decision| {
            let reasons = &decision.reasons;
            let stop = reasons.iter().find(|reason| is_stop(&reason.reason))?;
            Some((decision, stop.reason.brief()))
        })
        .collect();
    if let Some(since) = paused_since {
        let paused: Vec<&DecisionView> = tick.decisions.iter().filter(|of| is_paused(of)).collect();
        if !paused.is_empty() {
            let although = although_waiting(&paused);
            // an earlier version did not keep the time
            let since = Some(since).filter(|since| *since != Timestamp::UNIX_EPOCH);
            let since = since.map(|since| format!(" since {}", Clock::system().since(since)));
            return Some(format!(
                "Nothing can run{although}: Symphony is paused{}. `symphony resume` starts agents again.",
                since.unwrap_or_default()
            ));
        }
    }
    if let Some((_, first)) = stopped.first() {
        let waiting: Vec<&DecisionView> = stopped.iter().map(|(of, _)| *of).collect();
        let although = although_waiting(&waiting);
        return Some(format!(
            "Nothing can run{although}: {}. `symphony inbox` shows what to do.",
            first.trim_end_matches('.')
        ));
    }
    let problem = tick.problems.first()?;
    Some(format!("The last tick had a problem: {problem}"))
}

/// Counts the issues and plans that wait: ` although 1 issue waits`.
fn although_waiting(decisions: &[&DecisionView]) -> String {
    let count = |is_it: fn(&DecisionView) -> bool| decisions.iter().filter(|of| is_it(of)).count();
    let issues = count(|of| of.issue.is_some());
    let plans = count(|of| of.plan.is_some());
    match issues + plans {
        0 => String::new(),
        1 => format!(" although {} waits", issues_and_plans(issues, plans)),
        _ => format!(" although {} wait", issues_and_plans(issues, plans)),
    }
}

/// Says whether a pause keeps an agent from an issue or a plan; what waits for a person's answer waits without it, too.
fn is_paused(decision: &DecisionView) -> bool {
    let has = |is_it: &dyn Fn(&Reason) -> bool| decision.reasons.iter().any(|of| is_it(&of.reason));
    let is_paused = has(&|reason| *reason == Reason::Paused);
    decision.project.is_none() && is_paused && !has(&Reason::is_for_person)
}

/// Says whether a reason keeps everything of its project from running until someone, or some other condition, ends it.
const fn is_stop(reason: &Reason) -> bool {
    matches!(
        reason,
        Reason::ProjectBroken { .. }
            | Reason::NoProvider { .. }
            | Reason::NoBase { .. }
            | Reason::Held { .. }
    )
}
