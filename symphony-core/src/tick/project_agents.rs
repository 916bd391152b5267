//! Agents that work on a project itself (setup wizard, scanner, background research), and intake: when they are
//! dispatched (spec: orchestrator, the table of agents). They are not retried: the wizard runs once, intake once per
//! issue, the others after their interval.

use std::collections::BTreeSet;

use super::agents_view::{IDLE_BACKLOG_MAX, IntakeCandidate};
use super::holds::gates_hold;
use super::own_runs::{live_run, wizard_comes_first};
use super::predicate::{common, project_obstacles};
use super::reason::Reason;
use super::schedule::Schedule;
use super::snapshot::{AcceptedPhase, ProjectView, Snapshot, SubtasksOutcome};
use super::waiting::{Waiting, start_run, tier};
use crate::Timestamp;
use crate::agent::AgentType;
use crate::config::defaults::SCANNER_INTERVAL_MS;
use crate::id::{IssueId, ProjectId};
use crate::issue::{AttemptCounts, Priority};
use crate::project::WizardState;
use crate::retry::{after, is_ahead_of_clock};
use crate::run::RunTarget;

/// Returns every reason, apart from slots, why intake does not get an issue in `backlog` now. Attempts at the issue do
/// not matter: triage is not one.
pub fn intake_obstacles(
    candidate: &IntakeCandidate,
    snapshot: &Snapshot,
    now: Timestamp,
) -> Vec<Reason> {
    let live = snapshot.run_on(&candidate.issue);
    let counts = AttemptCounts::default();
    let target = RunTarget::Issue(candidate.issue.clone());
    let project = snapshot.projects.get(&candidate.project);
    let asked = project.map(|project| project.asked(&target, &AgentType::Intake, None, None));
    let mut reasons = common(live, &candidate.project, counts, asked, snapshot, now);
    reasons.extend(gates_hold(&candidate.project, snapshot));
    reasons
}

/// Returns the agents that a project's configuration asks for, without intake, in their order of dispatch.
fn wanted(project: &ProjectView) -> impl Iterator<Item = AgentType> {
    let agents = &project.agents;
    let wizard = agents.wizard_enabled && agents.wizard == WizardState::Pending;
    [
        (wizard, AgentType::Wizard),
        (agents.scanner_enabled, AgentType::Scanner),
        (agents.background_research, AgentType::Researcher),
    ]
    .into_iter()
    .filter_map(|(wanted, agent)| wanted.then_some(agent))
}

/// Returns every reason, apart from slots, why one of a project's own agents does not start now.
pub fn project_agent_obstacles(
    id: &ProjectId,
    agent: &AgentType,
    snapshot: &Snapshot,
    now: Timestamp,
) -> Vec<Reason> {
    let mut reasons = Vec::new();
    if let Some(live) = live_run(id, agent, snapshot) {
        reasons.push(live.reason());
    }
    let view = snapshot.projects.get(id);
    let asked = view.map(|view| view.asked(&RunTarget::Project, agent, None, None));
    reasons.extend(project_obstacles(id, asked, snapshot, now));
    let Some(project) = snapshot.projects.get(id) else {
        return reasons;
    };
    if *agent == AgentType::Wizard {
        return reasons;
    }
    reasons.extend(gates_hold(id, snapshot));
    if wizard_comes_first(id, project, snapshot) {
        reasons.push(Reason::WizardFirst);
    }
    let agents = &project.agents;
    if agents.has_todo || is_about_to_have_work(id, snapshot) {
        reasons.push(Reason::WorkWaits);
    }
    if agents.backlog >= IDLE_BACKLOG_MAX {
        reasons.push(Reason::BacklogFull {
            limit: IDLE_BACKLOG_MAX,
        });
    }
    if let Some(last) = last_run(project, agent) {
        // A run from before the clock was set back is ignored: the pause would last as long as the clock jumped.
        let has_looked = agents.idle_since.is_some_and(|since| last >= since);
        let rest_min = if has_looked { SCANNER_INTERVAL_MS } else { 0 };
        let until = after(last, agents.idle_interval_ms.max(rest_min));
        if until > now && !is_ahead_of_clock(last, now) {
            reasons.push(Reason::RanRecently { until });
        }
    }
    reasons
}

fn last_run(project: &ProjectView, agent: &AgentType) -> Option<Timestamp> {
    match agent {
        AgentType::Scanner => project.agents.last_scan,
        AgentType::Researcher => project.agents.last_research,
        _ => None,
    }
}

/// Returns whether this tick moves an issue of the project to `todo`: its sub-tasks have ended, or its phase was
/// accepted.
fn is_about_to_have_work(id: &ProjectId, snapshot: &Snapshot) -> bool {
    let goes_on = |split: &&super::snapshot::SplitIssue| {
        split.project == *id && split.outcome == SubtasksOutcome::SomeDone
    };
    let advances = |accepted: &AcceptedPhase| accepted.project == *id;
    snapshot.split.iter().any(|split| goes_on(&split)) || snapshot.accepted.iter().any(advances)
}

/// Splits what these agents could do into what only lacks a slot, and what has a reason to wait.
///
/// `seen` are the issues that were sorted out before.
pub(super) fn sort_out<'a>(
    snapshot: &'a Snapshot,
    now: Timestamp,
    seen: &mut BTreeSet<&'a IssueId>,
    schedule: &mut Schedule,
) -> Vec<Waiting> {
    let mut waiting = Vec::new();
    for candidate in &snapshot.intake {
        if !seen.insert(&candidate.issue) {
            continue;
        }
        let reasons = intake_obstacles(candidate, snapshot, now);
        let target = RunTarget::Issue(candidate.issue.clone());
        let intake = AgentType::Intake;
        let Some(start) = start_run(snapshot, &candidate.project, intake, target, None, None)
        else {
            schedule.wait_issue(candidate.issue.clone(), reasons);
            continue;
        };
        if reasons.is_empty() {
            let (priority, created_at) = (candidate.priority, candidate.created_at);
            waiting.push(Waiting {
                tier: tier::READY,
                priority,
                created_at,
                start,
            });
        } else {
            schedule.wait(&start, reasons);
        }
    }
    for (id, project) in &snapshot.projects {
        for agent in wanted(project) {
            let reasons = project_agent_obstacles(id, &agent, snapshot, now);
            let is_wizard = agent == AgentType::Wizard;
            let created_at = last_run(project, &agent).unwrap_or(Timestamp::MIN);
            let start = start_run(snapshot, id, agent.clone(), RunTarget::Project, None, None);
            match start {
                Some(start) if reasons.is_empty() => waiting.push(Waiting {
                    tier: if is_wizard { tier::WIZARD } else { tier::IDLE },
                    priority: Priority::None,
                    created_at,
                    start,
                }),
                _ => schedule.wait_project(id.clone(), agent, reasons),
            }
        }
    }
    waiting
}
