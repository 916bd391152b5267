//! The inbox: everything that waits for a human, from the database and from the schedule of the next tick.

use std::collections::{BTreeMap, BTreeSet};

use symphony_core::Timestamp;
use symphony_core::config_change::{decisive_files, decisive_files_text};
use symphony_core::done::{DoneEvidence, Obstacle};
use symphony_core::gates::{BaseGates, GatesAge, KnownGates, red_gates_text};
use symphony_core::hold::{ProbeItem, lone_item};
use symphony_core::id::{IssueId, ProjectId};
use symphony_core::inbox::{
    DoneWaits, InboxItem, InboxKind, LeftBy, PlanWaitsFor, WaitingIssue, WaitingPlan, WaitsFor,
    clean_up_item, gone_base_item, hold_item, in_order, left_behind_item, left_worktrees_item,
    lone_probe_item, notice_item, pause_item, plan_item, project_item, proposals_item,
    put_off_item, stuck_run_item, stuck_tick_item, waiting_plan_item,
};
use symphony_core::issue::IssueState;
use symphony_core::left_behind::LeftBehind;
use symphony_core::outside::MergeObstacle;
use symphony_core::project::WizardState;
use symphony_core::pull_request::PullRequest;
use symphony_core::spending::day_start;
use symphony_core::tick::{
    Decision, Hold, HoldScope, NoBase, PlanReviewDecision, ProjectView, ReviewSubject, Schedule,
    Snapshot,
};
use symphony_core::watchdog::Watch;
use symphony_store::{Project, Store};

use crate::error::RunnerError;
use crate::forge::forge_in_trouble;
use crate::provider::login_command;
use crate::tracker::trackers_in_trouble;

/// Most proposals of agents that are read per project: more than agents create before a person looks.
const PROPOSALS_MAX: u32 = 1_000;

/// Returns what waits for a human in the whole installation, oldest first.
///
/// # Errors
/// When the database cannot be read.
pub fn inbox(
    store: &Store,
    snapshot: &Snapshot,
    schedule: &Schedule,
    now: Timestamp,
) -> Result<Vec<InboxItem>, RunnerError> {
    let mut items = Vec::new();
    // Plans whose pull request already says what waits.
    let mut named = BTreeSet::new();
    for (id, view) in &snapshot.projects {
        let waiting = store.waiting_issues(id, view.max_retries, now)?;
        let for_people = waiting.into_iter().filter(|waiting| {
            // Intake, which looks at it first, may ask for it itself.
            !matches!(waiting.why, WaitsFor::Needed(_)) || !awaits_intake(snapshot, &waiting.issue)
        });
        items.extend(for_people.map(InboxItem::from));
        items.extend(proposals(store, id, view)?);
        let plans = store.waiting_plans(id, now)?;
        named.extend(plans.iter().map(|waiting| waiting.plan.clone()));
        items.extend(plans.into_iter().map(InboxItem::from));
        items.extend(left_behind(store, id)?);
        items.extend(base_notices(store, id)?);
        items.extend(trackers_in_trouble(store, id)?);
        items.extend(forge_in_trouble(store, id, now)?);
        items.extend(left_worktrees_item(id, &snapshot.left_worktrees, now));
    }
    items.extend(snapshot.lost_documents.iter().map(InboxItem::from));
    items.extend(snapshot.base.gone.iter().map(gone_base_item));
    items.extend(store.paused_since()?.map(pause_item));
    let live = &snapshot.live;
    let plans = snapshot.plans.iter();
    let plans = plans.filter(|plan| !named.contains(&plan.plan));
    items.extend(plans.filter_map(|plan| waiting_plan_item(plan, live)));
    for decision in &schedule.plan_decisions {
        items.extend(of_plan_decision(store, snapshot, decision)?);
    }
    for decision in &schedule.decisions {
        items.extend(of_decision(store, snapshot, decision)?);
    }
    items.extend(stuck(snapshot, now));
    let projects = store.projects()?;
    items.extend(held(store, snapshot, now)?);
    items.extend(of_projects(snapshot, &projects));
    let stopped = store.stopped_plans(None)?.into_iter();
    // The notice says where the work of the others is.
    let stopped = stopped.filter(|plan| !plan.is_base_lost);
    items.extend(stopped.map(InboxItem::from));
    items.extend(store.plan_decisions(None)?.iter().map(|waiting| {
        plan_item(
            &waiting.plan,
            &waiting.phase,
            &waiting.project,
            &waiting.error,
            waiting.asked_at,
        )
    }));
    name_issues(store, &mut items)?;
    Ok(in_order(items))
}

