//! The plan of one tick: actions, and a reason for everything that is not started.

use std::collections::BTreeSet;

use crate::Timestamp;
use serde::Serialize;

use super::done::{self, return_proposals};
use super::gates;
use super::housekeeping::{advance_phases, clean_up, tidy, unblock, watch_supervisors};
use super::outside::notice_outside;
use super::predicate::{covers, obstacles, review_obstacles, wanted_agent};
use super::project_agents;
use super::reason::Reason;
use super::slots::dispatch;
use super::snapshot::{LeftoverOwner, LockState, Snapshot};
use crate::agent::AgentType;
use crate::done::{BaseNow, MovedProposal, StaleProposal};
use crate::hold::HoldScope;
use crate::hold::ProbeItem;
use crate::id::{IssueId, PhaseName, PlanId, PrId, ProjectId, RunId};
use crate::issue::{AttemptCounts, BreakerTarget, Priority};
use crate::outside::{BaseLook, BaseNotice, FoundMerge};
use crate::pull_request::PullRequestOf;
use crate::run::RunTarget;
use crate::watchdog::{Stuck, Suspicion};

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "action")]
pub enum Action {
    /// Do the exit handling of a run whose supervisor died, or whose exit handling was put off.
    FinishCrashed {
        /// The run.
        run: RunId,
        /// Its issue.
        issue: Option<IssueId>,
    },
    /// Keep the suspicion that a supervisor makes no progress; the next tick looks again.
    Suspect {
        /// The run.
        run: RunId,
        /// Its issue.
        issue: Option<IssueId>,
        /// What was seen.
        suspicion: Suspicion,
    },
    /// Kill a supervisor that two ticks have found stuck, and do the exit handling of its run.
    EndStuck {
        /// The run.
        run: RunId,
        /// Its issue.
        issue: Option<IssueId>,
        /// What was seen.
        stuck: Stuck,
    },
    /// Take an issue to its next phase: the one before is accepted.
    AdvancePhase {
        /// The issue.
        issue: IssueId,
    },
    /// Put an issue back to `todo`: its sub-tasks have ended.
    Unblock {
        /// The issue.
        issue: IssueId,
    },
    /// Open the circuit breaker of an issue that used up its attempts.
    OpenBreaker {
        /// The issue.
        issue: IssueId,
    },
    /// Record that the base has the change of a pull request that Symphony did not merge: its issue is done, or its plan completed.
    RecordMerge(FoundMerge),
    /// Confirm that nothing is left to do on an issue: its gates are green, a judge agrees, and `auto_done` is on.
    ConfirmDone {
        /// The issue.
        issue: IssueId,
        /// Its project.
        project: ProjectId,
        /// The proposal.
        pr: PrId,
        /// What was seen of its base.
        #[serde(skip)]
        base: Box<BaseNow>,
    },
    /// Have the gates or a judge look at a proposal again: what they saw is not what there is now.
    RefreshProposal(StaleProposal),
    /// Send a proposal that nothing is left to do back to a worker: the base has moved in a way that concerns it.
    ReturnProposal(MovedProposal),
    /// Tell a person about commits of an agent on the base.
    NoteBase(BaseNotice),
    /// Remember how far a base branch was looked at.
    RememberBase(BaseLook),
    /// Claim and start a run.
    StartRun(StartRun),
    /// Remove the worktree of an issue that has ended.
    CleanUp {
        /// The issue.
        issue: IssueId,
        /// Its project.
        project: ProjectId,
    },
    /// Put the files of a run in order that nobody comes back to.
    TidyRun {
        /// The run.
        run: RunId,
        /// The project in whose folder they are.
        project: ProjectId,
        /// Whose they are.
        owner: LeftoverOwner,
    },
}

/// A run to be claimed and started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StartRun {
    /// The project.
    pub project: ProjectId,
    /// What it works on.
    pub target: RunTarget,
    /// Who works.
    pub agent: AgentType,
    /// The issue's phase.
    pub phase: Option<PhaseName>,
    /// Which run on this issue since its phase last advanced, from 1.
    pub attempt: u32,
    /// The provider.
    pub provider: String,
    /// Holds that are over and for which this run is the probe.
    pub probes: Vec<HoldScope>,
}

impl StartRun {
    /// Returns what would probe a hold with it.
    pub fn item(&self) -> ProbeItem {
        ProbeItem::of(&self.target, &self.project, &self.agent)
    }
}

/// Why an issue is not started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Decision {
    /// The issue.
    pub issue: IssueId,
    /// All reasons, the decisive ones first.
    pub reasons: Vec<Reason>,
}

