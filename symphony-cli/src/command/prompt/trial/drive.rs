//! Driving a case: ticks until its issue is approved, or nothing continues by itself.

use std::time::Duration;

use symphony_core::Timestamp;
use symphony_core::hold::{Hold, HoldScope};
use symphony_core::id::{IssueId, RunId};
use symphony_core::issue::IssueState;
use symphony_core::prompt_trial::{CaseEnd, CaseFacts, CaseOutcome, PromptSet, case_outcome};
use symphony_core::pull_request::PrState;
use symphony_core::tick::Reason;
use symphony_runner::RunnerError;
use symphony_runner::session::Session;
use symphony_runner::tick::{TickOptions, TickOutcome, tick, wait_for};
use symphony_view::{DecisionView, TickView};

use super::case::end_all;
use super::measured::{agent_runs, attempt, changes, first_hand_in};
use crate::failure::Context as _;
use crate::interrupt::Interrupts;
use crate::progress::Progress;
use crate::reap::reap_supervisors;
use crate::standstill::waiting_items;

/// Ticks of a case: its attempts are limited by `max_retries`, so that this is only reached when something is wrong.
const TICKS_MAX: usize = 1_000;
/// Longest wait for a tick that is due by itself.
const PAUSE_MAX: Duration = Duration::from_secs(30);
/// Shortest, so that a clock that is a little off does not make it spin.
const PAUSE_MIN: Duration = Duration::from_millis(100);

/// How driving a case ended.
#[derive(Debug)]
pub(super) enum Driven {
    /// The case has ended.
    Ended(CaseEnd),
    /// The provider or the machine has a problem that every case would meet: why, for a person.
    Outage(String),
    /// Ctrl-C was pressed; no agent is left.
    Interrupted,
}

/// Drives a case to its end.
///
/// # Errors
/// When the database cannot be read or written.
pub(super) fn drive(
    session: &mut Session,
    issue: &IssueId,
    progress: &mut Progress,
    interrupts: &Interrupts,
) -> anyhow::Result<Driven> {
    for _ in 0..TICKS_MAX {
        let step = step(session, progress, interrupts)?;
        reap_supervisors();
        if interrupts.count() > 0 {
            end_all(&session.installation, &mut session.store)?;
            return Ok(Driven::Interrupted);
        }
        if let Some(end) = end_of(session, issue)? {
            return Ok(Driven::Ended(end));
        }
        if let Some(stop) = stopped_by_hold(session)? {
            return Ok(stop);
        }
        if let Some(reason) = step.obstacle {
            return Ok(Driven::Outage(reason));
        }
        match step.due {
            Due::Now => {}
            Due::At(at) => pause(at, interrupts),
            Due::Never => return Ok(Driven::Ended(standing(session, issue)?)),
        }
    }
    // no prompt is the cause of this
    let reason = format!("it has not ended after {TICKS_MAX} ticks");
    Ok(Driven::Ended(CaseEnd::LeftOut { reason }))
}

/// The result of a tick.
#[derive(Debug)]
struct Step {
    due: Due,
    /// What keeps every agent of every case from starting, if something does: why, for a person.
    obstacle: Option<String>,
}

/// When the next tick has something to do.
#[derive(Debug)]
enum Due {
    Now,
    At(Timestamp),
    Never,
}

/// Makes a tick, and waits for what it started.
fn step(
    session: &mut Session,
    progress: &mut Progress,
    interrupts: &Interrupts,
) -> anyhow::Result<Step> {
    let due = |due| Step {
        due,
        obstacle: None,
    };
    let options = TickOptions {
        dry_run: false,
        wait_for_lock: true,
        idle_since: None,
    };
    let report = match tick(&session.installation, &mut session.store, options)? {
        TickOutcome::Done(report) => report,
        TickOutcome::Busy(_) => return Ok(due(Due::At(Timestamp::now()))),
    };
    let mut live: Vec<RunId> = report.started.iter().map(|run| run.id.clone()).collect();
    live.extend(session.store.live_runs()?.into_iter().map(|run| run.id));
    let watched = wait_for(&session.installation, &live, |store| {
        progress.look(store, &live)?;
        if interrupts.count() > 0 {
            return Err(RunnerError::Refused {
                reason: "it was interrupted".to_owned(),
            });
        }
        Ok(())
    });
    if interrupts.count() == 0 {
        watched.context("wait for the agents")?;
    }
    let view = TickView::done(report);
    if !live.is_empty() || !view.actions.is_empty() {
        return Ok(due(Due::Now));
    }
    let retries = session.store.retries(None)?.into_iter();
    let dues = view.decisions.iter();
    let dues = dues.filter_map(DecisionView::due_by_itself);
    let next = dues.chain(retries.map(|retry| retry.due_at)).min();
    Ok(Step {
        due: next.map_or(Due::Never, Due::At),
        obstacle: obstacle(&view.decisions),
    })
}

