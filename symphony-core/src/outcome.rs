//! What happens to an issue when a run on it ends (spec: orchestrator, "A run ends", "Failure", "Waiting is not
//! failing").

use self::breaker::{Stop, open_breaker};
use self::no_outcome::{missing, no_outcome};
use self::nothing::effect_after;
use self::routing::reason_of;
use self::run_end::is_in_phase;
use crate::Timestamp;
use crate::agent::AgentType;
use crate::exit_handling::unprepared_wait_ms;
use crate::failure::ErrorClass;
use crate::hand_in::{NothingEffect, RefusedCall};
use crate::idle::{IdleEnd, IdleRow, limited_stops};
use crate::issue::{AttemptCounts, IssueEvent, IssueStatus};
use crate::retry::{CONTINUATION_MS, RetryKind, RetryPlan, after, backoff_ms};
use crate::run::{Run, RunError, RunStatus, RunTarget};
use crate::spending::{CapReached, CapScope};

mod breaker;
mod global_condition;
mod host_lost;
mod interactive;
mod no_outcome;
mod nothing;
mod project;
mod rejected;
mod routing;
mod run_end;

pub(crate) use breaker::breaker_notice;
pub use breaker::{BREAKER_TAIL_LINES_MAX, breaker_opens};
pub use global_condition::met_global_condition;
pub use host_lost::HOSTS_LOST_MAX;
pub use project::{ProjectRouting, ProjectRunEnd, reached_provider, route_project_run_end};
pub use routing::Routing;
pub use run_end::{Evidence, FailureLimits, RunEnd};

/// Decides what happens to the issue.
pub fn route_run_end(end: &RunEnd<'_>, now: Timestamp) -> Routing {
    let mut routing = Routing {
        status: end.status,
        error: end.error.clone(),
        advance: None,
        event: None,
        counts: end.issue.counts,
        retry: None,
        comment: None,
    };
    let status = end.issue.state.status();
    let in_progress = status == IssueStatus::InProgress;
    if end.run.agent == AgentType::Intake && !is_in_phase(end.run) {
        // Triage is not an attempt at the issue: neither its status nor its counts change.
        routing.event = in_progress.then_some(IssueEvent::RunReturned);
        return routing;
    }
    // What was accepted stays accepted, however the run ended afterwards.
    if let Some(next) = end.accepted
        && matches!(
            status,
            IssueStatus::InProgress | IssueStatus::Review | IssueStatus::Todo
        )
        && end.status != RunStatus::Tampered
    {
        routing.counts = AttemptCounts::default();
        routing.advance = Some(next);
        if let Some(cap) = end.cap.filter(|cap| cap.scope == CapScope::Issue) {
            block_for_cap(&mut routing, end, &cap);
        }
        return routing;
    }
    if end.run.is_interactive() {
        interactive::route_interactive(&mut routing, end);
        return routing;
    }
    if let Some(error) = end
        .error
        .as_ref()
        .filter(|error| error.class == ErrorClass::NotPrepared)
    {
        routing.event = in_progress.then_some(IssueEvent::RunReturned);
        let tries = end.unprepared_before.saturating_add(1);
        let wait = unprepared_wait_ms(tries, end.limits.max_backoff_ms);
        routing.retry = in_progress.then(|| RetryPlan {
            kind: RetryKind::Backoff,
            due_at: after(now, wait),
            reason: format!("{}: {}", error.class.words(), error.message),
        });
        return routing;
    }
    if host_lost::is_lost(end) {
        host_lost::route_lost(&mut routing, end);
        return routing;
    }
    // The folder is at its new place: the next run begins there at once.
    let was_moved = matches!(&end.error, Some(error) if error.class == ErrorClass::Moved);
    if met_global_condition(end.error.as_ref(), end.cap)
        || was_moved
        || end.status == RunStatus::Cancelled
    {
        routing.event = in_progress.then_some(IssueEvent::RunReturned);
        return routing;
    }
    if end.status == RunStatus::Tampered {
        routing.counts.total_runs = routing.counts.total_runs.saturating_add(1);
        routing.counts.consecutive_failures = routing.counts.consecutive_failures.saturating_add(1);
        let reason = end
            .error
            .as_ref()
            .map_or_else(String::new, |error| error.message.clone());
        routing.event = waits_or_works(status).then_some(IssueEvent::Tampered { reason });
        return routing;
    }
    if let Some(cap) = end.cap.filter(|cap| cap.scope == CapScope::Issue)
        && waits_or_works(status)
    {
        block_for_cap(&mut routing, end, &cap);
        return routing;
    }
    routing.counts.total_runs = routing.counts.total_runs.saturating_add(1);
    if end.status == RunStatus::Succeeded
        && let Some(error) = clean_failure(end)
    {
        routing.status = RunStatus::Failed;
        routing.error = Some(error);
    }
    let failed = routing.status != RunStatus::Succeeded;
    routing.counts.consecutive_failures = if failed {
        routing.counts.consecutive_failures.saturating_add(1)
    } else if end.awaits_gates {
        routing.counts.consecutive_failures
    } else {
        0
    };
    if let Some(before) = end.rejected_before.filter(|_| status == IssueStatus::Todo) {
        rejected::route_rejected_proposal(&mut routing, end, before, now);
        return routing;
    }
    let stop = stop_of(end);
    let spent = stop.is_some() || breaker_opens(routing.counts, end.limits.max_retries);
    // No one is working on an issue whose run has ended: one that is still in progress goes back, whatever was
    // reported.
    if end.run.moved_issue && !in_progress {
        // The agent's move is kept. In `todo` it would be dispatched again: if its attempts are used up, the breaker
        // opens here, with its notice.
        if spent && status == IssueStatus::Todo {
            open_breaker(&mut routing, end, stop);
        } else if failed && status == IssueStatus::Todo && is_given_back(end) {
            routing.retry = Some(backoff(&routing, end, now));
        }
        return routing;
    }
    if end.evidence == Evidence::Found && !in_progress {
        return routing;
    }
    // A judge's failure does not count against the work: after enough of them the tick asks a person for the verdict.
    let is_judged = end.run.target.is_review() && status == IssueStatus::Review;
    if spent && waits_or_works(status) && !is_judged {
        open_breaker(&mut routing, end, stop);
        return routing;
    }
    if !in_progress {
        return routing; // a judge: the issue stays in review, the cool-down is its delay
    }
    routing.event = Some(IssueEvent::RunReturned);
    routing.retry = Some(if failed {
        backoff(&routing, end, now)
    } else {
        RetryPlan {
            kind: RetryKind::Continuation,
            due_at: after(now, CONTINUATION_MS),
            reason: match &end.refused {
                Some((refused, _)) => refused.to_string(),
                None => "the run ended without an error but left its issue in progress".to_owned(),
            },
        }
    });
    routing
}