/// Why the pull request of a plan is not given to a judge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlanReviewDecision {
    /// The plan.
    pub plan: PlanId,
    /// Its pull request.
    pub pr: PrId,
    /// All reasons, the decisive ones first.
    pub reasons: Vec<Reason>,
}

/// Why an agent that works on a project itself is not started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProjectDecision {
    /// The project.
    pub project: ProjectId,
    /// The agent.
    pub agent: AgentType,
    /// All reasons, the decisive ones first.
    pub reasons: Vec<Reason>,
}

/// What one tick does, and does not do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// What is done, in this order.
    pub actions: Vec<Action>,
    /// Why everything else is not.
    pub decisions: Vec<Decision>,
    /// Why agents that work on a project itself are not.
    pub project_decisions: Vec<ProjectDecision>,
    /// Why the pull requests of plans are not given to judges.
    pub plan_decisions: Vec<PlanReviewDecision>,
}

impl Plan {
    /// Records why a run does not start.
    pub(super) fn wait(&mut self, start: &StartRun, reasons: Vec<Reason>) {
        let target = &start.target;
        match (target.issue(), target.plan().zip(target.pull_request())) {
            (Some(issue), _) => self.wait_issue(issue.clone(), reasons),
            (None, Some((plan, pr))) => self.wait_plan(plan.clone(), pr, reasons),
            (None, None) => {
                self.wait_project(start.project.clone(), start.agent.clone(), reasons);
            }
        }
    }

    /// Records why nobody starts on an issue.
    pub(super) fn wait_issue(&mut self, issue: IssueId, reasons: Vec<Reason>) {
        self.decisions.push(Decision { issue, reasons });
    }

    /// Records why nobody starts on what a pull request finishes.
    pub(super) fn wait_review(&mut self, of: &PullRequestOf, pr: PrId, reasons: Vec<Reason>) {
        match of {
            PullRequestOf::Issue(issue) => self.wait_issue(issue.clone(), reasons),
            PullRequestOf::Plan(plan) => self.wait_plan(plan.clone(), pr, reasons),
        }
    }

    /// Records why the review of a plan's pull request does not start.
    fn wait_plan(&mut self, of: PlanId, pr: PrId, reasons: Vec<Reason>) {
        self.plan_decisions.push(PlanReviewDecision {
            plan: of,
            pr,
            reasons,
        });
    }

    /// Records why an agent does not start on a project.
    pub(super) fn wait_project(
        &mut self,
        project: ProjectId,
        agent: AgentType,
        reasons: Vec<Reason>,
    ) {
        self.project_decisions.push(ProjectDecision {
            project,
            agent,
            reasons,
        });
    }
}

/// Decides what one tick does. Same snapshot, same time, same plan.
pub fn plan_tick(snapshot: &Snapshot, now: Timestamp) -> Plan {
    let mut plan = Plan::default();
    for run in snapshot
        .live
        .iter()
        .filter(|run| run.lock != LockState::Held && !run.waits(now))
    {
        plan.actions.push(Action::FinishCrashed {
            run: run.run.clone(),
            issue: run.issue.clone(),
        });
    }
    plan.actions.extend(watch_supervisors(snapshot));
    notice_outside(snapshot, &mut plan);
    advance_phases(snapshot, &mut plan);
    unblock(snapshot, &mut plan);
    let waiting = sort_out(snapshot, now, &mut plan);
    dispatch(snapshot, waiting, now, &mut plan);
    tidy(snapshot, now, &mut plan);
    clean_up(snapshot, now, &mut plan);
    plan
}

/// Something that could start if a slot is free.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) tier: u8,
    pub(super) priority: Priority,
    pub(super) created_at: Timestamp,
    pub(super) start: StartRun,
}

impl Waiting {
    /// Returns the order within a tier, a priority and a project: oldest first, then identifiers as a human counts.
    pub(super) fn turn(&self) -> (Timestamp, TurnId<'_>, &AgentType) {
        let target = &self.start.target;
        let id = target.issue().map(|id| (id.prefix(), id.number(), id));
        (self.created_at, (id, target.plan()), &self.start.agent)
    }
}

/// Orders what else is equal: the prefix, the number and the text of an issue's identifier, or the id of a plan.
type TurnId<'a> = (Option<(&'a str, u64, &'a IssueId)>, Option<&'a PlanId>);

/// Tiers of dispatch, first to last.
pub(super) mod tier {
    /// The setup wizard.
    pub(in crate::tick) const WIZARD: u8 = 0;
    /// Gates, and judges: they have slots of their own, or one that is kept.
    pub(in crate::tick) const REVIEW: u8 = 1;
    /// Phase agents, whatever their profile.
    pub(in crate::tick) const PHASE: u8 = 2;
    /// Workers, planners, intake.
    pub(in crate::tick) const READY: u8 = 3;
    /// What is done when there is nothing else to do.
    pub(in crate::tick) const IDLE: u8 = 4;
}

