//! Carries out a plan: all claims are one transaction, and everything else is a separate action.

use std::collections::BTreeSet;

use symphony_core::id::{IssueId, ProjectId, RunId};
use symphony_core::issue::IssueEvent;
use symphony_core::outside::BaseNotice;
use symphony_core::tick::{Action, LeftoverOwner};
use symphony_core::watchdog::{Stuck, Suspicion};
use symphony_core::wording::counted;
use symphony_store::{Context, Store};
use symphony_workspace::Failpoint;

use super::effects::Effects;
use super::elsewhere::{end_lost, withdraw};
use super::observed::Observed;
use super::outside_merge::record_merge;
use super::proposals::{confirm, refresh, send_back};
use super::report::ActReport;
use super::start::start_runs;
use crate::error::RunnerError;
use crate::step_event::{IssueStepEvent, RunStepEvent, StepEvent};
use crate::supervise::SuperviseMode;

/// Carries out a plan. Failures are reported, and left to the next tick.
///
/// # Errors
/// When the claims cannot be written. Then nothing is claimed.
pub fn act(
    store: &mut Store,
    effects: &mut impl Effects,
    observed: &Observed,
    actions: &[Action],
) -> Result<ActReport, RunnerError> {
    let mut report = ActReport::default();
    submit_waiting(effects, observed, actions, &mut report);
    let mut starts = Vec::new();
    let mut last = Vec::new();
    for action in actions {
        effects.begin_action();
        match action {
            Action::FinishCrashed { run, .. } => {
                let done = finish_crashed(store, effects, observed, run);
                report.note(format_args!("run {run}"), done.map(Some));
            }
            Action::Suspect { run, suspicion, .. } => {
                let done = keep_suspicion(store, effects, observed, run, suspicion);
                report.note(format_args!("run {run}"), done);
            }
            Action::EndStuck { run, stuck, .. } => {
                let done = end_stuck(store, effects, observed, run, stuck);
                report.note(format_args!("run {run}"), done.map(Some));
            }
            Action::EndLost { run, host, .. } => {
                let done = end_lost(store, effects, observed, run, host);
                report.note(format_args!("run {run}"), done);
            }
            Action::Withdraw { run, pool, why, .. } => {
                let done = withdraw(store, effects, observed, run, (pool, *why));
                report.note(format_args!("run {run}"), done);
            }
            Action::AdvancePhase { issue } => {
                report.note(issue, advance_phase(store, effects, issue).map(Some));
            }
            Action::Unblock { issue } => {
                report.note(issue, unblock(store, effects, issue).map(Some));
            }
            Action::OpenBreaker { issue } => {
                report.note(
                    issue,
                    open_breaker(store, effects, observed, issue).map(Some),
                );
            }
            Action::RecordMerge(merge) => {
                let done = record_merge(store, effects, observed, merge);
                report.note(&merge.of, done);
            }
            Action::ConfirmDone {
                issue, pr, base, ..
            } => {
                let done = confirm(store, effects, issue, *pr, base);
                report.note(issue, done.map(Some));
            }
            Action::RefreshProposal(stale) => {
                report.note(&stale.issue, refresh(store, effects, stale));
            }
            Action::ReturnProposal(moved) => {
                report.note(&moved.issue, send_back(store, effects, moved));
            }
            Action::NoteBase(notice) => {
                report.note(notice.subject(), note_base(store, effects, notice));
            }
            Action::RememberBase(look) => {
                // Remembered after what it led to was done: a tick that dies in between is followed by one that sees
                // the same change.
                Failpoint::BaseLooked.reach();
                if let Err(error) = store.record_base_look(&Context::system(effects.now()), look) {
                    let branch = &look.branch;
                    report
                        .problems
                        .push(format!("{}: {branch}: {error}", look.project));
                }
            }
            Action::StartRun(start) => starts.push(start),
            Action::TidyRun {
                run,
                project,
                owner,
            } => {
                let done = tidy(effects, observed, run, project, *owner);
                report.note(
                    format_args!("run {run}: its files were not removed"),
                    done.map(Some),
                );
            }
            Action::CleanUp { issue, project } => last.push((issue, project)),
        }
    }
    start_runs(store, effects, observed, &starts, &mut report)?;
    // Removing a large worktree takes a while, so it comes after everything else has been started.
    for (issue, project) in last {
        let Some((project, Some(config))) = observed.projects.get(project) else {
            continue;
        };
        effects.begin_action();
        match effects.remove_worktree(store, project, config, issue) {
            Ok(done) => report.events.push(StepEvent::Issue(
                issue.clone(),
                IssueStepEvent::WorktreeRemoved { done },
            )),
            Err(error) => {
                let problem = error.with_causes();
                // An issue that is in work again has no fault to record.
                let is_reopened = matches!(error, RunnerError::Reopened { .. });
                let context = Context::system(effects.now());
                let tries = if is_reopened {
                    Ok(1)
                } else {
                    store.put_clean_up_off(&context, issue, &problem)
                };
                // Reported once. If it persists, it is in the inbox.
                if !matches!(tries, Ok(2..)) {
                    report
                        .problems
                        .push(format!("{issue}: its worktree was not removed: {problem}"));
                }
            }
        }
    }
    Ok(report)
}

