//! The status of each item alone; whether what it waits for is stuck is decided afterwards.

use std::collections::{BTreeMap, BTreeSet};

use super::open::{
    OpenIssue, OpenPullRequest, OpenState, Parked, UNSEEN_PUBLICATION_MS, UnpublishedPr,
};
use super::reasons::{entry_of, is_cut, lead};
use super::{Dependency, Item, Observed, Standing};
use crate::id::{IssueId, PlanId};
use crate::inbox::{InboxItem, InboxKind};
use crate::issue::BlockedBy;
use crate::plan::state::{PhaseState, PlanStatus};
use crate::publication::PublicationState;
use crate::pull_request::PullRequestOf;
use crate::tick::{
    Action, AskedAgent, CANDIDATES_MAX, GatesState, LiveRun, OpenPlan, PlanDriver, Reason,
    ReviewCandidate, gates_obstacles, intake_obstacles, obstacles, project_obstacles,
    review_obstacles,
};

/// Returns the status of everything, without looking at what it waits for.
pub(super) fn each_by_itself(observed: &Observed<'_>) -> BTreeMap<Item, Standing> {
    let mut standings = BTreeMap::new();
    let index = Index::of(observed);
    for issue in &observed.open.issues {
        let standing = index.issue(issue, observed);
        standings.insert(Item::Issue(issue.issue.clone()), standing);
    }
    for OpenPullRequest { pr, of } in &observed.open.pull_requests {
        let item = match of {
            PullRequestOf::Issue(issue) => Item::Issue(issue.clone()),
            PullRequestOf::Plan(plan) => Item::Plan(plan.clone()),
        };
        let dependencies = vec![Dependency::Item(item)];
        standings.insert(Item::PullRequest(*pr), Standing::WaitsFor { dependencies });
    }
    for publication in &observed.open.unpublished {
        let standing = index.publication(publication, observed);
        standings.insert(Item::Publication(publication.pr), standing);
    }
    for plan in &observed.snapshot.plans {
        standings.insert(Item::Plan(plan.plan.clone()), plan_standing(plan, observed));
    }
    standings
}

fn stranded(why: impl Into<String>) -> Standing {
    Standing::Stranded { why: why.into() }
}

/// Indexes for looking up each issue: a project may have thousands.
struct Index<'a> {
    entries: BTreeMap<&'a IssueId, &'a InboxItem>,
    publications: BTreeMap<&'a IssueId, &'a InboxItem>,
    live: BTreeMap<&'a IssueId, &'a LiveRun>,
    reviews: BTreeMap<&'a IssueId, &'a ReviewCandidate>,
    candidates: BTreeSet<&'a IssueId>,
    /// Issues that the tick acts on, or explains why it does not.
    planned: BTreeSet<&'a IssueId>,
    /// Issues whose pull request was merged outside: the tick records it.
    merged: BTreeSet<&'a IssueId>,
    accepted: BTreeSet<&'a IssueId>,
    split: BTreeSet<&'a IssueId>,
}

impl<'a> Index<'a> {
    fn of(observed: &Observed<'a>) -> Self {
        let (snapshot, schedule) = (observed.snapshot, observed.schedule);
        let by_issue = |answers: fn(InboxKind) -> bool| {
            let items = observed.inbox.iter().filter(move |item| answers(item.kind));
            items
                .filter_map(|item| Some((item.issue.as_ref()?, item)))
                .collect()
        };
        let acted = schedule.actions.iter().filter_map(acts_on);
        let decided = schedule.decisions.iter().map(|decision| &decision.issue);
        let live = snapshot.live.iter();
        Self {
            entries: by_issue(InboxKind::is_about_the_issue_itself),
            publications: by_issue(|kind| kind == InboxKind::Publication),
            live: live
                .filter_map(|run| Some((run.issue.as_ref()?, run)))
                .collect(),
            reviews: snapshot
                .reviews
                .iter()
                .filter_map(|r| Some((r.of.issue()?, r)))
                .collect(),
            candidates: snapshot.candidates.iter().map(|c| &c.issue).collect(),
            planned: acted.chain(decided).collect(),
            merged: schedule.actions.iter().filter_map(merged).collect(),
            accepted: snapshot.accepted.iter().map(|a| &a.issue).collect(),
            split: snapshot.split.iter().map(|split| &split.issue).collect(),
        }
    }