/// Adds the title to items about an issue whose source does not know it.
fn name_issues(store: &Store, items: &mut [InboxItem]) -> Result<(), RunnerError> {
    for item in items.iter_mut().filter(|item| item.title.is_empty()) {
        if let Some(issue) = &item.issue {
            item.title = store.issue(issue)?.title;
        }
    }
    Ok(())
}

fn awaits_intake(snapshot: &Snapshot, issue: &IssueId) -> bool {
    snapshot.intake.iter().any(|intake| intake.issue == *issue)
}

/// Issues that agents proposed and that no intake will look at.
fn proposals(
    store: &Store,
    project: &ProjectId,
    view: &ProjectView,
) -> Result<Option<InboxItem>, RunnerError> {
    let mut proposed = store.proposed_issues(project, PROPOSALS_MAX)?;
    proposed.retain(|issue| issue.is_triaged || !view.agents.intake_enabled);
    let since = proposed.first().map(|first| first.since);
    let issues: Vec<IssueId> = proposed.into_iter().map(|issue| issue.issue).collect();
    Ok(since.and_then(|since| proposals_item(project, &issues, since)))
}

/// What the review of a plan leaves to a person.
fn of_plan_decision(
    store: &Store,
    snapshot: &Snapshot,
    decision: &PlanReviewDecision,
) -> Result<Option<InboxItem>, RunnerError> {
    let Some(why) = PlanWaitsFor::from_decision(decision) else {
        return Ok(None);
    };
    let why = match why {
        PlanWaitsFor::Merge | PlanWaitsFor::Verdict(_) | PlanWaitsFor::PersonsPoints(_) => {
            let obstacle = snapshot.base.obstacle_to(decision.pr);
            obstacle.map_or(why, PlanWaitsFor::Unmergeable)
        }
        PlanWaitsFor::GatesNotRun { .. } => {
            let obstacle = snapshot.base.obstacle_to(decision.pr);
            let obstacle = obstacle.filter(MergeObstacle::is_gone);
            obstacle.map_or(why, PlanWaitsFor::Unmergeable)
        }
        why => why,
    };
    let pr = store.pr(decision.pr)?;
    let why = match why {
        PlanWaitsFor::GatesRed(_) => {
            PlanWaitsFor::GatesRed(pr.gates_of_head().and_then(red_gates_text))
        }
        why => why,
    };
    let item = InboxItem::from(WaitingPlan {
        plan: decision.plan.clone(),
        path: store.plan_path(&decision.plan)?,
        project: pr.project.clone(),
        since: pr.created_at,
        pr: pr.id,
        why,
    });
    Ok(Some(with_gates(item, &pr, snapshot)))
}

/// Adds to items that wait for a person's verdict or merge: passed gates that the project has changed since, and
/// changed files that decide what Symphony does.
fn with_gates(item: InboxItem, pr: &PullRequest, snapshot: &Snapshot) -> InboxItem {
    let gates = snapshot.projects.get(&pr.project).map(|view| &view.gates);
    // The obstacles of a proposal name its gates, too.
    let found = pr.gates_of_head().filter(|_| pr.proposal.is_none());
    let item = match found.zip(gates) {
        Some((found, now)) if item.kind == InboxKind::Review => {
            item.with_gates(found, GatesAge::of(found, now))
        }
        _ => item,
    };
    with_decisive_files(item, snapshot, pr)
}

/// Adds which files of a change that waits for a person decide what Symphony does once it is merged.
fn with_decisive_files(mut item: InboxItem, snapshot: &Snapshot, pr: &PullRequest) -> InboxItem {
    let view = snapshot.projects.get(&pr.project);
    let paths = view.map_or(&[][..], |view| &view.decisive_paths);
    if item.kind == InboxKind::Review
        && let Some(text) = decisive_files_text(&decisive_files(&pr.files, paths))
    {
        item.text = format!("{}; {text}", item.text);
    }
    item
}

/// What makes no progress: one look is enough to show it, ending it takes two.
fn stuck(snapshot: &Snapshot, now: Timestamp) -> Vec<InboxItem> {
    let tick = snapshot.stuck_tick.as_ref();
    let mut items: Vec<InboxItem> = tick
        .map(|stuck| stuck_tick_item(stuck, now))
        .into_iter()
        .collect();
    for live in &snapshot.live {
        if let Some(Watch::Stuck(stuck)) = snapshot.watched.get(&live.run) {
            items.push(stuck_run_item(live, stuck, now));
        }
        let put_off = live.put_off.as_ref();
        items.extend(put_off.and_then(|put_off| put_off_item(live, put_off)));
    }
    items.extend(snapshot.clean_ups.iter().filter_map(clean_up_item));
    items
}

