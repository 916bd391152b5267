//! The state of a project.

use std::collections::BTreeMap;

use symphony_core::Timestamp;
use symphony_core::agent::AgentType;
use symphony_core::id::{IssueId, ProjectId};
use symphony_core::inbox::InboxItem;
use symphony_core::issue::IssueStatus;
use symphony_core::placement::Whereabouts;
use symphony_core::pull_request::{PrState, PullRequest};
use symphony_core::tick::{
    Action, Reason, ReviewSubject, Schedule, SlotLimit, Snapshot, gates_obstacles, obstacles,
    plan_tick,
};
use symphony_runner::RunnerError;
use symphony_runner::gates::running_now;
use symphony_runner::inbox::inbox;
use symphony_runner::session::Session;
use symphony_runner::tick::{last_tick, observe_snapshot, observe_with_phases};
use symphony_store::{IssueFilter, PrFilter, Project, RunFilter, Store};

use crate::{
    BlockedView, Elsewhere, GatesNow, HoldView, InboxView, IssueView, LiveTrialLine, OpenPlanView,
    OpenPrView, PrView, QueueView, ReasonView, RetryView, RunView, RunningView, StatusView,
    StuckTickView, TodayView, WorkerView,
};

/// Reads the state of a project: what is running, what waits, and for whom.
///
/// # Errors
/// When the database, the repository or a configuration cannot be read.
pub fn status(
    session: &mut Session,
    elsewhere: &Elsewhere,
    now: Timestamp,
) -> Result<StatusView, RunnerError> {
    let counts = session.store.issue_counts(&session.project.id)?;
    // The queue says of each issue what keeps it from starting, also of one that is not ready yet.
    let observe = match counts.get(&IssueStatus::Todo) {
        Some(_) => observe_with_phases,
        None => observe_snapshot,
    };
    let snapshot = observe(&session.installation, &mut session.store, now)?;
    status_of(session, &snapshot, elsewhere, now)
}

/// As [`status`], of what was observed before.
///
/// # Errors
/// When the database or a configuration cannot be read.
pub fn status_of(
    session: &mut Session,
    snapshot: &Snapshot,
    elsewhere: &Elsewhere,
    now: Timestamp,
) -> Result<StatusView, RunnerError> {
    let schedule = plan_tick(snapshot, now);
    let plans = plans(&mut session.store, &session.project.id)?;
    let (store, project) = (&session.store, &session.project.id);
    let retries = store.retries(Some(project))?;
    let view = snapshot.projects.get(project);
    let problem = view.and_then(|view| match (&view.broken, &view.provider) {
        (Some(problem), _) => Some(format!("the configuration is broken: {problem}")),
        (None, _) if view.no_base.is_some() => {
            view.no_base.as_ref().map(|none| none.problem.clone())
        }
        (None, Err(problem)) => Some(format!("no provider can be used: {problem}")),
        (None, Ok(_)) => None,
    });
    let issues: BTreeMap<&'static str, u64> = store
        .issue_counts(project)?
        .into_iter()
        .map(|(status, n)| (status.name(), n))
        .collect();
    let waiting = waiting(store, project, snapshot, &schedule, now)?;
    let mut inbox: BTreeMap<&'static str, u64> = BTreeMap::new();
    for item in &waiting {
        *inbox.entry(item.kind.name()).or_default() += 1;
    }
    let running = running(store, &session.project, snapshot)?;
    let open = open_prs(store, project)?;
    let queue = queue(store, project, snapshot, &schedule, now)?;
    let config = session.installation.project_config(&session.project).ok();
    let trial = config.and_then(|config| config.prompt_trial);
    let prompt_trial = trial
        .map(|trial| LiveTrialLine::load(store, &session.project, &trial))
        .transpose()?;
    let lease = session.installation.lease();
    let workers = store.workers()?.into_iter();
    let workers = workers.map(|seen| WorkerView::of(seen, lease)).collect();
    let waiting_in_todo = issues.get("todo").copied().unwrap_or_default();
    Ok(StatusView {
        queue_more: waiting_in_todo.saturating_sub(queue.len() as u64),
        today: TodayView::load(store, Some(project), &snapshot.holds, now)?,
        project: project.clone(),
        problem,
        prompt_trial,
        paused: snapshot.paused,
        last_tick_at: last_tick(&session.installation)?,
        stuck_tick: snapshot.stuck_tick.as_ref().map(StuckTickView::from),
        slots: snapshot.slots.total,
        slots_taken: snapshot
            .live
            .iter()
            .filter(|run| run.takes_agent_slot())
            .count(),
        issues,
        inbox,
        waiting: waiting
            .into_iter()
            .map(|item| InboxView::new(item, elsewhere))
            .collect(),
        pull_requests: open_pr_views(&open, &running, snapshot, &schedule, now),
        running,
        workers,
        plans,
        queue,
        retries: retries.into_iter().map(RetryView::from).collect(),
        holds: snapshot.holds.iter().map(HoldView::from).collect(),
        reviews: reviews(open, project, snapshot),
        blocked: blocked(store, project)?,
    })
}

