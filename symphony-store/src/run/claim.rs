//! Claims: give a target to one run, before anything is started for it.

use std::collections::BTreeMap;
use std::fmt;

use symphony_core::Timestamp;
use symphony_core::agent::AgentType;
use symphony_core::id::{
    DeliveryId, IssueId, PhaseName, PlanId, PlanPhaseId, PrId, ProjectId, RunId,
};
use symphony_core::issue::{IssueEvent, IssueStatus};
use symphony_core::log::LogEvent;
use symphony_core::placement::{Place, Pool, place_of};
use symphony_core::plan::state::PlanStatus;
use symphony_core::run::{ProtectionLevel, Run, RunTarget};
use symphony_core::tick::{ProjectView, SlotLimits, Snapshot, StartRun};

use crate::database::context::Context;
use crate::database::event::{About, append};
use crate::database::home::taken_over;
use crate::database::open::Store;
use crate::db::{OptionalExtension, Transaction, params};
use crate::error::StoreError;
use crate::gates::due::{GatesRefusal, gates_refusal};
use crate::issue::cascade::move_in;
use crate::issue::query::load_issue;
use crate::plan::record::load_head;
use crate::plan::run::{phase_refusal, start_phase};
use crate::review::delivery_query::load_delivery;
use crate::run::claim_refusal::ClaimRefusal;
use crate::run::hold::set_canary;
use crate::run::row::load_run;

/// A run to be claimed.
#[derive(Debug, Clone)]
pub struct ClaimRequest {
    /// The id of the run, made by the caller.
    pub run: RunId,
    /// What the tick or the plan's loop decided to start.
    pub start: StartRun,
    /// How the run will be protected from its agent.
    pub protection: ProtectionLevel,
}

/// How many runs may be live at once. The planner keeps to these limits, and the transaction counts again, because a
/// tick and a `plan run` may plan at the same moment.
#[derive(Debug, Clone, Default)]
pub struct ClaimLimits {
    /// For the installation: in total and by agent type.
    pub slots: SlotLimits,
    /// For projects that have a limit of their own.
    pub by_project: BTreeMap<ProjectId, u32>,
}

impl ClaimLimits {
    /// Returns the limits of an installation that sets only a total.
    pub fn total(total: u32) -> Self {
        let slots = SlotLimits {
            total,
            gates: total,
            ..SlotLimits::default()
        };
        Self {
            slots,
            ..Self::default()
        }
    }

    /// Returns the limits that the snapshot was planned with.
    pub fn of(snapshot: &Snapshot) -> Self {
        let limit =
            |(id, view): (&ProjectId, &ProjectView)| Some((id.clone(), view.max_concurrency?));
        Self {
            slots: snapshot.slots.clone(),
            by_project: snapshot.projects.iter().filter_map(limit).collect(),
        }
    }
}

impl fmt::Display for ClaimRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::IssueMoved(status) => write!(f, "the issue is `{status}` now"),
            Self::InAnotherPhase(Some(phase)) => {
                write!(f, "the issue is in the phase `{phase}` now")
            }
            Self::InAnotherPhase(None) => f.write_str("the issue has no phase label now"),
            Self::AlreadyRunning(run) => write!(f, "run {run} is working on it"),
            Self::ReviewEnded => f.write_str("its review has ended"),
            Self::GatesNotDue => f.write_str("its gates will be tried again later"),
            Self::Triaged => f.write_str("intake has triaged it"),
            Self::WaitsFor(1) => f.write_str("it now waits for another issue"),
            Self::WaitsFor(count) => write!(f, "it now waits for {count} other issues"),
            Self::NoSlot => f.write_str("all slots were taken meanwhile"),
            Self::TakenOver(host) => {
                write!(f, "another host has taken over the database ({host})")
            }
            Self::PlanStands(status) => write!(f, "the plan is `{status}` now"),
            Self::PhaseGone => f.write_str("the plan no longer has that phase"),
            Self::PhaseMoved(status) => write!(f, "the phase is `{status}` now"),
        }
    }
}

impl Store {
    /// Claims runs, all in one transaction. Each request is granted or refused on its own.
    ///
    /// # Errors
    /// When the database cannot be written. Then no run is claimed.
    pub fn claim(
        &mut self,
        context: &Context,
        requests: &[ClaimRequest],
        limits: &ClaimLimits,
    ) -> Result<Vec<Result<Run, ClaimRefusal>>, StoreError> {
        self.claim_for_pools(context, requests, limits, &BTreeMap::new())
    }