    fn issue(&self, open: &OpenIssue, observed: &Observed<'_>) -> Standing {
        let id = &open.issue;
        if let Some(live) = self.live.get(id) {
            return live_standing(live);
        }
        if self.merged.contains(id) {
            return Standing::Runnable;
        }
        if let Some(entry) = self.entries.get(id) {
            let entry = entry.key.clone();
            return Standing::WaitsForPerson { entry };
        }
        match &open.state {
            OpenState::Backlog(parked) => backlog(open, *parked, observed),
            OpenState::Todo(candidate) => {
                let mut reasons = obstacles(candidate, observed.snapshot, observed.now);
                reasons.extend(self.planned_reasons(id, observed));
                lead(&reasons, &open.project, observed)
                    .unwrap_or_else(|| self.startable(open, &reasons, observed))
            }
            OpenState::InProgress => stranded("it is in_progress, but no run is live on it"),
            OpenState::Review => self.review(open, observed),
            OpenState::Blocked { by, open_subtasks } => self.blocked(id, *by, open_subtasks),
        }
    }

    /// What the schedule adds to the predicates: slots, and running probes.
    fn planned_reasons(&self, id: &IssueId, observed: &Observed<'_>) -> Vec<Reason> {
        if !self.planned.contains(id) {
            return Vec::new();
        }
        let of_issue = observed
            .schedule
            .decisions
            .iter()
            .filter(|d| d.issue == *id);
        of_issue
            .flat_map(|decision| decision.reasons.iter().cloned())
            .collect()
    }

    /// Where nothing keeps an issue in `todo` from starting, the tick must have planned something for it, or have too
    /// many.
    fn startable(&self, open: &OpenIssue, reasons: &[Reason], observed: &Observed<'_>) -> Standing {
        let id = &open.issue;
        let opens =
            |action: &Action| matches!(action, Action::OpenBreaker { issue } if issue == id);
        let is_spent = reasons
            .iter()
            .any(|reason| matches!(reason, Reason::AttemptsSpent { .. }));
        if is_spent && !observed.schedule.actions.iter().any(opens) {
            return stranded(
                "it used up its attempts, and neither the breaker opens nor is it in the inbox",
            );
        }
        if self.planned.contains(id) {
            return Standing::Runnable;
        }
        if !self.candidates.contains(id) && is_cut(observed.snapshot, &open.project) {
            let dependencies = vec![Dependency::Queue];
            return Standing::WaitsFor { dependencies };
        }
        stranded("nothing prevents it from starting, but no tick starts it")
    }

    fn review(&self, open: &OpenIssue, observed: &Observed<'_>) -> Standing {
        let (id, snapshot) = (&open.issue, observed.snapshot);
        if self.accepted.contains(id) {
            return if self.planned.contains(id) {
                Standing::Runnable
            } else {
                stranded("its phase is accepted, but no tick moves it on")
            };
        }
        let Some(review) = self.reviews.get(id) else {
            let read = snapshot
                .reviews
                .iter()
                .filter(|r| r.project == open.project);
            return if read.count() >= CANDIDATES_MAX {
                let dependencies = vec![Dependency::Queue];
                Standing::WaitsFor { dependencies }
            } else {
                stranded("it is in review, but nothing reviews it")
            };
        };
        // gates that can run come before any verdict
        let gates_run = review.gates != GatesState::Verified
            && gates_obstacles(review, snapshot, observed.now).is_empty();
        let mut reasons = if gates_run {
            Vec::new()
        } else {
            review_obstacles(review, snapshot, observed.now)
        };
        reasons.extend(self.planned_reasons(id, observed));
        lead(&reasons, &open.project, observed).unwrap_or_else(|| {
            if self.planned.contains(id) {
                Standing::Runnable
            } else {
                stranded("nothing prevents its review, but no tick continues it")
            }
        })
    }