/// Returns what waits for a person: of this project, and of the whole installation where it is of no project.
fn waiting(
    store: &Store,
    project: &ProjectId,
    snapshot: &Snapshot,
    schedule: &Schedule,
    now: Timestamp,
) -> Result<Vec<InboxItem>, RunnerError> {
    let mut items = inbox(store, snapshot, schedule, now)?;
    items.retain(|item| item.project.as_ref().is_none_or(|of| of == project));
    Ok(items)
}

/// Returns the open pull requests, oldest first.
fn open_prs(store: &Store, project: &ProjectId) -> Result<Vec<PullRequest>, RunnerError> {
    let mut prs = Vec::new();
    for state in [PrState::Open, PrState::Approved] {
        let filter = PrFilter {
            project: Some(project.clone()),
            state: Some(state),
            ..PrFilter::default()
        };
        prs.extend(store.prs(&filter)?);
    }
    prs.sort_by_key(|pr| pr.id);
    Ok(prs)
}

/// Views pull requests with the runs that are about them.
fn open_pr_views(
    prs: &[PullRequest],
    running: &[RunningView],
    snapshot: &Snapshot,
    schedule: &Schedule,
    now: Timestamp,
) -> Vec<OpenPrView> {
    let live = || {
        running
            .iter()
            .map(|run| (&run.run, run.last_event.as_deref().unwrap_or_default()))
    };
    let views = prs.iter().map(|pr| {
        let project = snapshot.projects.get(&pr.project);
        let gates = GatesNow {
            configured: project.map_or(&[], |view| view.gates.as_slice()),
            held: gates_wait_for(pr, snapshot, now).or_else(|| slot_for_gates(pr, schedule)),
        };
        OpenPrView::of(pr, live(), &gates)
    });
    views.collect()
}

/// Returns what keeps the gates of a pull request from running, apart from their own time.
fn gates_wait_for(pr: &PullRequest, snapshot: &Snapshot, now: Timestamp) -> Option<Reason> {
    let mut reviews = snapshot.reviews.iter();
    let review = reviews.find(|review| review.subject == ReviewSubject::PullRequest(pr.id))?;
    gates_obstacles(review, snapshot, now)
        .into_iter()
        .find(|reason| {
            !matches!(
                reason,
                Reason::Running { .. } | Reason::ExitPutOff { .. } | Reason::GatesDelayed { .. }
            )
        })
}

/// Returns the limit that keeps the gates of a pull request from running when nothing else does.
fn slot_for_gates(pr: &PullRequest, schedule: &Schedule) -> Option<Reason> {
    let of_issue = schedule.decisions.iter();
    let of_issue = of_issue.filter(|of| Some(&of.issue) == pr.of.issue());
    let of_plan = schedule.plan_decisions.iter();
    let of_plan = of_plan.filter(|of| Some(&of.plan) == pr.of.plan());
    let reasons = of_issue.flat_map(|of| &of.reasons);
    let mut reasons = reasons.chain(of_plan.flat_map(|of| &of.reasons));
    let is_slot = |reason: &&Reason| {
        matches!(
            reason,
            Reason::NoSlot {
                limit: SlotLimit::Gates(_)
            }
        )
    };
    reasons.find(is_slot).cloned()
}