    /// As [`Store::claim`]. Runs of a project with a pool wait there until a worker begins them, unless they stay on the control
    /// ([`place_of`]): the claimed row is the entry in the queue, so no death can come between the two.
    ///
    /// # Errors
    /// When the database cannot be written. Then no run is claimed.
    pub fn claim_for_pools(
        &mut self,
        context: &Context,
        requests: &[ClaimRequest],
        limits: &ClaimLimits,
        pools: &BTreeMap<ProjectId, Pool>,
    ) -> Result<Vec<Result<Run, ClaimRefusal>>, StoreError> {
        if requests.is_empty() {
            return Ok(Vec::new());
        }
        // One transaction for all requests: each slot check counts the runs inserted before it, so neither two requests
        // nor two processes that claim at the same time can share the last slot.
        let home = self.home.clone();
        self.write(context, |tx| {
            // If a tick that slept claimed a run of its own host now, the host that has the database would take it for crashed.
            let other = taken_over(tx, home.as_deref())?;
            requests
                .iter()
                .map(|request| match &other {
                    Some(other) if pool_of(request, pools).is_none() => {
                        Ok(Err(ClaimRefusal::TakenOver(other.clone())))
                    }
                    _ => claim_one(tx, context, request, limits, pools),
                })
                .collect()
        })
    }
}

fn claim_one(
    tx: &Transaction<'_>,
    context: &Context,
    request: &ClaimRequest,
    limits: &ClaimLimits,
    pools: &BTreeMap<ProjectId, Pool>,
) -> Result<Result<Run, ClaimRefusal>, StoreError> {
    // The plan was made from a snapshot, and people, agents and other ticks have written since. Everything that it
    // relied on is checked again here, where no other process can write.
    if let Some(refusal) = refusal(tx, request, limits, pools, context.now)? {
        // The run itself may be what is in the way: it was granted before, and the answer was lost.
        return Ok(match granted_before(tx, request)? {
            Some(run) => Ok(run),
            None => Err(refusal),
        });
    }
    insert_run(tx, context, request, pool_of(request, pools))?;
    let about = About {
        project: Some(&request.start.project),
        issue: request.start.target.issue(),
        run: Some(&request.run),
        ..About::default()
    };
    let agent = &request.start.agent;
    append(
        tx,
        context,
        about,
        &LogEvent::RunClaimed {
            agent: agent.clone(),
            attempt: request.start.attempt,
            interactive: false,
        },
    )?;
    if !request.start.probes.is_empty() {
        set_canary(tx, &request.start.probes, &load_run(tx, &request.run)?)?;
    }
    // In the same transaction as the run: a death in between would leave a live run on an issue or phase that still
    // looks ready.
    if let RunTarget::Issue(issue) = &request.start.target {
        if *agent != AgentType::Intake {
            move_in(tx, context, issue, &IssueEvent::Dispatched)?;
        }
        // Otherwise `explain` and the inbox would report a wait that is over while the run is live.
        tx.prepare_cached("DELETE FROM retry WHERE issue = ?1")?
            .execute([issue.as_str()])?;
    }
    if let RunTarget::PlanPhase(plan, phase) = &request.start.target {
        start_phase(tx, context, plan, phase, &request.run)?;
    }
    Ok(Ok(load_run(tx, &request.run)?))
}

/// Returns the pool in which a run will wait; `None` if the control starts it.
fn pool_of<'a>(request: &ClaimRequest, pools: &'a BTreeMap<ProjectId, Pool>) -> Option<&'a Pool> {
    let start = &request.start;
    match place_of(&start.target, &start.agent, pools.get(&start.project)) {
        Place::Pool(pool) => Some(pool),
        Place::Control => None,
    }
}

/// Returns the run of a request if it is live, since its id is no other's.
fn granted_before(tx: &Transaction<'_>, request: &ClaimRequest) -> Result<Option<Run>, StoreError> {
    let is_live: bool = tx
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM run WHERE id = ?1 AND status IN ('starting', 'running'))",
        )?
        .query_row([request.run.as_str()], |row| row.get(0))?;
    is_live.then(|| load_run(tx, &request.run)).transpose()
}

