//! The end of a run in one transaction: the outcome is routed, gates are bound to their commit, a retry is made, the
//! fence is retired.

use symphony_core::config_change::AtWork;
use symphony_core::consequence::{consequences_of_run_end, delivery_at_end};
use symphony_core::contract::Delivery;
use symphony_core::id::{IssueId, PrId};
use symphony_core::issue::NextPhase;
use symphony_core::left_behind::{LeftKind, changes_comment, saved_comment};
use symphony_core::log::LogEvent;
use symphony_core::outcome::{
    Evidence, ProjectRouting, RunEnd, reached_provider, route_plan_review_end, route_run_end,
};
use symphony_core::pull_request::VerifiedGates;
use symphony_core::run::{Run, RunError, RunStatus, RunTarget};

use crate::database::context::Context;
use crate::database::event::{About, append};
use crate::database::open::Store;
use crate::database::row::to_json;
use crate::db::{Transaction, params};
use crate::error::StoreError;
use crate::gates::due::{not_run, settle_gates};
use crate::gates::record::record_gates;
use crate::issue::cascade::{carry_out, load_facts, mover, refused};
use crate::issue::note::add_comment_in;
use crate::issue::query::load_issue;
use crate::issue::worktree::put_aside_in;
use crate::plan::run::{end_phase, phase_run_status};
use crate::project::run::{end_intake, end_wizard, route_project};
use crate::review::delivery_query::load_delivery;
use crate::review::pull_request_query::{load_open_pr, load_pr};
use crate::run::ending::{FinishedRun, GatesAtEnd, RunFinish};
use crate::run::exit_handling::end_exit;
use crate::run::hand_in::{Rows, refused_call, refused_in_a_row, rows_of};
use crate::run::hold::{clear_canary, place};
use crate::run::hold_trial::{forget_ended, meet_condition, reach};
use crate::run::left_behind::{note_changes, without_own_changes};
use crate::run::new_hold::NewHold;
use crate::run::record::write_usage;
use crate::run::row::load_run;
use crate::run::unprepared::{hosts_lost_in_a_row, unprepared_in_a_row};

impl Store {
    /// Ends a run. A run that has already ended is returned unchanged, so calling this twice does no harm.
    ///
    /// # Errors
    /// When the run does not exist, or the database cannot be written. [`StoreError::Superseded`] when it was taken away from whoever ends
    /// it: another host, or the control, ends it now.
    pub fn finish_run(
        &mut self,
        context: &Context,
        finish: &RunFinish,
    ) -> Result<FinishedRun, StoreError> {
        // One transaction (`docs/design/0004`): after a crash between two, a run could be over while its issue still
        // waits for it. The status is read inside it, since a supervisor and `supervise --finish` may both get here,
        // and only one may count.
        self.write(context, |tx| {
            let run = load_run(tx, &finish.run)?;
            if run.status.is_live() {
                if run.fence != finish.fence {
                    return Err(StoreError::Superseded { run: run.id });
                }
                end_run(tx, context, &run, finish)?;
                // After the run itself has shown that the provider was there.
                if let Some(hold) = &finish.ahead {
                    place(tx, context, None, hold)?;
                }
            }
            let issue = run
                .target
                .issue()
                .map(|id| load_issue(tx, id))
                .transpose()?;
            Ok(FinishedRun {
                run: load_run(tx, &finish.run)?,
                issue,
            })
        })
    }
}