    fn blocked(&self, id: &IssueId, by: BlockedBy, open_subtasks: &[IssueId]) -> Standing {
        match by {
            BlockedBy::Subtasks if !open_subtasks.is_empty() => {
                let on = |issue: &IssueId| Dependency::Item(Item::Issue(issue.clone()));
                let dependencies = open_subtasks.iter().map(on).collect();
                Standing::WaitsFor { dependencies }
            }
            BlockedBy::Subtasks if self.split.contains(id) && self.planned.contains(id) => {
                Standing::Runnable
            }
            _ => stranded(format!("it is blocked ({by}), but not in the inbox")),
        }
    }

    fn publication(&self, publication: &UnpublishedPr, observed: &Observed<'_>) -> Standing {
        let started = publication.started_at;
        let age = observed.now.as_millisecond() - started.as_millisecond();
        if publication.state == PublicationState::Running
            && (0..UNSEEN_PUBLICATION_MS).contains(&age)
        {
            let at = started.saturating_add_ms(UNSEEN_PUBLICATION_MS.unsigned_abs());
            return Standing::Due { at };
        }
        let entry = match &publication.of {
            PullRequestOf::Issue(issue) => self.publications.get(issue).copied(),
            PullRequestOf::Plan(plan) => {
                entry_of_plan(plan, observed, |kind| kind == InboxKind::Publication)
            }
        };
        match entry {
            Some(entry) => Standing::WaitsForPerson {
                entry: entry.key.clone(),
            },
            None => stranded("it did not succeed, but is not in the inbox"),
        }
    }
}

fn acts_on(action: &Action) -> Option<&IssueId> {
    match action {
        Action::FinishCrashed { issue, .. }
        | Action::Suspect { issue, .. }
        | Action::EndLost { issue, .. }
        | Action::Withdraw { issue, .. }
        | Action::EndStuck { issue, .. } => issue.as_ref(),
        Action::AdvancePhase { issue }
        | Action::Unblock { issue }
        | Action::OpenBreaker { issue }
        | Action::CleanUp { issue, .. }
        | Action::ConfirmDone { issue, .. } => Some(issue),
        Action::ReturnProposal(moved) => Some(&moved.issue),
        Action::RefreshProposal(stale) => Some(&stale.issue),
        Action::StartRun(start) => start.target.issue(),
        Action::RecordMerge(merge) => merge.of.issue(),
        // They only inform a person.
        Action::NoteBase(_) | Action::RememberBase(_) | Action::TidyRun { .. } => None,
    }
}

fn merged(action: &Action) -> Option<&IssueId> {
    match action {
        Action::RecordMerge(merge) => merge.of.issue(),
        // The tick ends the review, whatever the inbox would say.
        Action::ConfirmDone { issue, .. } => Some(issue),
        Action::ReturnProposal(moved) => Some(&moved.issue),
        Action::RefreshProposal(stale) => Some(&stale.issue),
        _ => None,
    }
}

fn live_standing(live: &LiveRun) -> Standing {
    match &live.put_off {
        Some(put_off) => Standing::Due { at: put_off.due_at },
        None => Standing::Live {
            run: live.run.clone(),
        },
    }
}

fn backlog(open: &OpenIssue, parked: Parked, observed: &Observed<'_>) -> Standing {
    let snapshot = observed.snapshot;
    let intake = snapshot.intake.iter().find(|c| c.issue == open.issue);
    if let Some(candidate) = intake {
        let reasons = intake_obstacles(candidate, snapshot, observed.now);
        let led = lead(&reasons, &open.project, observed);
        return led.unwrap_or(Standing::Runnable);
    }
    match parked {
        Parked::ByPerson => Standing::NotAskedFor,
        Parked::Proposed => {
            // intake reads a bounded number of issues, too
            let intake_is_cut = snapshot.intake.len() >= CANDIDATES_MAX;
            match entry_of(observed, &open.project, InboxKind::Proposals) {
                Some(entry) => Standing::WaitsForPerson {
                    entry: entry.key.clone(),
                },
                None if intake_is_cut => Standing::WaitsFor {
                    dependencies: vec![Dependency::Queue],
                },
                None => stranded("an agent proposed it, but it is not in the inbox"),
            }
        }
        Parked::ByBreaker => stranded("its circuit breaker opened, but it is not in the inbox"),
    }
}