fn refusal(
    tx: &Transaction<'_>,
    request: &ClaimRequest,
    limits: &ClaimLimits,
    pools: &BTreeMap<ProjectId, Pool>,
    now: Timestamp,
) -> Result<Option<ClaimRefusal>, StoreError> {
    if !has_slot(tx, request, limits, pools)? {
        return Ok(Some(ClaimRefusal::NoSlot));
    }
    if let RunTarget::PlanPhase(plan, phase) = &request.start.target {
        return phase_refusal(tx, plan, phase);
    }
    if let Some(plan) = request.start.target.plan() {
        return plan_review_refusal(tx, &request.start.target, plan, now);
    }
    let Some(issue) = request.start.target.issue() else {
        return live_on_project(tx, request);
    };
    // The index `run_live_issue` would reject the second run, too, but as an error that rolls back every other claim of
    // this transaction. This check refuses one request only.
    let other: Option<String> = tx
        .prepare_cached(
            "SELECT id FROM run WHERE issue = ?1 AND status IN ('starting', 'running')",
        )?
        .query_row([issue.as_str()], |row| row.get(0))
        .optional()?;
    if let Some(other) = other {
        return Ok(Some(ClaimRefusal::AlreadyRunning(
            crate::database::row::parsed("run id", other)?,
        )));
    }
    moved_on(tx, request, issue, now)
}

/// Refuses a claim on an issue that has changed since the plan was made.
fn moved_on(
    tx: &Transaction<'_>,
    request: &ClaimRequest,
    issue: &IssueId,
    now: Timestamp,
) -> Result<Option<ClaimRefusal>, StoreError> {
    let found = load_issue(tx, issue)?;
    let status = found.state.status();
    let expected = match (&request.start.target, &request.start.agent) {
        (RunTarget::Issue(_), AgentType::Intake) => IssueStatus::Backlog,
        (RunTarget::Issue(_), _) => IssueStatus::Todo,
        _ => IssueStatus::Review,
    };
    if status != expected {
        return Ok(Some(ClaimRefusal::IssueMoved(status)));
    }
    if expected == IssueStatus::Backlog {
        let triaged: bool = tx
            .prepare_cached("SELECT intake IS NOT NULL FROM issue WHERE id = ?1")?
            .query_row([issue.as_str()], |row| row.get(0))?;
        if triaged {
            return Ok(Some(ClaimRefusal::Triaged));
        }
    }
    if expected == IssueStatus::Todo {
        let phase = found.phase();
        if phase != request.start.phase {
            return Ok(Some(ClaimRefusal::InAnotherPhase(phase)));
        }
        let waits_for: u32 = tx
            .prepare_cached("SELECT open_dependencies FROM issue WHERE id = ?1")?
            .query_row([issue.as_str()], |row| row.get(0))?;
        if waits_for > 0 {
            return Ok(Some(ClaimRefusal::WaitsFor(waits_for)));
        }
    }
    if let Some(refusal) = review_refusal(tx, &request.start.target, now)? {
        return Ok(Some(refusal));
    }
    if let RunTarget::Delivery(_, claim) = &request.start.target
        && !load_delivery(tx, *claim)?.awaits_judge()
    {
        return Ok(Some(ClaimRefusal::ReviewEnded));
    }
    Ok(None)
}

/// Refuses a claim on a pull request that is no longer open or whose gates are not due, for issues and plans alike.
fn review_refusal(
    tx: &Transaction<'_>,
    target: &RunTarget,
    now: Timestamp,
) -> Result<Option<ClaimRefusal>, StoreError> {
    match target {
        RunTarget::PullRequest(_, pr) => {
            let open: bool = tx
                .prepare_cached(
                    "SELECT EXISTS (SELECT 1 FROM pull_request WHERE id = ?1 AND state = 'open')",
                )?
                .query_row([pr.get()], |row| row.get(0))?;
            Ok((!open).then_some(ClaimRefusal::ReviewEnded))
        }
        RunTarget::Gates(of, pr) => {
            let refusal = gates_refusal(tx, of, *pr, now)?;
            Ok(refusal.map(|refusal| match refusal {
                GatesRefusal::Ended => ClaimRefusal::ReviewEnded,
                GatesRefusal::NotDue => ClaimRefusal::GatesNotDue,
            }))
        }
        _ => Ok(None),
    }
}

/// Refuses a claim on a plan's pull request when the plan has a live run or is no longer in review.
fn plan_review_refusal(
    tx: &Transaction<'_>,
    target: &RunTarget,
    plan: &PlanId,
    now: Timestamp,
) -> Result<Option<ClaimRefusal>, StoreError> {
    let other: Option<String> = tx
        .prepare_cached("SELECT id FROM run WHERE plan = ?1 AND status IN ('starting', 'running')")?
        .query_row([plan.as_str()], |row| row.get(0))
        .optional()?;
    if let Some(other) = other {
        let run = crate::database::row::parsed("run id", other)?;
        return Ok(Some(ClaimRefusal::AlreadyRunning(run)));
    }
    let status = load_head(tx, plan)?.state.status;
    if status != PlanStatus::Review {
        return Ok(Some(ClaimRefusal::PlanStands(status)));
    }
    review_refusal(tx, target, now)
}

