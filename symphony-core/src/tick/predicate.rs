//! The predicates of dispatch: what an issue needs, and what stops it. `plan_tick` and `explain` read the same.

use super::asked::AskedAgent;
use super::gates::gates_obstacles;
use super::holds::{covers, is_probed, no_base, stands};
use super::live_run::LiveRun;
use super::own_runs::wizard_comes_first;
use super::reason::Reason;
use super::repair::gates_obstacle;
use super::snapshot::{
    Candidate, DueRetry, GatesState, ProjectView, ReviewCandidate, ReviewSubject, Snapshot,
};
use crate::Timestamp;
use crate::agent::AgentType;
use crate::id::{IssueId, ProjectId};
use crate::issue::{AttemptCounts, Size};
use crate::outcome::breaker_opens;
use crate::outside::HeadFound;
use crate::retry::{CONTINUATION_MS, after, is_ahead_of_clock};
use crate::run::RunTarget;

/// Returns the agent that an issue in `todo` asks for.
///
/// # Errors
/// The reason why no agent is dispatched for it at all.
pub fn wanted_agent(candidate: &Candidate, project: &ProjectView) -> Result<AgentType, Reason> {
    match &candidate.phase {
        None if !project.migration_mode => return Err(Reason::NoPhase),
        Some(phase) if !phase.is_ready() => {
            let agent = project
                .phases
                .get(phase)
                .ok_or_else(|| Reason::UnknownPhase {
                    phase: phase.clone(),
                })?;
            let research = matches!(phase.as_str(), "research" | "architecture");
            return if research && !project.researcher_enabled {
                Err(Reason::ResearchOff)
            } else {
                Ok(agent.clone())
            };
        }
        None | Some(_) => {}
    }
    // once it is split, a worker integrates what the sub-tasks made
    let plans = candidate.needs_planning || candidate.size == Some(Size::Large);
    match (plans && !candidate.has_subtasks, project.planner_enabled) {
        (true, true) => Ok(AgentType::Planner),
        (true, false) if candidate.needs_planning => Err(Reason::PlanningOff),
        _ => Ok(AgentType::Worker),
    }
}

/// Returns every reason, apart from slots, why an issue in `todo` is not dispatched now.
pub fn obstacles(candidate: &Candidate, snapshot: &Snapshot, now: Timestamp) -> Vec<Reason> {
    let project = snapshot.projects.get(&candidate.project);
    let wanted = project.map(|project| wanted_agent(candidate, project));
    let agent = match &wanted {
        Some(Ok(agent)) => agent,
        _ => &AgentType::Worker,
    };
    let target = RunTarget::Issue(candidate.issue.clone());
    let (phase, choice) = (candidate.phase.as_ref(), Some(&candidate.choice));
    let asked = project.map(|project| project.asked(&target, agent, phase, choice));
    let live = snapshot.run_on(&candidate.issue);
    let counts = candidate.counts;
    let mut reasons = common(live, &candidate.project, counts, asked, snapshot, now);
    reasons.extend(unpromoted(&candidate.issue, snapshot));
    reasons.extend(gates_obstacle(candidate, snapshot));
    let (Some(project), Some(wanted)) = (project, wanted) else {
        return reasons;
    };
    match wanted {
        Ok(AgentType::Worker) => {
            if let Some(limit) = project.max_open_reviews
                && project.open_reviews >= limit
            {
                reasons.push(Reason::ReviewsFull {
                    waiting: project.open_reviews,
                    limit,
                });
            }
        }
        Ok(_) => {}
        Err(reason) => reasons.push(reason),
    }
    if !candidate.waits_for.is_empty() {
        reasons.push(Reason::WaitingOn {
            issues: candidate.waits_for.clone(),
        });
    }
    if let Some(retry) = candidate
        .retry
        .as_ref()
        .filter(|retry| is_ahead(retry, project, now))
    {
        reasons.push(Reason::BackingOff {
            until: retry.due_at,
            kind: retry.kind,
        });
    }
    reasons
}