fn end_run(
    tx: &Transaction<'_>,
    context: &Context,
    run: &Run,
    finish: &RunFinish,
) -> Result<(), StoreError> {
    if let RunTarget::Gates(_, pr) = &run.target {
        end_gates(tx, context, run, *pr, finish)?;
        // Gates run the code of the change, which may have changed the configuration or left files.
        let left = without_own_changes(tx, run, finish.left_behind())?;
        let comment = changes_comment(&left, AtWork::Gates);
        if let (Some(id), Some(comment)) = (run.target.issue(), comment) {
            add_comment_in(tx, context, id, &comment)?;
        }
        return note_changes(tx, context, run, &left);
    }
    // Before the routing: when the issue itself is at fault, the failure uses an attempt. Routed with its hold, it
    // would use none.
    let own_fault = meet_condition(tx, run, finish)?;
    let is_own_fault = own_fault.is_some();
    let finish = &RunFinish {
        hold: finish.hold.clone().filter(|_| !is_own_fault),
        error: own_fault.or_else(|| finish.error.clone()),
        ..finish.clone()
    };
    let open_pr = run
        .target
        .issue()
        .map(|id| load_open_pr(tx, id))
        .transpose()?
        .flatten();
    let own_pr = open_pr
        .as_ref()
        .filter(|pr| pr.run.as_ref() == Some(&run.id));
    if let (Some(pr), GatesAtEnd::NoneConfigured) = (own_pr, &finish.gates) {
        record_gates(tx, context, pr, &VerifiedGates::none_on(&pr.head_commit))?;
    }
    let awaits_gates = matches!(finish.gates, GatesAtEnd::Due)
        && own_pr.is_some_and(|pr| pr.gates_of_head().is_none());
    let run = &Run {
        output_tail: finish.output_tail.clone(),
        ..run.clone()
    };
    let (mut counted, mut rows) = (false, Rows::default());
    let routing = match run.target.issue() {
        None => None,
        Some(id) => {
            let accepted = settle_delivery(tx, context, id, finish)?;
            // Read here, not by the caller: the agent's last call, or a person, may have moved the issue while the run
            // was ending.
            let issue = load_issue(tx, id)?;
            let evidence = evidence(tx, run, finish)?;
            // What a person's session came to says nothing about what an agent would bring alone.
            if own_pr.is_none() && !run.is_interactive() {
                rows = rows_of(tx, run, &issue, finish, evidence)?;
            }
            let end = RunEnd {
                run,
                issue: &issue,
                status: finish.status,
                error: finish.error.clone(),
                evidence,
                accepted,
                awaits_gates,
                cap: finish.cap,
                unprepared_before: unprepared_in_a_row(tx, id)?,
                hosts_lost_before: hosts_lost_in_a_row(tx, id)?,
                refused: refused_in_a_row(tx, run)?,
                idle: rows.idle.clone(),
                limited: rows.limited.clone(),
                rejected_before: crate::review::done::rejected_before(tx, run, id)?,
                limits: finish.limits,
            };
            let routing = route_run_end(&end, context.now);
            counted = routing.counts.total_runs > issue.counts.total_runs;
            Some((id, routing))
        }
    };
    let project = match &run.target {
        RunTarget::Project => Some(route_project(tx, run, finish)?),
        _ => None,
    };
    let (status, error) = match (&routing, &run.target, &project) {
        (Some((_, end)), ..) => (end.status, end.error.clone()),
        (None, RunTarget::PlanPhase(..), _) => phase_run_status(tx, run, finish)?,
        (None, RunTarget::PullRequest(..), _) => {
            let evidence = evidence(tx, run, finish)?;
            let refused = refused_call(&run.metadata);
            let error = finish.error.clone();
            route_plan_review_end(run, finish.status, error, evidence, refused.as_ref())
        }
        (None, _, Some(end)) => (end.status, end.error.clone()),
        (None, _, None) => (finish.status, finish.error.clone()),
    };
    // The log must say how the run ended before it says what followed.
    let ending = Ending {
        status,
        error: error.as_ref(),
        counted,
        rows: &rows,
        advanced: routing
            .as_ref()
            .is_some_and(|(_, end)| end.advance.is_some()),
        failures: routing
            .as_ref()
            .filter(|(_, end)| end.advance.is_none() && counted && awaits_gates)
            .map(|(_, end)| end.counts.consecutive_failures),
    };
    write_end(tx, context, run, finish, &ending)?;
    if let RunTarget::PlanPhase(plan, phase) = &run.target {
        end_phase(tx, context, run, plan, phase, finish)?;
    }
    let left = without_own_changes(tx, run, finish.left_behind())?;
    if let Some((id, routing)) = &routing {
        // Read after the run's end is written: as long as these facts contain a live run, the issue could not move on.
        let facts = load_facts(tx, id)?;
        let effects = consequences_of_run_end(&facts, run, routing, mover(context))
            .map_err(|source| refused(id, source))?;
        carry_out(tx, context, id, &effects)?;
        for put_aside in left.iter().filter(|left| left.kind == LeftKind::PutAside) {
            put_aside_in(tx, context, id, Some(&run.id), &put_aside.path)?;
        }
        for saved in left.iter().filter(|left| left.kind == LeftKind::Saved) {
            add_comment_in(tx, context, id, &saved_comment(&saved.path))?;
        }
        if let Some(comment) = changes_comment(&left, AtWork::of(&run.agent)) {
            add_comment_in(tx, context, id, &comment)?;
        }
        end_intake(tx, context, run, id, finish)?;
    }
    if let Some(ProjectRouting {
        wizard: Some(state),
        ..
    }) = &project
    {
        end_wizard(tx, context, run, *state)?;
    }
    let usage = finish.usage.as_ref().unwrap_or(&run.usage);
    let shown = match &finish.hold {
        Some(hold) => Shown::Condition(hold),
        None if !is_own_fault && reached_provider(finish.status, usage) => Shown::Reached,
        None => Shown::Nothing,
    };
    note_changes(tx, context, run, &left)?;
    settle_holds(tx, context, run, &shown)
}

/// Closes the delivery of the run that ends if it cannot count. Returns the next phase when an accepted delivery waits
/// for its step.
fn settle_delivery(
    tx: &Transaction<'_>,
    context: &Context,
    issue: &IssueId,
    finish: &RunFinish,
) -> Result<Option<NextPhase>, StoreError> {
    let mut facts = load_facts(tx, issue)?;
    if let Some(effect) = delivery_at_end(&facts, &finish.run, finish.status) {
        carry_out(tx, context, issue, std::slice::from_ref(&effect))?;
        facts.take(&effect);
    }
    let accepted = facts.delivery.filter(Delivery::awaits_step);
    Ok(accepted.as_ref().map(Delivery::next))
}