fn entry_of_plan<'a>(
    plan: &PlanId,
    observed: &Observed<'a>,
    is_asked_for: fn(InboxKind) -> bool,
) -> Option<&'a InboxItem> {
    let prefix = format!("plan:{plan}:");
    let is_it = |item: &&InboxItem| is_asked_for(item.kind) && item.key.starts_with(&prefix);
    observed.inbox.iter().find(is_it)
}

/// A plan whose pull request is open, and that waits for neither a run nor a person.
fn plan_review(plan: &OpenPlan, observed: &Observed<'_>) -> Standing {
    let snapshot = observed.snapshot;
    let mut reviews = snapshot.reviews.iter();
    let Some(review) = reviews.find(|review| review.of.plan() == Some(&plan.plan)) else {
        return stranded("it is in review, but nothing reviews it");
    };
    // gates that can run come before any verdict
    let gates_run = matches!(review.gates, GatesState::Pending { .. })
        && gates_obstacles(review, snapshot, observed.now).is_empty();
    let mut reasons = if gates_run {
        Vec::new()
    } else {
        review_obstacles(review, snapshot, observed.now)
    };
    let starts = |action: &Action| matches!(action, Action::StartRun(start) if start.target.plan() == Some(&plan.plan));
    let decisions = observed.schedule.plan_decisions.iter();
    let mut decided = decisions
        .filter(|decision| decision.plan == plan.plan)
        .peekable();
    let is_planned = observed.schedule.actions.iter().any(starts) || decided.peek().is_some();
    reasons.extend(decided.flat_map(|decision| decision.reasons.iter().cloned()));
    lead(&reasons, &plan.project, observed).unwrap_or_else(|| {
        if is_planned {
            Standing::Runnable
        } else {
            stranded("nothing prevents its review, but no tick continues it")
        }
    })
}

fn plan_standing(plan: &OpenPlan, observed: &Observed<'_>) -> Standing {
    let snapshot = observed.snapshot;
    let mut due = None;
    for phase in &plan.phases {
        match &phase.state {
            PhaseState::Running { run: Some(run), .. } => {
                return match snapshot.live.iter().find(|live| live.run == *run) {
                    Some(live) => live_standing(live),
                    None => stranded(format!(
                        "its phase {} is running in run {run}, which has ended",
                        phase.phase
                    )),
                };
            }
            PhaseState::Retrying { due_at } if *due_at > observed.now => {
                due = Some(due.map_or(*due_at, |due: crate::Timestamp| due.min(*due_at)));
            }
            _ => {}
        }
    }
    let live = snapshot.live.iter();
    let mut on_review = live.filter(|live| live.plan.as_ref() == Some(&plan.plan));
    if let (PlanStatus::Review, Some(live)) = (plan.status, on_review.next()) {
        return live_standing(live);
    }
    let records = |action: &Action| matches!(action, Action::RecordMerge(merge) if merge.of.plan() == Some(&plan.plan));
    if observed.schedule.actions.iter().any(records) {
        return Standing::Runnable;
    }
    // As for an issue, a missing publication does not stop its review.
    if let Some(entry) = entry_of_plan(&plan.plan, observed, |kind| kind != InboxKind::Publication)
    {
        let entry = entry.key.clone();
        return Standing::WaitsForPerson { entry };
    }
    if plan.status == PlanStatus::Review {
        return plan_review(plan, observed);
    }
    if !plan.goes_on_by_itself() {
        return stranded(format!(
            "it is {}, but not in the inbox",
            plan.status.words()
        ));
    }
    match plan.driver {
        PlanDriver::Command => Standing::WaitsFor {
            dependencies: vec![Dependency::PlanDriver],
        },
        PlanDriver::Tick => {
            let view = snapshot.projects.get(&plan.project);
            let asked = view.map(|view| AskedAgent {
                provider: view.provider.as_deref().map_err(String::as_str),
                model: view.models.of_plans(),
            });
            let reasons = project_obstacles(&plan.project, asked, snapshot, observed.now);
            let led = lead(&reasons, &plan.project, observed);
            led.or(due.map(|at| Standing::Due { at }))
                .unwrap_or(Standing::Runnable)
        }
        PlanDriver::None => stranded("nothing continues it, and it is not in the inbox"),
    }
}