/// Adds a notice about a base branch to the inbox, unless it is already there.
fn note_base(
    store: &mut Store,
    effects: &mut impl Effects,
    notice: &BaseNotice,
) -> Result<Option<StepEvent>, RunnerError> {
    let is_new = store.note_base(&Context::system(effects.now()), notice)?;
    Ok(is_new.then(|| StepEvent::BaseNoticed {
        subject: notice.subject(),
        text: notice.text.clone(),
    }))
}

/// Starts the exit handling of a run whose supervisor has died.
fn finish_crashed(
    store: &Store,
    effects: &mut impl Effects,
    observed: &Observed,
    id: &RunId,
) -> Result<StepEvent, RunnerError> {
    let begun = store.exit_handling(id)?;
    let processes = finish_dead(store, effects, observed, id)?;
    let event = match begun {
        Some(_) => RunStepEvent::ExitHandlingResumed,
        None => RunStepEvent::ExitHandlingBegun { processes },
    };
    Ok(StepEvent::Run(id.clone(), event))
}

/// Ends what a dead supervisor left, and starts another one for the exit handling. Returns how many processes were
/// left. The lock is held throughout.
fn finish_dead(
    store: &Store,
    effects: &mut impl Effects,
    observed: &Observed,
    id: &RunId,
) -> Result<u64, RunnerError> {
    let run = store.run(id)?;
    let Some((project, Some(_))) = observed.projects.get(&run.project) else {
        return Err(RunnerError::refused(format!(
            "its exit handling waits: the configuration of project {} is broken",
            run.project
        )));
    };
    // The lock comes first: without it, two ticks could do the exit handling of one run in one worktree at the same
    // time.
    let lock = effects.lock(project, id)?;
    // No process of the agent may be alive when the exit handling starts: it could write files while its work is
    // committed.
    let ended = effects.end_strays(project, &run)?;
    Failpoint::TickSwept.reach();
    effects.start_supervisor(project, id, lock, SuperviseMode::Finish)?;
    Failpoint::TickFinishing.reach();
    Ok(ended as u64)
}

/// Keeps a suspicion, and returns what to report about it. A process that has recorded no step may just be starting.
fn keep_suspicion(
    store: &Store,
    effects: &mut impl Effects,
    observed: &Observed,
    id: &RunId,
    suspicion: &Suspicion,
) -> Result<Option<StepEvent>, RunnerError> {
    let run = store.run(id)?;
    let Some((project, _)) = observed.projects.get(&run.project) else {
        return Ok(None);
    };
    let is_new = effects.suspect(project, id, suspicion)?;
    let record = suspicion.record.as_ref().filter(|_| is_new);
    Ok(record.map(|record| {
        let (step, limit_ms) = (record.step, record.limit_ms);
        StepEvent::Run(id.clone(), RunStepEvent::SupervisorLate { step, limit_ms })
    }))
}