/// Finds a reason that is about the machine or the configuration, which all cases have in common: the program of the agent is not there, or a
/// file is broken. An issue that waits for such a thing has come to nothing yet.
fn obstacle(decisions: &[DecisionView]) -> Option<String> {
    let of_issue = decisions.iter().filter(|of| of.issue.is_some());
    let reasons = of_issue.flat_map(|of| &of.reasons);
    let mut shared = reasons.filter(|of| {
        matches!(
            of.reason,
            Reason::ProjectBroken { .. } | Reason::NoProvider { .. }
        )
    });
    shared.next().map(|of| of.reason.brief())
}

fn pause(until: Timestamp, interrupts: &Interrupts) {
    let ms = until.as_millisecond() - Timestamp::now().as_millisecond();
    let pause = Duration::from_millis(u64::try_from(ms).unwrap_or(0));
    interrupts.wait(pause.clamp(PAUSE_MIN, PAUSE_MAX));
}

/// Returns how the case has ended, if it has.
fn end_of(session: &mut Session, id: &IssueId) -> anyhow::Result<Option<CaseEnd>> {
    let approved = changes(&session.store, id)?;
    let mut approved = approved
        .iter()
        .filter(|pr| matches!(pr.state, PrState::Approved | PrState::Merged));
    if let Some(pr) = approved.next() {
        return Ok(Some(if pr.proposal.is_some() {
            not_approved("agents agreed that nothing was left to do")
        } else {
            CaseEnd::Approved
        }));
    }
    Ok(match session.store.issue(id)?.state {
        IssueState::Done => Some(CaseEnd::Approved),
        IssueState::Blocked(block) => Some(not_approved(block.reason)),
        IssueState::Cancelled => Some(not_approved("it was cancelled")),
        // its circuit breaker opened, and the inbox knows why
        IssueState::Backlog => Some(standing(session, id)?),
        IssueState::Todo | IssueState::InProgress | IssueState::Review => None,
    })
}

fn not_approved(reason: impl Into<String>) -> CaseEnd {
    CaseEnd::NotApproved {
        reason: reason.into(),
    }
}

/// Returns what a hold means: one of the project is about this commit, all others would meet every case.
fn stopped_by_hold(session: &Session) -> anyhow::Result<Option<Driven>> {
    let holds = session.store.holds()?.into_iter();
    let is_of_commit =
        |hold: &Hold| matches!(hold.scope, HoldScope::Project(_) | HoldScope::Gates(_));
    let (of_commit, shared): (Vec<Hold>, Vec<Hold>) = holds.partition(is_of_commit);
    let outage = shared.into_iter().next();
    let outage = outage.map(|hold| Driven::Outage(hold.reason));
    Ok(outage.or_else(|| {
        let hold = of_commit.into_iter().next()?;
        Some(Driven::Ended(CaseEnd::LeftOut {
            reason: hold.reason,
        }))
    }))
}

/// Returns why nothing continues by itself.
fn standing(session: &mut Session, id: &IssueId) -> anyhow::Result<CaseEnd> {
    let (items, _) = waiting_items(&session.installation, &mut session.store)?;
    // what is about the whole project keeps the issue waiting, too
    let about = items.iter().find(|item| item.issue.as_ref() == Some(id));
    let about = about.or_else(|| items.first()).cloned();
    let reason = about.map_or_else(
        || "it stopped and did not continue".to_owned(),
        |item| item.text,
    );
    Ok(not_approved(reason))
}

/// Sums up a case from what its database has.
///
/// # Errors
/// When it cannot be read.
pub(super) fn sum_up(
    session: &Session,
    id: &IssueId,
    set: PromptSet,
    end: CaseEnd,
) -> anyhow::Result<CaseOutcome> {
    let changes = changes(&session.store, id)?;
    let runs = agent_runs(&session.store, id)?;
    let gates = session.config()?.gates;
    Ok(case_outcome(CaseFacts {
        issue: id.clone(),
        set,
        end,
        has_gates: gates.iter().any(|gate| gate.required),
        first: first_hand_in(&changes),
        runs: runs.iter().map(attempt).collect(),
    }))
}