/// The wait after a failure: longer after each one.
fn backoff(routing: &Routing, end: &RunEnd<'_>, now: Timestamp) -> RetryPlan {
    let failures = routing.counts.consecutive_failures;
    let delay = backoff_ms(&end.issue.id, failures, end.limits.max_backoff_ms);
    RetryPlan {
        kind: RetryKind::Backoff,
        due_at: after(now, delay),
        reason: reason_of(routing, end),
    }
}

/// Decides how the run of a judge on the pull request of a plan is recorded to have ended: a clean end without a
/// verdict is a failure. The plan is moved by the verdict alone.
pub fn route_plan_review_end(
    run: &Run,
    status: RunStatus,
    error: Option<RunError>,
    evidence: Evidence,
    refused: Option<&RefusedCall>,
) -> (RunStatus, Option<RunError>) {
    match empty_end(run, evidence, refused) {
        Some(missing) if status == RunStatus::Succeeded && error.is_none() => {
            (RunStatus::Failed, Some(missing))
        }
        _ => (status, error),
    }
}

/// Blocks an issue whose spending cap is reached. That is not a failure: no attempt is counted.
fn block_for_cap(routing: &mut Routing, end: &RunEnd<'_>, cap: &CapReached) {
    let reason = cap.to_string();
    let id = &end.issue.id;
    routing.comment = Some(format!(
        "Blocked: {reason}. Raise the cap in the configuration, then run `symphony issue move {id} todo` (or \
         `review`, if its pull request is open)."
    ));
    routing.event = Some(IssueEvent::CapReached { reason });
}

fn waits_or_works(status: IssueStatus) -> bool {
    matches!(
        status,
        IssueStatus::InProgress | IssueStatus::Review | IssueStatus::Todo
    )
}

/// A clean end that is a failure. A run whose tool calls were refused is not continued: it would be refused again at
/// once.
fn empty_end(run: &Run, evidence: Evidence, refused: Option<&RefusedCall>) -> Option<RunError> {
    match evidence {
        Evidence::Found => None,
        Evidence::NoneAfterDenials => Some(RunError {
            class: ErrorClass::PermissionDenied,
            message: format!(
                "the {} ended without an outcome after its tool calls were refused",
                run.agent
            ),
        }),
        Evidence::None => missing_outcome(run, refused),
    }
}

