//! Gates as jobs of a tick: those of pull requests, and the probe of a base on which they failed.
//!
//! They cost no provider and no attempt, so that neither a provider's hold nor a spending cap nor an
//! open breaker is in their way, and they have slots of their own.

use super::holds::{gates_hold, is_probed, no_base, stands};
use super::live_run::LiveRun;
use super::own_runs::wizard_comes_first;
use super::reason::Reason;
use super::repair::needs_trial;
use super::schedule::{Schedule, StartRun};
use super::slot_limit::SlotLimit;
use super::snapshot::{GatesState, ReviewCandidate, ReviewSubject, Snapshot};
use super::waiting::{Waiting, tier};
use crate::Timestamp;
use crate::agent::AgentType;
use crate::gates::BaseGates;
use crate::hold::{Hold, HoldScope};
use crate::id::ProjectId;
use crate::issue::Priority;
use crate::run::RunTarget;

/// Returns every reason, apart from slots, why the gates of a pull request do not run now.
pub fn gates_obstacles(
    review: &ReviewCandidate,
    snapshot: &Snapshot,
    now: Timestamp,
) -> Vec<Reason> {
    let mut reasons = Vec::new();
    reasons.extend(snapshot.run_on_source(&review.of).map(LiveRun::reason));
    reasons.extend(common(&review.project, snapshot, now));
    if !review.fixes_gate {
        reasons.extend(gates_hold(&review.project, snapshot));
    }
    if let GatesState::Pending { due_at, problem } = &review.gates
        && *due_at > now
    {
        reasons.push(Reason::GatesDelayed {
            until: *due_at,
            problem: problem.clone().unwrap_or_default(),
        });
    }
    reasons
}

/// Returns the run of a review's gates if it can start.
pub(super) fn start(
    review: &ReviewCandidate,
    snapshot: &Snapshot,
    now: Timestamp,
) -> Option<Waiting> {
    let (
        GatesState::Pending { .. },
        ReviewSubject::PullRequest(pr) | ReviewSubject::Done { pr, .. },
    ) = (&review.gates, &review.subject)
    else {
        return None;
    };
    gates_obstacles(review, snapshot, now)
        .is_empty()
        .then(|| Waiting {
            tier: tier::REVIEW,
            priority: review.priority,
            created_at: review.created_at,
            start: gates_run(
                &review.project,
                RunTarget::Gates(review.of.clone(), *pr),
                Vec::new(),
            ),
        })
}

/// Returns the probes of bases on which gates failed: one for each hold whose time has come.
pub(super) fn probes(snapshot: &Snapshot, now: Timestamp, schedule: &mut Schedule) -> Vec<Waiting> {
    let mut waiting = Vec::new();
    for hold in &snapshot.holds {
        let HoldScope::Gates(project) = &hold.scope else {
            continue;
        };
        let mut reasons = probe_obstacles(hold, project, snapshot, now);
        if reasons.is_empty() {
            reasons.extend(left_to_repair(project, snapshot, now));
        }
        if reasons.is_empty() {
            waiting.push(Waiting {
                tier: tier::REVIEW,
                priority: Priority::None,
                created_at: hold.placed_at,
                start: gates_run(project, RunTarget::Project, vec![hold.scope.clone()]),
            });
        } else {
            schedule.wait_project(project.clone(), AgentType::Gates, reasons);
        }
    }
    waiting
}

/// Returns why a probe of a base that has not moved leaves the last free slot to the gates of the pull request that
/// repairs it: those are new, and the probe would most likely find what the last one found.
fn left_to_repair(project: &ProjectId, snapshot: &Snapshot, now: Timestamp) -> Option<Reason> {
    let view = snapshot.projects.get(project)?;
    let taken = snapshot.live.iter().filter(|run| {
        run.takes_slot() && run.agent == AgentType::Gates && run.whereabouts.is_here()
    });
    let max = snapshot.slots.gates;
    let free = max.saturating_sub(u32::try_from(taken.count()).unwrap_or(u32::MAX));
    let repairs = || {
        let mut reviews = snapshot.reviews.iter();
        reviews.any(|review| {
            review.project == *project
                && review.fixes_gate
                && start(review, snapshot, now).is_some()
        })
    };
    let is_left =
        view.base_gates == Some(BaseGates::Red) && free == 1 && repairs() && view.pool.is_none();
    let limit = SlotLimit::Gates(max);
    is_left.then_some(Reason::NoSlot { limit })
}

