//! Planning one tick: what starts, and what everything else waits for.

use std::collections::BTreeSet;

use super::done::return_proposals;
use super::elsewhere::end_elsewhere;
use super::housekeeping::{advance_phases, clean_up, tidy, unblock, watch_supervisors};
use super::live_run::LockState;
use super::outside::notice_outside;
use super::predicate::{obstacles, review_obstacles, wanted_agent};
use super::reason::Reason;
use super::schedule::{Action, Schedule, StartRun};
use super::slots::dispatch;
use super::snapshot::Snapshot;
use super::waiting::{Waiting, start_run, tier};
use super::{done, gates, project_agents};
use crate::Timestamp;
use crate::agent::AgentType;
use crate::hold::{HoldScope, ProbeItem};
use crate::id::{IssueId, PhaseName, ProjectId};
use crate::issue::{AttemptCounts, BreakerTarget};
use crate::profile::AgentChoice;
use crate::pull_request::PullRequestOf;
use crate::run::RunTarget;

/// Decides what one tick does. Same snapshot, same time, same schedule.
pub fn plan_tick(snapshot: &Snapshot, now: Timestamp) -> Schedule {
    let mut schedule = Schedule::default();
    for run in snapshot
        .live
        .iter()
        .filter(|run| run.lock != LockState::Held && !run.waits(now))
    {
        schedule.actions.push(Action::FinishCrashed {
            run: run.run.clone(),
            issue: run.issue.clone(),
        });
    }
    schedule.actions.extend(end_elsewhere(snapshot));
    schedule.actions.extend(watch_supervisors(snapshot));
    notice_outside(snapshot, &mut schedule);
    advance_phases(snapshot, &mut schedule);
    unblock(snapshot, &mut schedule);
    let waiting = sort_out(snapshot, now, &mut schedule);
    dispatch(snapshot, waiting, now, &mut schedule);
    tidy(snapshot, now, &mut schedule);
    clean_up(snapshot, now, &mut schedule);
    schedule
}

/// Returns what in the backlog could start now as the probe of a hold, by item: used by whoever drives a plan.
pub fn probe_candidates(snapshot: &Snapshot, now: Timestamp) -> Vec<(ProbeItem, Vec<HoldScope>)> {
    if snapshot.holds.is_empty() {
        return Vec::new();
    }
    let waiting = sort_out(snapshot, now, &mut Schedule::default());
    let probes = waiting.into_iter().map(|waiting| waiting.start);
    probes
        .filter(|start| !start.probes.is_empty())
        .map(|start| (start.item(), start.probes))
        .collect()
}

fn tier_of(phase: Option<&PhaseName>) -> u8 {
    match phase {
        Some(phase) if !phase.is_ready() => tier::PHASE,
        _ => tier::READY,
    }
}

/// Splits candidates into those that only lack a slot, and those with a reason to wait.
fn sort_out(snapshot: &Snapshot, now: Timestamp, schedule: &mut Schedule) -> Vec<Waiting> {
    let mut waiting = Vec::new();
    // The base has their change: no one is paid for it any longer.
    let merged: BTreeSet<&PullRequestOf> = snapshot.base.merges.iter().map(|m| &m.of).collect();
    let mut seen: BTreeSet<&IssueId> = merged.iter().filter_map(|of| of.issue()).collect();
    seen.extend(return_proposals(snapshot, schedule));
    for review in &snapshot.reviews {
        let is_repeated = review.of.issue().is_some_and(|issue| !seen.insert(issue));
        if is_repeated || merged.contains(&review.of) {
            continue;
        }
        if let Some(action) = done::confirm_or_refresh(review, snapshot) {
            schedule.actions.push(action);
            continue;
        }
        let reasons = review_obstacles(review, snapshot, now);
        if let Some(start) = gates::start(review, snapshot, now) {
            waiting.push(start);
            continue;
        }
        // plans have no deliveries of phases
        let Some((target, phase)) = review.target() else {
            continue;
        };
        let wanted = WantedRun {
            project: &review.project,
            counts: review.counts,
            agent: AgentType::Judge,
            target,
            phase,
            choice: None,
        };
        if let Some(start) = admit(snapshot, schedule, wanted, reasons) {
            let (priority, created_at) = (review.priority, review.created_at);
            waiting.push(Waiting {
                tier: tier::REVIEW,
                priority,
                created_at,
                start,
            });
        }
    }
    for candidate in &snapshot.candidates {
        if !seen.insert(&candidate.issue) {
            continue;
        }
        let reasons = obstacles(candidate, snapshot, now);
        let agent = snapshot
            .projects
            .get(&candidate.project)
            .and_then(|project| wanted_agent(candidate, project).ok())
            .unwrap_or(AgentType::Worker);
        let tier = tier_of(candidate.phase.as_ref());
        let wanted = WantedRun {
            project: &candidate.project,
            counts: candidate.counts,
            agent,
            target: RunTarget::Issue(candidate.issue.clone()),
            phase: candidate.phase.clone(),
            choice: Some(&candidate.choice),
        };
        if let Some(start) = admit(snapshot, schedule, wanted, reasons) {
            let (priority, created_at) = (candidate.priority, candidate.created_at);
            waiting.push(Waiting {
                tier,
                priority,
                created_at,
                start,
            });
        }
    }
    waiting.extend(gates::probes(snapshot, now, schedule));
    waiting.extend(gates::trials(snapshot, now, schedule));
    waiting.extend(project_agents::sort_out(snapshot, now, &mut seen, schedule));
    waiting
}

/// A run that starts unless something is in its way.
struct WantedRun<'a> {
    project: &'a ProjectId,
    counts: AttemptCounts,
    agent: AgentType,
    target: RunTarget,
    /// The phase of its issue.
    phase: Option<PhaseName>,
    /// What its issue says of the agent.
    choice: Option<&'a AgentChoice>,
}

/// Returns the run to start, or records why not; opens the breaker if that is the only obstacle.
fn admit(
    snapshot: &Snapshot,
    schedule: &mut Schedule,
    wanted: WantedRun<'_>,
    reasons: Vec<Reason>,
) -> Option<StartRun> {
    let WantedRun {
        project,
        counts,
        agent,
        target,
        phase,
        choice,
    } = wanted;
    let view = snapshot.projects.get(project);
    let (issue, plan_review) = (
        target.issue().cloned(),
        target.plan().cloned().zip(target.pull_request()),
    );
    if reasons.is_empty()
        && let Some(start) = start_run(snapshot, project, agent, target, phase, choice)
    {
        return Some(StartRun {
            attempt: counts.total_runs.saturating_add(1),
            ..start
        });
    }
    // A breaker that sends issues to `todo` leaves them there: opening it again would repeat the notice each tick.
    let to_todo = view.is_some_and(|v| v.breaker_target == BreakerTarget::Todo);
    let only_spent = matches!(reasons.as_slice(), [Reason::AttemptsSpent { .. }]);
    if let Some(issue) = issue {
        if only_spent && !to_todo {
            schedule.actions.push(Action::OpenBreaker {
                issue: issue.clone(),
            });
        }
        schedule.wait_issue(issue, reasons);
    } else if let Some((of, pr)) = plan_review {
        schedule.wait_plan(of, pr, reasons);
    }
    None
}