/// Returns why another run would end as the last ones did; `None` if it may not.
fn stop_of(end: &RunEnd<'_>) -> Option<Stop> {
    let works = end.issue.state.status() == IssueStatus::InProgress;
    let stops = |before| effect_after(end, before) == NothingEffect::Stops;
    if let Some((refused, before)) = &end.refused
        && works
        && stops(*before)
    {
        let why = refused_in_a_row(refused, *before);
        return Some(Stop { why, advice: None });
    }
    if let Some(idle) = &end.idle
        && (works || is_given_back(end))
        && stops(count(&idle.before))
    {
        return Some(Stop {
            why: idle.why(tool_of(end.run)),
            advice: Some(idle.advice()),
        });
    }
    let limited = end.limited.as_ref().filter(|_| works)?;
    let before = count(&limited.before).min(end.issue.counts.total_runs);
    (before.saturating_add(1) >= limited_stops(end.limits.max_retries)).then(|| Stop {
        why: limited.why(),
        advice: Some(limited.advice()),
    })
}

/// Returns whether its agent gave the issue back without a result: it would be dispatched again at once.
fn is_given_back(end: &RunEnd<'_>) -> bool {
    let is_back = |row: &IdleRow| row.end == IdleEnd::HandedBack;
    end.issue.state.status() == IssueStatus::Todo && end.idle.as_ref().is_some_and(is_back)
}

fn count<T>(before: &[T]) -> u32 {
    u32::try_from(before.len()).unwrap_or(u32::MAX)
}

/// The failure behind a clean end; `None` if it is a success.
fn clean_failure(end: &RunEnd<'_>) -> Option<RunError> {
    let in_progress = end.issue.state.status() == IssueStatus::InProgress;
    if end.run.moved_issue {
        return idle_again(end).filter(|_| is_given_back(end));
    }
    let refused = end.refused.as_ref().map(|(call, _)| call);
    empty_end(end.run, end.evidence, refused)
        .or_else(|| refused_again(end).filter(|_| in_progress))
        .or_else(|| idle_again(end).filter(|_| in_progress))
}

/// A clean end that left nothing, like that of the run before: continued at once, it would be paid for over and over.
fn idle_again(end: &RunEnd<'_>) -> Option<RunError> {
    let idle = end.idle.as_ref()?;
    let effect = effect_after(end, count(&idle.before));
    (effect != NothingEffect::Continues).then(|| no_outcome(&idle.why(tool_of(end.run))))
}

/// The tool that a run on an issue is for.
fn tool_of(run: &Run) -> &'static str {
    if is_in_phase(run) {
        "`complete_phase`"
    } else {
        "`create_pr` or `propose_done`"
    }
}

/// A clean end without what the run is for, because its call was refused for the reason of the run before: continued at
/// once, it would be refused over and over.
fn refused_again(end: &RunEnd<'_>) -> Option<RunError> {
    let (refused, before) = end.refused.as_ref()?;
    let effect = effect_after(end, *before);
    (effect != NothingEffect::Continues).then(|| no_outcome(&refused_in_a_row(refused, *before)))
}

fn refused_in_a_row(refused: &RefusedCall, before: u32) -> String {
    let runs = before.saturating_add(1);
    let (tool, why) = (refused.tool, refused.fact());
    format!("`{tool}` was refused in {runs} runs in a row: {why}")
}

/// A clean end without the result that the agent's type is for; workers and phase agents are continued instead.
fn missing_outcome(run: &Run, refused: Option<&RefusedCall>) -> Option<RunError> {
    let message = match (&run.target, &run.agent) {
        (RunTarget::Delivery(..), _) => {
            "the judge ended without a verdict (approve_phase or reject_phase)"
        }
        (RunTarget::PullRequest(..), _) => {
            "the judge ended without a verdict (approve_pr or reject_pr)"
        }
        // Whatever its profile, a phase's agent must deliver.
        _ if is_in_phase(run) => return None,
        (_, AgentType::Planner) => "planner-no-subtasks: the planner ended without a sub-task",
        _ => return None,
    };
    let why = refused.map(|refused| refused.why_nothing_came(&run.id));
    Some(missing(message, why))
}

#[cfg(test)]
mod tests;