/// Returns what of the backlog could start now as the probe of a hold, by item: whoever moves a plan on looks at it.
pub fn probe_candidates(snapshot: &Snapshot, now: Timestamp) -> Vec<(ProbeItem, Vec<HoldScope>)> {
    if snapshot.holds.is_empty() {
        return Vec::new();
    }
    let waiting = sort_out(snapshot, now, &mut Plan::default());
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
fn sort_out(snapshot: &Snapshot, now: Timestamp, plan: &mut Plan) -> Vec<Waiting> {
    let mut waiting = Vec::new();
    // the base has their change: nobody is paid for it any more
    let merged: BTreeSet<&PullRequestOf> = snapshot.base.merges.iter().map(|m| &m.of).collect();
    let mut seen: BTreeSet<&IssueId> = merged.iter().filter_map(|of| of.issue()).collect();
    seen.extend(return_proposals(snapshot, plan));
    for review in &snapshot.reviews {
        let is_repeated = review.of.issue().is_some_and(|issue| !seen.insert(issue));
        if is_repeated || merged.contains(&review.of) {
            continue;
        }
        if let Some(action) = done::confirm_or_refresh(review, snapshot) {
            plan.actions.push(action);
            continue;
        }
        let reasons = review_obstacles(review, snapshot, now);
        if let Some(start) = gates::start(review, snapshot, now) {
            waiting.push(start);
            continue;
        }
        // plans have no claims of phases
        let Some((target, phase)) = review.target() else {
            continue;
        };
        let who = (&review.project, review.counts);
        let judge = AgentType::Judge;
        if let Some(start) = admit(snapshot, plan, who, reasons, judge, target, phase) {
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
        let target = RunTarget::Issue(candidate.issue.clone());
        let tier = tier_of(candidate.phase.as_ref());
        let who = (&candidate.project, candidate.counts);
        if let Some(start) = admit(
            snapshot,
            plan,
            who,
            reasons,
            agent,
            target,
            candidate.phase.clone(),
        ) {
            let (priority, created_at) = (candidate.priority, candidate.created_at);
            waiting.push(Waiting {
                tier,
                priority,
                created_at,
                start,
            });
        }
    }
    waiting.extend(gates::probes(snapshot, now, plan));
    waiting.extend(gates::trials(snapshot, now, plan));
    waiting.extend(project_agents::sort_out(snapshot, now, &mut seen, plan));
    waiting
}

/// Returns the run to start, or records why not; opens the breaker where only that stands in the way.
fn admit(
    snapshot: &Snapshot,
    plan: &mut Plan,
    (project, counts): (&ProjectId, AttemptCounts),
    reasons: Vec<Reason>,
    agent: AgentType,
    target: RunTarget,
    phase: Option<PhaseName>,
) -> Option<StartRun> {
    let view = snapshot.projects.get(project);
    let (issue, plan_review) = (
        target.issue().cloned(),
        target.plan().cloned().zip(target.pull_request()),
    );
    if reasons.is_empty()
        && let Some(start) = start_run(snapshot, project, agent, target, phase)
    {
        return Some(StartRun {
            attempt: counts.total_runs.saturating_add(1),
            ..start
        });
    }
    // a breaker that sends issues to `todo` leaves them there: opening it again would say the same each tick
    let to_todo = view.is_some_and(|v| v.breaker_target == BreakerTarget::Todo);
    let only_spent = matches!(reasons.as_slice(), [Reason::AttemptsSpent { .. }]);
    if let Some(issue) = issue {
        if only_spent && !to_todo {
            plan.actions.push(Action::OpenBreaker {
                issue: issue.clone(),
            });
        }
        plan.wait_issue(issue, reasons);
    } else if let Some((of, pr)) = plan_review {
        plan.wait_plan(of, pr, reasons);
    }
    None
}

/// Returns a first run, when the project has a provider for it.
pub(super) fn start_run(
    snapshot: &Snapshot,
    project: &ProjectId,
    agent: AgentType,
    target: RunTarget,
    phase: Option<PhaseName>,
) -> Option<StartRun> {
    let view = snapshot.projects.get(project)?;
    let provider = view.provider.as_ref().ok()?;
    let model = view.models.of(&target, &agent, phase.as_ref());
    let probes = snapshot
        .holds
        .iter()
        .filter(|hold| covers(hold, project, provider, model))
        .map(|hold| hold.scope.clone())
        .collect();
    Some(StartRun {
        project: project.clone(),
        target,
        agent,
        phase,
        attempt: 1,
        provider: provider.clone(),
        probes,
    })
}
