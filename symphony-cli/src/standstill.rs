//! Whether a command that waits for work to end should end as a failure: something waits, and nothing will start it.

use std::collections::BTreeSet;

use symphony_core::Timestamp;
use symphony_core::id::IssueId;
use symphony_core::inbox::{InboxItem, InboxKind};
use symphony_core::listing::list_few;
use symphony_core::tick::{Reason, plan_tick};
use symphony_runner::inbox::inbox;
use symphony_runner::installation::Installation;
use symphony_runner::tick::observe_snapshot;
use symphony_store::Store;

use crate::output::plural;
use crate::view::TickView;

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
    let breakers = waiting_items(installation, store)?
        .into_iter()
        .filter(|item| item.kind == InboxKind::Breaker);
    Ok(breakers.filter_map(|item| item.issue).collect())
}

/// Returns everything that waits for a person now.
///
/// # Errors
/// When the projects cannot be observed.
pub(crate) fn waiting_items(
    installation: &Installation,
    store: &mut Store,
) -> anyhow::Result<Vec<InboxItem>> {
    let now = Timestamp::now();
    let snapshot = observe_snapshot(installation, store, now)?;
    let plan = plan_tick(&snapshot, now);
    Ok(inbox(store, &snapshot, &plan, now)?)
}

/// Returns why nothing goes on by itself although something waits, or none when all is well. A pause is a person's word and
/// no failure.
pub(crate) fn standstill(
    tick: &TickView,
    before: &BTreeSet<IssueId>,
    after: &BTreeSet<IssueId>,
) -> Option<String> {
    let opened: Vec<&IssueId> = after.difference(before).collect();
    if !opened.is_empty() {
        let names = list_few(opened.iter().map(|id| id.as_str()), NAMED_MAX);
        return Some(format!(
            "The circuit breaker of {names} opened: `symphony inbox` says why."
        ));
    }
    let stopped: Vec<&str> = tick
        .decisions
        .iter()
        .filter_map(|decision| {
            let reasons = &decision.reasons;
            let stop = reasons.iter().find(|reason| is_stop(&reason.reason))?;
            Some(stop.text.as_str())
        })
        .collect();
    if let Some(first) = stopped.first() {
        let waiting = plural(stopped.len(), "issue");
        let wait = if stopped.len() == 1 { "waits" } else { "wait" };
        return Some(format!(
            "Nothing can run although {waiting} {wait}: {first}. `symphony inbox` says what to do."
        ));
    }
    let problem = tick.problems.first()?;
    Some(format!("The last tick could not do everything: {problem}"))
}

/// Says whether a reason keeps everything of its project from running until somebody, or some other condition, ends it.
const fn is_stop(reason: &Reason) -> bool {
    matches!(
        reason,
        Reason::ProjectBroken { .. }
            | Reason::NoProvider { .. }
            | Reason::NoBase { .. }
            | Reason::Held { .. }
    )
}