/// Returns the plans that have not ended, and those whose work their branch does not have yet.
fn plans(store: &mut Store, project: &ProjectId) -> Result<Vec<OpenPlanView>, RunnerError> {
    let mut plans = Vec::new();
    let mut ids = store.open_plans(project)?;
    ids.extend(store.unmerged_plans(project)?);
    for id in ids {
        plans.push(OpenPlanView::of(&store.plan(&id)?));
    }
    Ok(plans)
}

fn running(
    store: &Store,
    project: &Project,
    snapshot: &Snapshot,
) -> Result<Vec<RunningView>, RunnerError> {
    let filter = RunFilter {
        project: Some(project.id.clone()),
        live_only: true,
        ..RunFilter::default()
    };
    let mut running = Vec::new();
    for run in store.runs(&filter)? {
        let mut last = store.last_event(&run.id)?;
        if run.agent == AgentType::Gates {
            // what was recorded when they began names all of them, not the set-up and not the one that runs now
            last = running_now(&project.root, &run.id).or(last);
        }
        let (last_event, last_event_at) =
            last.map_or((None, None), |(text, at)| (Some(text), Some(at)));
        let mut live = snapshot.live.iter();
        let live = live.find(|live| live.run == run.id);
        running.push(RunningView {
            whereabouts: live.map_or(Whereabouts::Here, |live| live.whereabouts.clone()),
            run: RunView::from(run),
            last_event,
            last_event_at,
        });
    }
    running.reverse();
    Ok(running)
}

/// Returns the issues in `todo`, those that the next tick starts first.
fn queue(
    store: &Store,
    project: &ProjectId,
    snapshot: &Snapshot,
    schedule: &Schedule,
    now: Timestamp,
) -> Result<Vec<QueueView>, RunnerError> {
    let starts: Vec<&IssueId> = schedule
        .actions
        .iter()
        .filter_map(|action| match action {
            Action::StartRun(start) => start.target.issue(),
            _ => None,
        })
        .collect();
    let filter = IssueFilter {
        project: Some(project.clone()),
        status: Some(IssueStatus::Todo),
        limit: Some(QUEUE_MAX),
        ..IssueFilter::default()
    };
    let mut queue = Vec::new();
    for issue in store.list_issues(&filter)?.items {
        let next = starts.contains(&&issue.id);
        let mut reasons = match store.candidate(&issue.id)? {
            Some(candidate) => obstacles(&candidate, snapshot, now),
            None => Vec::new(),
        };
        let planned = schedule
            .decisions
            .iter()
            .filter(|decision| decision.issue == issue.id);
        for reason in planned.flat_map(|decision| &decision.reasons) {
            if !reasons.contains(reason) {
                reasons.push(reason.clone());
            }
        }
        let reasons = reasons.iter().map(ReasonView::from).collect();
        queue.push(QueueView {
            identifier: issue.id,
            title: issue.title,
            priority: issue.priority,
            next,
            reasons,
        });
    }
    queue.sort_by_key(|waiting| (!waiting.next, !waiting.reasons.is_empty(), waiting.priority));
    Ok(queue)
}

/// Most issues of the queue that are shown: more do not fit a screen.
const QUEUE_MAX: u32 = 100;

/// Returns those of the open pull requests that no judge will look at any more.
fn reviews(open: Vec<PullRequest>, project: &ProjectId, snapshot: &Snapshot) -> Vec<PrView> {
    let judges = snapshot
        .projects
        .get(project)
        .is_some_and(|view| view.judge_enabled);
    open.into_iter()
        .filter(|pr| !judges || pr.verdict_on_head().is_some())
        .map(PrView::from)
        .collect()
}

fn blocked(store: &Store, project: &ProjectId) -> Result<Vec<BlockedView>, RunnerError> {
    let filter = IssueFilter {
        project: Some(project.clone()),
        status: Some(IssueStatus::Blocked),
        ..IssueFilter::default()
    };
    let blocked = store
        .list_issues(&filter)?
        .items
        .into_iter()
        .map(IssueView::from);
    Ok(blocked.filter_map(BlockedView::of).collect())
}