/// Commits of agents that reached the base branch without Symphony.
fn base_notices(store: &Store, project: &ProjectId) -> Result<Vec<InboxItem>, RunnerError> {
    let notices = store.base_notices(project)?.into_iter();
    notices
        .map(|open| {
            let plan = open.notice.plan();
            let status = plan.map(|plan| store.plan_status(plan)).transpose()?;
            let (id, notice) = (open.id, &open.notice);
            Ok(notice_item(id, notice, open.title, open.since, status))
        })
        .collect()
}

/// Runs that left uncommitted work behind.
fn left_behind(store: &Store, project: &ProjectId) -> Result<Vec<InboxItem>, RunnerError> {
    let runs = store.left_behind_runs(project)?;
    let items = runs.iter().filter_map(|run| {
        // A separate notice tells what else changed.
        let left: Vec<LeftBehind> = run
            .left
            .iter()
            .filter(|left| left.is_work())
            .cloned()
            .collect();
        if left.is_empty() {
            return None;
        }
        let by = match (&run.issue, &run.phase) {
            (Some((issue, title)), _) => LeftBy::Issue(issue, title),
            (None, Some((plan, phase))) => LeftBy::Phase(plan, phase),
            (None, None) => LeftBy::PlanReview(run.plan.as_ref()?),
        };
        Some(left_behind_item(&run.run, project, by, &left, run.since))
    });
    Ok(items.collect())
}

/// What dispatch decided to leave to a human.
fn of_decision(
    store: &Store,
    snapshot: &Snapshot,
    decision: &Decision,
) -> Result<Option<InboxItem>, RunnerError> {
    if !WaitsFor::is_possible(decision) {
        return Ok(None);
    }
    let issue = store.issue(&decision.issue)?;
    // The breaker may have put it back to `todo` with an open pull request: then that is not what waits.
    let open = match issue.state {
        IssueState::Review => store.open_pr(&issue.id)?,
        _ => None,
    };
    let Some(why) = WaitsFor::from_decision(decision, open.as_ref().map(|pr| pr.id), issue.counts)
    else {
        return Ok(None);
    };
    let gates = open.as_ref().and_then(PullRequest::gates_of_head);
    let why = match why {
        // A person approved it with `--force`.
        WaitsFor::Merge { pr } if gates.is_some_and(|gates| !gates.green()) => {
            WaitsFor::MergeRed { pr }
        }
        why => why,
    };
    let why = match &open {
        Some(pr) => as_proposal(why, pr, snapshot),
        None => why,
    };
    let why = unless_unmergeable(why, snapshot);
    let judged = open.as_ref().and_then(PullRequest::verdict_on_head);
    let verdict = judged.map(|verdict| verdict.at);
    let since = match (&why, verdict) {
        (
            WaitsFor::Merge { .. }
            | WaitsFor::MergeRed { .. }
            | WaitsFor::Unmergeable { .. }
            | WaitsFor::Done(_),
            Some(at),
        ) => at,
        _ => store.status_since(&issue.id)?,
    };
    let item = InboxItem::from(WaitingIssue {
        issue: issue.id,
        project: issue.project,
        title: issue.title,
        since,
        why,
    });
    Ok(Some(match &open {
        Some(pr) => {
            let unread = pr.of.issue().map(|issue| store.unread_messages(issue));
            let unread = unread.transpose()?.map_or(0, |unread| unread.len());
            with_gates(item, pr, snapshot).with_unread(unread)
        }
        None => item,
    }))
}

/// Replaces the advice to merge for a proposal: a person confirms or rejects it.
fn as_proposal(why: WaitsFor, pr: &PullRequest, snapshot: &Snapshot) -> WaitsFor {
    let Some(proposal) = &pr.proposal else {
        return why;
    };
    if let WaitsFor::PersonsPoints { points, .. } = why {
        return WaitsFor::PersonsPoints { pr: None, points };
    }
    let Some(no_judge) = why.without_judge() else {
        return why;
    };
    WaitsFor::Done(DoneWaits {
        pr: pr.id,
        reason: pr.body.clone(),
        evidence: proposal.evidence.iter().map(DoneEvidence::line).collect(),
        no_judge,
        obstacles: obstacles_of(pr, snapshot),
    })
}

/// Returns the obstacles that the tick found for a proposal.
fn obstacles_of(proposal: &PullRequest, snapshot: &Snapshot) -> Vec<Obstacle> {
    let found = snapshot
        .reviews
        .iter()
        .find_map(|review| match &review.subject {
            ReviewSubject::Done { pr, obstacles, .. } if *pr == proposal.id => Some(obstacles),
            _ => None,
        });
    found.cloned().unwrap_or_default()
}