/// Returns the trials of gates that were added or changed, for projects in which an issue waits only for that: if a
/// person is needed, too, it would not start after a trial.
pub(super) fn trials(snapshot: &Snapshot, now: Timestamp, schedule: &Schedule) -> Vec<Waiting> {
    let only_untried = |reasons: &[Reason]| {
        reasons
            .iter()
            .all(|reason| matches!(reason, Reason::GatesUntried { .. }))
    };
    let waits = |id: &ProjectId| {
        snapshot.candidates.iter().any(|candidate| {
            let mut decisions = schedule.decisions.iter();
            candidate.project == *id
                && decisions.any(|decision| {
                    decision.issue == candidate.issue
                        && !decision.reasons.is_empty()
                        && only_untried(&decision.reasons)
                })
        })
    };
    let due = snapshot.projects.iter().filter(|(id, view)| {
        needs_trial(id, view, snapshot)
            && live_trial(id, snapshot).is_none()
            && common(id, snapshot, now).is_empty()
            && waits(id)
    });
    due.map(|(id, _)| Waiting {
        tier: tier::REVIEW,
        priority: Priority::None,
        created_at: now,
        start: gates_run(id, RunTarget::Project, Vec::new()),
    })
    .collect()
}

/// Returns the run that tries a project's gates on its base.
fn live_trial<'a>(project: &ProjectId, snapshot: &'a Snapshot) -> Option<&'a LiveRun> {
    let is_trial = |run: &&LiveRun| {
        run.project == *project
            && run.agent == AgentType::Gates
            && run.issue.is_none()
            && run.plan.is_none()
    };
    snapshot.live.iter().find(is_trial)
}

fn probe_obstacles(
    hold: &Hold,
    project: &ProjectId,
    snapshot: &Snapshot,
    now: Timestamp,
) -> Vec<Reason> {
    let mut reasons = common(project, snapshot, now);
    if let Some(live) = live_trial(project, snapshot) {
        reasons.push(live.reason());
    } else if stands(hold, now) || is_probed(hold, snapshot) {
        reasons.push(Reason::RanRecently { until: hold.until });
    }
    reasons
}

/// Returns the reasons that concern every run of gates of a project.
fn common(project: &ProjectId, snapshot: &Snapshot, now: Timestamp) -> Vec<Reason> {
    let mut reasons = Vec::new();
    if snapshot.paused {
        reasons.push(Reason::Paused);
    }
    match snapshot.projects.get(project) {
        None => reasons.push(Reason::ProjectBroken {
            problem: "the project is not configured".to_owned(),
        }),
        Some(view) => {
            reasons.extend(view.broken.as_ref().map(|problem| Reason::ProjectBroken {
                problem: problem.clone(),
            }));
            reasons.extend(no_base(view));
            if wizard_comes_first(project, view, snapshot) {
                reasons.push(Reason::WizardFirst);
            }
        }
    }
    let full = |hold: &&Hold| hold.scope == HoldScope::Everything && stands(hold, now);
    if let Some(hold) = snapshot.holds.iter().find(full) {
        reasons.push(Reason::held(hold));
    }
    reasons
}

/// A run of gates. It has no provider: nothing is asked of a model.
fn gates_run(project: &ProjectId, target: RunTarget, probes: Vec<HoldScope>) -> StartRun {
    StartRun {
        project: project.clone(),
        target,
        agent: AgentType::Gates,
        phase: None,
        attempt: 1,
        provider: NO_PROVIDER.to_owned(),
        probes,
    }
}

/// The provider of a run that needs none.
pub const NO_PROVIDER: &str = "none";