/// Returns whether a slot is free: on the control's host, in the project and for the agent type. Runs of a pool take none of the control's
/// slots, since each worker has its own.
fn has_slot(
    tx: &Transaction<'_>,
    request: &ClaimRequest,
    limits: &ClaimLimits,
    pools: &BTreeMap<ProjectId, Pool>,
) -> Result<bool, StoreError> {
    let (project, agent) = (&request.start.project, &request.start.agent);
    let is_here = pool_of(request, pools).is_none();
    // Gates and agents have separate slots, so neither takes room from the other.
    if *agent == AgentType::Gates {
        if !is_here {
            return Ok(true);
        }
        let live: u32 = tx
            .prepare_cached(
                "SELECT count(*) FROM run INDEXED BY run_live
                 WHERE status IN ('starting', 'running') AND agent = 'gates' AND pool IS NULL",
            )?
            .query_row([], |row| row.get(0))?;
        return Ok(live < limits.slots.gates);
    }
    // A run whose exit handling was postponed has no process. If it kept its slot, a few broken worktrees would stop
    // all work. A person's session takes none, either: it may be open all day.
    let (total, of_project, of_agent): (u32, u32, u32) = tx
        .prepare_cached(
            "SELECT count(*) FILTER (WHERE pool IS NULL), count(*) FILTER (WHERE project = ?1), count(*) FILTER (WHERE agent = ?2)
             FROM run INDEXED BY run_live WHERE status IN ('starting', 'running') AND agent <> 'gates'
                 AND metadata ->> 'interactive' IS NULL
                 AND NOT EXISTS (SELECT 1 FROM exit_handling x WHERE x.run = run.id AND x.problem IS NOT NULL)",
        )?
        .query_row([project.as_str(), agent.name()], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })?;
    let fits = |live: u32, limit: Option<&u32>| limit.is_none_or(|limit| live < *limit);
    Ok((!is_here || total < limits.slots.total)
        && fits(of_project, limits.by_project.get(project))
        && fits(of_agent, limits.slots.by_agent.get(agent)))
}

/// Refuses a second run of the same agent on the project itself.
fn live_on_project(
    tx: &Transaction<'_>,
    request: &ClaimRequest,
) -> Result<Option<ClaimRefusal>, StoreError> {
    if request.start.target != RunTarget::Project {
        return Ok(None);
    }
    let other: Option<String> = tx.prepare_cached(
        "SELECT id FROM run WHERE project = ?1 AND agent = ?2 AND issue IS NULL AND plan IS NULL
             AND status IN ('starting', 'running')",
    )?
    .query_row(
        [request.start.project.as_str(), request.start.agent.name()],
        |row| row.get(0),
    )
    .optional()?;
    other
        .map(|id| {
            Ok(ClaimRefusal::AlreadyRunning(crate::database::row::parsed(
                "run id", id,
            )?))
        })
        .transpose()
}

pub(crate) fn insert_run(
    tx: &Transaction<'_>,
    context: &Context,
    request: &ClaimRequest,
    pool: Option<&Pool>,
) -> Result<(), StoreError> {
    let start = &request.start;
    let (pr, claim, phase) = match &start.target {
        RunTarget::PullRequest(_, pr) | RunTarget::Gates(_, pr) => {
            (Some(PrId::get(*pr)), None, None)
        }
        RunTarget::Delivery(_, claim) => (None, Some(DeliveryId::get(*claim)), None),
        RunTarget::PlanPhase(_, phase) => (None, None, Some(phase)),
        RunTarget::Issue(_) | RunTarget::Project => (None, None, None),
    };
    // A restore raises `fence_floor` above every number that was seen: runs that started after the backup was made are
    // not in this database, and their numbers must not be used again.
    tx.prepare_cached(
        "INSERT INTO run (id, fence, project, issue, pull_request, claim, plan, plan_phase, agent, phase, attempt, provider, status, protection, started_at, pool)
         VALUES (?1, 1 + max((SELECT coalesce(max(fence), 0) FROM run), coalesce((SELECT CAST(value AS BIGINT) FROM setting WHERE key = 'fence_floor'), 0)), ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, 'starting', ?12, ?13, ?14)",
    )?
    .execute(params![
        request.run.as_str(),
        start.project.as_str(),
        start.target.issue().map(IssueId::as_str),
        pr,
        claim,
        start.target.plan().map(PlanId::as_str),
        phase.map(PlanPhaseId::as_str),
        start.agent.name(),
        start.phase.as_ref().map(PhaseName::as_str),
        start.attempt,
        start.provider,
        request.protection.name(),
        context.now.as_millisecond(),
        pool.map(Pool::as_str),
    ])?;
    Ok(())
}