/// Ends a stuck supervisor, and starts the exit handling of its run.
fn end_stuck(
    store: &Store,
    effects: &mut impl Effects,
    observed: &Observed,
    id: &RunId,
    stuck: &Stuck,
) -> Result<StepEvent, RunnerError> {
    let run = store.run(id)?;
    let Some((project, _)) = observed.projects.get(&run.project) else {
        return Err(RunnerError::refused("its project is gone"));
    };
    if !effects.end_stuck(project, id, stuck)? {
        return Ok(StepEvent::Run(id.clone(), RunStepEvent::SupervisorWentOn));
    }
    let ended = RunStepEvent::SupervisorEnded {
        stuck: stuck.clone(),
        processes: finish_dead(store, effects, observed, id)?,
    };
    Ok(StepEvent::Run(id.clone(), ended))
}

fn advance_phase(
    store: &mut Store,
    effects: &mut impl Effects,
    issue: &IssueId,
) -> Result<StepEvent, RunnerError> {
    let claim = store.advance_phase(&Context::system(effects.now()), issue)?;
    let event = match claim {
        Some(claim) => IssueStepEvent::PhaseAccepted {
            phase: claim.phase,
            next: claim.next_phase,
        },
        None => IssueStepEvent::PhaseAcceptedBefore,
    };
    Ok(StepEvent::Issue(issue.clone(), event))
}

fn unblock(
    store: &mut Store,
    effects: &mut impl Effects,
    issue: &IssueId,
) -> Result<StepEvent, RunnerError> {
    store.close_subtasks(&Context::system(effects.now()), issue)?;
    Ok(StepEvent::Issue(
        issue.clone(),
        IssueStepEvent::SubtasksEnded,
    ))
}

fn open_breaker(
    store: &mut Store,
    effects: &mut impl Effects,
    observed: &Observed,
    issue: &IssueId,
) -> Result<StepEvent, RunnerError> {
    let context = Context::system(effects.now());
    let found = store.issue(issue)?;
    let view = observed.snapshot.projects.get(&found.project);
    let Some(view) = view else {
        return Err(RunnerError::refused("its project is gone"));
    };
    let comment = format!(
        "Circuit breaker: {} since the last progress (limit {}). `symphony issue retry {issue}` resets the count.",
        counted(found.counts.total_runs.into(), "run"),
        view.max_retries
    );
    let event = IssueEvent::BreakerOpened {
        to: view.breaker_target,
        reason: None,
    };
    store.move_issue_with_comment(&context, issue, &event, &comment)?;
    Ok(StepEvent::Issue(
        issue.clone(),
        IssueStepEvent::BreakerOpened,
    ))
}

fn tidy(
    effects: &mut impl Effects,
    observed: &Observed,
    run: &RunId,
    project: &ProjectId,
    owner: LeftoverOwner,
) -> Result<StepEvent, RunnerError> {
    let Some((project, _)) = observed.projects.get(project) else {
        return Err(RunnerError::refused("its project is gone"));
    };
    effects.tidy(project, run, owner)?;
    Ok(StepEvent::Run(run.clone(), RunStepEvent::Tidied(owner)))
}

/// Hands over the runs that wait in a pool, except those that are taken out of it: whoever claimed one may have died before it did so.
fn submit_waiting(
    effects: &impl Effects,
    observed: &Observed,
    actions: &[Action],
    report: &mut ActReport,
) {
    let withdrawn: BTreeSet<&RunId> = actions
        .iter()
        .filter_map(|action| match action {
            Action::Withdraw { run, .. } => Some(run),
            _ => None,
        })
        .collect();
    let placement = effects.placement();
    let waiting = observed.snapshot.live.iter();
    for live in waiting.filter(|live| !withdrawn.contains(&live.run)) {
        if let Some(pool) = live.whereabouts.queued_in()
            && !placement.delivered(&live.whereabouts)
            && let Err(error) = placement.submit(&live.run, pool)
        {
            report.note_once(error.to_string());
        }
    }
}