/// Replaces the advice to merge a pull request whose merge must fail.
fn unless_unmergeable(why: WaitsFor, snapshot: &Snapshot) -> WaitsFor {
    match why {
        WaitsFor::Merge { pr }
        | WaitsFor::MergeRed { pr }
        | WaitsFor::Verdict { pr, .. }
        | WaitsFor::PersonsPoints { pr: Some(pr), .. } => match snapshot.base.obstacle_to(pr) {
            Some(obstacle) => WaitsFor::Unmergeable { pr, obstacle },
            None => why,
        },
        WaitsFor::GatesNotRun { pr, .. } => {
            let obstacle = snapshot.base.obstacle_to(pr);
            match obstacle.filter(MergeObstacle::is_gone) {
                Some(obstacle) => WaitsFor::Unmergeable { pr, obstacle },
                None => why,
            }
        }
        why => why,
    }
}

/// What is on hold: one item per hold, however many runs hit it. An exhausted spending cap is reported again each day.
fn held(store: &Store, snapshot: &Snapshot, now: Timestamp) -> Result<Vec<InboxItem>, RunnerError> {
    let mut items = Vec::new();
    for hold in store.holds()? {
        // As a tick would see it now: it is due once what failed has changed.
        let seen = snapshot.holds.iter().find(|seen| seen.scope == hold.scope);
        let hold = seen.cloned().unwrap_or(hold);
        let gates = match &hold.scope {
            HoldScope::Gates(project) => {
                let view = snapshot.projects.get(project);
                KnownGates {
                    names: view.map_or_else(Vec::new, |view| view.gate_names.clone()),
                    repairs: store.gate_repairs(project)?,
                    has_moved: view.is_some_and(|v| v.base_gates == Some(BaseGates::Untried)),
                }
            }
            _ => KnownGates::default(),
        };
        let login = hold.scope.provider().and_then(login_command);
        items.push(hold_item(&hold, hold.placed_at, &gates, login));
        items.extend(lone_probe(store, snapshot, &hold)?);
    }
    for hold in &snapshot.holds {
        if let HoldScope::Project(id) = &hold.scope {
            items.push(cap_item(store, hold, id, now)?);
        }
    }
    Ok(items)
}

/// An exhausted spending cap. The day is part of its key, whatever is still running and spending.
fn cap_item(
    store: &Store,
    hold: &Hold,
    project: &ProjectId,
    now: Timestamp,
) -> Result<InboxItem, RunnerError> {
    let mut item = hold_item(hold, day_start(now), &KnownGates::default(), None);
    if let Some(reached_at) = store.last_spent_at(project)? {
        item.since = reached_at.min(now);
    }
    Ok(item)
}

/// The one item that failed every probe of a hold while no other item hit it: a person has to look.
fn lone_probe(
    store: &Store,
    snapshot: &Snapshot,
    hold: &Hold,
) -> Result<Option<InboxItem>, RunnerError> {
    let Some(trial) = lone_item(hold) else {
        return Ok(None);
    };
    let (project, title) = match &trial.item {
        ProbeItem::Issue(issue) => {
            let issue = store.issue(issue)?;
            (Some(issue.project), issue.title)
        }
        ProbeItem::Plan(plan) | ProbeItem::Phase(plan, _) => {
            let plan = snapshot.plans.iter().find(|open| open.plan == *plan);
            (plan.map(|plan| plan.project.clone()), String::new())
        }
        ProbeItem::Project(project, _) => (Some(project.clone()), String::new()),
    };
    let item = lone_probe_item(hold, project.as_ref());
    Ok(item.map(|item| InboxItem { title, ..item }))
}

/// Projects whose dispatch is off.
fn of_projects(snapshot: &Snapshot, projects: &[Project]) -> Vec<InboxItem> {
    let known: BTreeMap<&ProjectId, &Project> = projects
        .iter()
        .map(|project| (&project.id, project))
        .collect();
    let mut items = Vec::new();
    for (id, view) in &snapshot.projects {
        let Some(project) = known.get(id) else {
            continue;
        };
        let since = project.created_at;
        if let Some(problem) = &view.broken {
            let text = format!("its configuration is broken: {problem}");
            items.push(project_item(id, &text, "symphony config check", since));
        } else if let Some(NoBase { problem, answer }) = &view.no_base {
            let text = format!("it is on hold: {problem}");
            items.push(project_item(id, &text, answer, since));
        } else if let Err(problem) = &view.provider {
            let text = format!("no provider can be used: {problem}");
            items.push(project_item(id, &text, "symphony doctor", since));
        }
        // What issues and profiles ask for instead of the project's.
        for (name, problem) in &view.named_providers.unusable {
            let text = format!("no agent with the provider `{name}` can start: {problem}");
            items.push(project_item(id, &text, "symphony doctor", since));
        }
        if project.wizard == WizardState::Failed {
            let text = "its setup wizard failed";
            items.push(project_item(
                id,
                text,
                "symphony project wizard --again",
                since,
            ));
        }
    }
    items
}