/// Returns every reason, apart from slots, why no judge gets a review now.
pub fn review_obstacles(
    review: &ReviewCandidate,
    snapshot: &Snapshot,
    now: Timestamp,
) -> Vec<Reason> {
    let project = snapshot.projects.get(&review.project);
    let asked = project
        .zip(review.target())
        .map(|(project, (target, phase))| {
            project.asked(&target, &AgentType::Judge, phase.as_ref(), None)
        });
    let live = snapshot.run_on_source(&review.of);
    let mut reasons = common(live, &review.project, review.counts, asked, snapshot, now);
    // The last attempt may be the one that succeeds: it is judged, too. Judges have a limit of their own.
    reasons.retain(|reason| !matches!(reason, Reason::AttemptsSpent { .. }));
    let Some(project) = project else {
        return reasons;
    };
    let of_issue = review.of.issue();
    reasons.extend(of_issue.and_then(|issue| unpromoted(issue, snapshot)));
    reasons.extend(conflict(review, snapshot).filter(|_| project.judge_enabled));
    reasons.extend(moved_head(review, snapshot).filter(|_| project.judge_enabled));
    reasons.extend(persons_points(review, project.judge_enabled));
    let are_spent = review.judges.are_spent(project.max_retries);
    if are_spent && !review.has_verdict && project.judge_enabled {
        reasons.push(Reason::JudgesSpent {
            runs: review.judges.total(),
        });
    }
    if review.has_verdict {
        reasons.extend(match &review.subject {
            ReviewSubject::Done { obstacles, .. } => Some(Reason::DoneJudged {
                obstacles: obstacles.clone(),
            }),
            ReviewSubject::PullRequest(_) => Some(Reason::Judged),
            // only the points of people, named above, keep it from going on
            ReviewSubject::Delivery(..) => None,
        });
    }
    if !project.judge_enabled {
        reasons.push(Reason::JudgeOff);
    }
    if review.gates == GatesState::Red {
        reasons.push(Reason::GatesRed);
    }
    if matches!(review.gates, GatesState::Pending { .. }) {
        reasons.push(Reason::GatesPending);
        for reason in gates_obstacles(review, snapshot, now) {
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
    }
    // Who judges next is irrelevant without judges.
    let awaits_judge = !review.has_verdict && project.judge_enabled;
    if let Some(last) = review.last_judged_at.filter(|_| awaits_judge) {
        // A run from before the clock was set back is ignored: the pause would last as long as the clock jumped.
        let until = after(last, project.judge_cooldown_ms);
        if until > now && !is_ahead_of_clock(last, now) {
            reasons.push(Reason::CoolingDown { until });
        }
    }
    reasons
}

/// Returns that the work of the last run is not on the branch of an issue: an author would begin without it, and a judge would look at something
/// else.
fn unpromoted(issue: &IssueId, snapshot: &Snapshot) -> Option<Reason> {
    let run = snapshot.unpromoted.get(issue)?.clone();
    Some(Reason::Unpromoted { run })
}

/// Returns that what a judge would look at conflicts with its base. Resolving that changes the commit, and a verdict is
/// about one commit.
fn conflict(review: &ReviewCandidate, snapshot: &Snapshot) -> Option<Reason> {
    let ReviewSubject::PullRequest(pr) = review.subject else {
        return None;
    };
    let mut conflicting = snapshot.base.conflicting.iter();
    let conflict = conflicting.find(|conflict| conflict.pr == pr && !review.has_verdict)?;
    Some(Reason::Conflicts {
        base: conflict.base.clone(),
        files: conflict.files.clone(),
    })
}

/// Returns that the branch of what a judge would look at has moved.
fn moved_head(review: &ReviewCandidate, snapshot: &Snapshot) -> Option<Reason> {
    let ReviewSubject::PullRequest(pr) = review.subject else {
        return None;
    };
    let mut lost = snapshot.base.lost.iter();
    let lost = lost.find(|lost| lost.pr == pr && !review.has_verdict)?;
    match &lost.found {
        HeadFound::Moved { branch, now, back } => Some(Reason::HeadMoved {
            branch: branch.clone(),
            now: now.clone(),
            back: back.clone(),
        }),
        HeadFound::Gone { .. } => None,
    }
}

/// Returns that a review waits for a person to close their points. One judge looks at it nevertheless: it can send the
/// work back. After that, another one is useless, as each approval is refused.
fn persons_points(review: &ReviewCandidate, judge_enabled: bool) -> Option<Reason> {
    let is_judged_first = judge_enabled && !review.has_verdict && review.judges.by_themselves == 0;
    let waits = !review.persons_points.is_empty() && !is_judged_first;
    waits.then(|| Reason::PersonsPoints {
        points: review.persons_points.clone(),
    })
}

/// Returns whether an appointment is in the future. One further away than the longest wait was made before the clock
/// was set back: it counts as due, otherwise the issue would wait for as long as the clock jumped.
fn is_ahead(retry: &DueRetry, project: &ProjectView, now: Timestamp) -> bool {
    let latest = after(now, project.max_backoff_ms.max(CONTINUATION_MS));
    retry.due_at > now && retry.due_at <= latest
}

/// Returns the reasons that concern every agent on an issue.
pub(super) fn common(
    live: Option<&LiveRun>,
    project_id: &ProjectId,
    counts: AttemptCounts,
    asked: Option<AskedAgent<'_>>,
    snapshot: &Snapshot,
    now: Timestamp,
) -> Vec<Reason> {
    let mut reasons = Vec::new();
    reasons.extend(live.map(LiveRun::reason));
    reasons.extend(project_obstacles(project_id, asked, snapshot, now));
    let Some(project) = snapshot.projects.get(project_id) else {
        return reasons;
    };
    if wizard_comes_first(project_id, project, snapshot) {
        reasons.push(Reason::WizardFirst);
    }
    if breaker_opens(counts, project.max_retries) {
        reasons.push(Reason::AttemptsSpent {
            runs: counts.total_runs,
            limit: project.max_retries,
        });
    }
    reasons
}

/// Returns the reasons that concern everything of a project that asks for one provider and model; `None` for what the
/// project uses by default.
pub fn project_obstacles(
    project_id: &ProjectId,
    asked: Option<AskedAgent<'_>>,
    snapshot: &Snapshot,
    now: Timestamp,
) -> Vec<Reason> {
    let mut reasons = Vec::new();
    if snapshot.paused {
        reasons.push(Reason::Paused);
    }
    let Some(project) = snapshot.projects.get(project_id) else {
        reasons.push(Reason::ProjectBroken {
            problem: "the project is not configured".to_owned(),
        });
        return reasons;
    };
    if let Some(problem) = &project.broken {
        reasons.push(Reason::ProjectBroken {
            problem: problem.clone(),
        });
    }
    reasons.extend(no_base(project));
    let asked = asked.unwrap_or(AskedAgent {
        provider: project.provider.as_deref().map_err(String::as_str),
        model: None,
    });
    let provider = match asked.provider {
        Ok(name) => name,
        // A broken configuration cannot name a provider: it was reported already.
        Err(problem) if project.broken.as_deref() == Some(problem) => "",
        Err(problem) => {
            reasons.push(Reason::NoProvider {
                problem: problem.to_owned(),
            });
            ""
        }
    };
    for hold in snapshot
        .holds
        .iter()
        .filter(|hold| covers(hold, project_id, provider, asked.model))
    {
        if stands(hold, now) || is_probed(hold, snapshot) {
            let (scope, why) = (hold.scope.clone(), hold.reason.clone());
            reasons.push(Reason::Held {
                scope,
                until: hold.until,
                why,
            });
        }
    }
    reasons
}