/// Ends a run of a pull request's gates. It decides about the pull request, and nothing else.
fn end_gates(
    tx: &Transaction<'_>,
    context: &Context,
    run: &Run,
    pr: PrId,
    finish: &RunFinish,
) -> Result<(), StoreError> {
    let found = match &finish.gates {
        GatesAtEnd::Found(found) => found.clone(),
        GatesAtEnd::Due | GatesAtEnd::NoneConfigured => not_run(finish.error.as_ref(), &run.id),
    };
    // Someone cancelled the run, so the gates are due as before.
    let failures = if finish.status == RunStatus::Cancelled {
        None
    } else {
        settle_gates(tx, context, run, pr, &found, finish.limits)?
    };
    let ending = Ending {
        status: finish.status,
        error: finish.error.as_ref(),
        rows: &Rows::default(),
        counted: false,
        advanced: false,
        failures,
    };
    write_end(tx, context, run, finish, &ending)?;
    // A red base holds the project, whatever the gates said about this change.
    if let Some(hold) = &finish.hold {
        place(tx, context, Some(&run.id), hold)?;
    }
    clear_canary(tx, &run.id)
}

/// Returns whether the run has the result that its agent exists for, apart from moving its issue.
fn evidence(tx: &Transaction<'_>, run: &Run, finish: &RunFinish) -> Result<Evidence, StoreError> {
    let verdict = match &run.target {
        RunTarget::PullRequest(_, pr) => load_pr(tx, *pr)?.verdict,
        RunTarget::Delivery(_, delivery) => load_delivery(tx, *delivery)?.verdict,
        _ => None,
    };
    let found = verdict.is_some_and(|verdict| verdict.run.as_ref() == Some(&run.id));
    Ok(if found {
        Evidence::Found
    } else if finish.denials() > 0 {
        Evidence::NoneAfterDenials
    } else {
        Evidence::None
    })
}

/// How the end of a run is recorded.
struct Ending<'a> {
    status: RunStatus,
    error: Option<&'a RunError>,
    /// Whether the run counts towards the circuit breaker of its issue.
    counted: bool,
    /// What it brought, and which limit ended it.
    rows: &'a Rows,
    /// Whether the issue leaves its phase with this run, so that the delivery counts for nothing else.
    advanced: bool,
    /// The issue's failures in a row after this run, where the run alone does not determine them.
    failures: Option<u32>,
}

fn write_end(
    tx: &Transaction<'_>,
    context: &Context,
    run: &Run,
    finish: &RunFinish,
    ending: &Ending<'_>,
) -> Result<(), StoreError> {
    let (status, error) = (ending.status, ending.error);
    let mut metadata = finish.metadata_after(run);
    ending.rows.note(&mut metadata);
    if let Some(usage) = &finish.usage {
        write_usage(tx, &run.id, usage, context.now)?;
    }
    // Together with the end of the run: left behind, this row would have the next tick handle the exit of an ended run.
    end_exit(tx, &run.id)?;
    tx.execute(
        "UPDATE run SET status = ?2, ended_at = ?3, exit_code = ?4, error_class = ?5, error_message = ?6, output_tail = ?7, metadata = ?8 WHERE id = ?1",
        params![
            run.id.as_str(),
            status.name(),
            context.now.as_millisecond().max(run.started_at.as_millisecond()),
            finish.exit_code,
            error.map(|e| e.class.name()),
            error.map(|e| e.message.as_str()),
            finish.output_tail,
            to_json(&metadata),
        ],
    )?;
    let about = About {
        project: Some(&run.project),
        issue: run.target.issue(),
        run: Some(&run.id),
        ..About::default()
    };
    let ended = LogEvent::RunEnded {
        status,
        error: error.map(|e| e.class),
        counted: ending.counted,
        advanced: ending.advanced,
        failures: ending.failures,
        cap: finish.cap.map(|cap| cap.scope),
    };
    append(tx, context, about, &ended)
}

/// What a run shows about the conditions behind holds.
enum Shown<'a> {
    /// The condition still exists.
    Condition(&'a NewHold),
    /// It reached its provider.
    Reached,
    /// Nothing: the run did not get that far, or the failure was its own.
    Nothing,
}

fn settle_holds(
    tx: &Transaction<'_>,
    context: &Context,
    run: &Run,
    shown: &Shown<'_>,
) -> Result<(), StoreError> {
    match shown {
        Shown::Condition(hold) => place(tx, context, Some(&run.id), hold)?,
        Shown::Reached => reach(tx, context, run)?,
        Shown::Nothing => {}
    }
    // The canary is cleared last: `place` and `reach` recognise the probe by it.
    forget_ended(tx, context)?;
    clear_canary(tx, &run.id)
}
