//! Why an issue waits.

use symphony_core::Timestamp;
use symphony_core::agent::AgentType;
use symphony_core::contract::Delivery;
use symphony_core::id::IssueId;
use symphony_core::inbox::InboxKind;
use symphony_core::issue::{Issue, IssueState};
use symphony_core::placement::Whereabouts;
use symphony_core::standing::{Item, Standing};
use symphony_core::tick::{
    Action, Reason, Schedule, Snapshot, intake_obstacles, obstacles, review_obstacles, wanted_agent,
};
use symphony_runner::RunnerError;
use symphony_runner::models::next_author;
use symphony_runner::session::Session;
use symphony_runner::standing::Outlook;
use symphony_runner::tick::observe_with_phases;
use symphony_store::{RunFilter, Store};

use super::explain_wait::{for_you, note_changed_base, stranded};
use crate::{
    ActionView, AuthorView, ENDED, Elsewhere, ExplainView, FailureView, ReasonView, RunView,
    WaitView,
};

/// Reads why an issue waits, or what works on it.
///
/// # Errors
/// When there is no such issue, or the database, the repository or a configuration cannot be read.
pub fn explain_issue(
    session: &mut Session,
    issue: &IssueId,
    elsewhere: &Elsewhere,
    now: Timestamp,
) -> Result<ExplainView, RunnerError> {
    let snapshot = observe_with_phases(&session.installation, &mut session.store, now)?;
    explain_issue_of(session, &snapshot, issue, elsewhere, now)
}

/// As [`explain_issue`], of what was observed before.
///
/// # Errors
/// When there is no such issue, or the database cannot be read.
pub fn explain_issue_of(
    session: &mut Session,
    snapshot: &Snapshot,
    issue: &IssueId,
    elsewhere: &Elsewhere,
    now: Timestamp,
) -> Result<ExplainView, RunnerError> {
    let issue = session.store.issue(issue)?;
    let mut view = explain(&mut session.store, &issue, snapshot, now)?;
    elsewhere.waits(&issue.project, &mut view.reasons);
    if !issue.state.status().is_terminal() {
        // A configuration or a prompt that cannot be read is among the reasons.
        view.author = author(session, &issue, snapshot).ok();
    }
    Ok(view)
}

/// Returns what the agent that works on an issue next would run with.
fn author(
    session: &Session,
    issue: &Issue,
    snapshot: &Snapshot,
) -> Result<AuthorView, RunnerError> {
    let candidate = session.store.candidate(&issue.id)?;
    let project = snapshot.projects.get(&issue.project);
    let wanted = candidate
        .zip(project)
        .and_then(|(candidate, project)| wanted_agent(&candidate, project).ok());
    let profile = wanted.unwrap_or(AgentType::Worker);
    let (chosen, model) = next_author(session, issue, &profile)?;
    let (model, model_source) = model.map(|model| (model.model, model.source)).unzip();
    Ok(AuthorView {
        profile,
        provider: chosen.provider.ok(),
        provider_source: chosen.source,
        model,
        model_source,
    })
}

fn explain(
    store: &mut Store,
    issue: &Issue,
    snapshot: &Snapshot,
    now: Timestamp,
) -> Result<ExplainView, RunnerError> {
    let Outlook {
        schedule,
        inbox: items,
        mut standings,
    } = Outlook::of(store, snapshot, now)?;
    let store = &*store;
    let live = RunFilter {
        issue: Some(issue.id.clone()),
        live_only: true,
        limit: Some(1),
        ..RunFilter::default()
    };
    let running = store.runs(&live)?.into_iter().next().map(RunView::from);
    let last_failure = FailureView::load(store, issue)?;
    let next = schedule
        .actions
        .iter()
        .find(|action| concerns(action, &issue.id))
        .map(ActionView::from);
    let reasons = reasons(store, issue, snapshot, &schedule, now)?;
    let mut waits: Vec<WaitView> = reasons
        .iter()
        .map(|reason| WaitView::Dispatch(ReasonView::from(reason)))
        .collect();
    let delivery = store
        .open_delivery(&issue.id)?
        .filter(Delivery::awaits_judge);
    let standing = standings.remove(&Item::Issue(issue.id.clone()));
    if running.is_none() {
        let item = items
            .iter()
            // a pull request that was not published is judged and merged all the same
            .find(|item| {
                item.issue.as_ref() == Some(&issue.id) && item.kind != InboxKind::Publication
            });
        waits.extend(item.map(|item| for_you(item, &reasons)));
        if item.is_none() {
            waits.extend(delivery.as_ref().map(delivery_to_judge));
            if next.is_none() && issue.state == IssueState::Backlog && !waits.is_empty() {
                waits.insert(0, before_intake(issue));
            } else if next.is_none() && waits.is_empty() {
                waits.extend(by_status(issue));
            }
        }
    }
    if let Some(Standing::Stranded { why }) = &standing {
        waits.push(stranded(why));
    }
    Ok(ExplainView {
        standing,
        identifier: issue.id.clone(),
        title: issue.title.clone(),
        status: issue.state.status(),
        running,
        whereabouts: whereabouts_on(snapshot, &issue.id),
        author: None,
        next,
        last_failure,
        reasons: waits,
    })
}

/// Returns where the live run on an issue is.
fn whereabouts_on(snapshot: &Snapshot, issue: &IssueId) -> Whereabouts {
    let mut live = snapshot.live.iter();
    let live = live.find(|run| run.issue.as_ref() == Some(issue));
    live.map_or(Whereabouts::Here, |run| run.whereabouts.clone())
}

/// What a person can do about a delivery while no judge has spoken.
fn delivery_to_judge(delivery: &Delivery) -> WaitView {
    let Delivery {
        id, issue, phase, ..
    } = delivery;
    WaitView::Person {
        reason: "phase_claim",
        text: format!(
            "delivery {id} of the phase {phase} awaits a verdict: `symphony phase approve {issue}` or `symphony phase reject {issue}` gives yours"
        ),
    }
}

fn concerns(action: &Action, id: &IssueId) -> bool {
    match action {
        Action::FinishCrashed { issue, .. }
        | Action::Suspect { issue, .. }
        | Action::EndLost { issue, .. }
        | Action::Withdraw { issue, .. }
        | Action::EndStuck { issue, .. } => issue.as_ref() == Some(id),
        Action::AdvancePhase { issue }
        | Action::Unblock { issue }
        | Action::OpenBreaker { issue }
        | Action::CleanUp { issue, .. }
        | Action::ConfirmDone { issue, .. } => issue == id,
        Action::StartRun(start) => start.target.issue() == Some(id),
        Action::RecordMerge(merge) => merge.of.issue() == Some(id),
        Action::ReturnProposal(moved) => moved.issue == *id,
        Action::RefreshProposal(stale) => stale.issue == *id,
        Action::NoteBase(notice) => notice.issue() == Some(id),
        Action::TidyRun { .. } | Action::RememberBase(_) => false,
    }
}

/// Returns what keeps dispatch from the issue, slots included.
fn reasons(
    store: &Store,
    issue: &Issue,
    snapshot: &Snapshot,
    schedule: &Schedule,
    now: Timestamp,
) -> Result<Vec<Reason>, RunnerError> {
    let mut reasons = match &issue.state {
        IssueState::Todo => store
            .candidate(&issue.id)?
            .map_or_else(Vec::new, |candidate| obstacles(&candidate, snapshot, now)),
        IssueState::Backlog => intake_reasons(store, issue, snapshot, now)?,
        IssueState::Review => {
            let review = snapshot
                .reviews
                .iter()
                .find(|review| review.of.issue() == Some(&issue.id));
            review.map_or_else(Vec::new, |review| review_obstacles(review, snapshot, now))
        }
        _ => Vec::new(),
    };
    // a run at work is shown as such, and began the pause before the next judge
    let runs = |reason: &Reason| matches!(reason, Reason::Running { .. });
    let is_at_work = reasons.iter().any(runs);
    reasons.retain(|reason| {
        !(runs(reason) || is_at_work && matches!(reason, Reason::CoolingDown { .. }))
    });
    let planned = schedule
        .decisions
        .iter()
        .filter(|decision| decision.issue == issue.id);
    for reason in planned.flat_map(|decision| &decision.reasons) {
        let only_planned = matches!(reason, Reason::NoSlot { .. } | Reason::SubtasksCancelled);
        if only_planned && !reasons.contains(reason) {
            reasons.push(reason.clone());
        }
    }
    for reason in &mut reasons {
        note_changed_base(reason, snapshot);
    }
    Ok(reasons)
}

/// Returns what keeps intake from an issue that it has not looked at, where the project has intake.
fn intake_reasons(
    store: &Store,
    issue: &Issue,
    snapshot: &Snapshot,
    now: Timestamp,
) -> Result<Vec<Reason>, RunnerError> {
    let project = snapshot.projects.get(&issue.project);
    if !project.is_some_and(|project| project.agents.intake_enabled) {
        return Ok(Vec::new());
    }
    let candidate = store.intake_candidate(&issue.id)?;
    Ok(candidate.map_or_else(Vec::new, |candidate| {
        intake_obstacles(&candidate, snapshot, now)
    }))
}

/// Says that the issue is in the backlog, and that the reasons that follow are those of intake.
fn before_intake(issue: &Issue) -> WaitView {
    let id = &issue.id;
    WaitView::Person {
        reason: "backlog",
        text: format!(
            "it is in the backlog until you start it with `symphony issue move {id} todo`; intake, which sorts the backlog \
             first, is waiting, too:"
        ),
    }
}

/// Says what an issue waits for that neither dispatch nor the inbox has.
fn by_status(issue: &Issue) -> Option<WaitView> {
    let id = &issue.id;
    let (reason, text) = match &issue.state {
        IssueState::Backlog => (
            "backlog",
            format!("it is in the backlog until you start it with `symphony issue move {id} todo`"),
        ),
        IssueState::Blocked(block) => (
            "blocked",
            format!(
                "it is blocked ({}): {}; it continues when they have ended",
                block.by, block.reason
            ),
        ),
        IssueState::Done => (
            ENDED,
            format!("it is done: `symphony issue move {id} todo` reopens it"),
        ),
        IssueState::Cancelled => (
            ENDED,
            format!("it is cancelled: `symphony issue move {id} todo` reopens it"),
        ),
        IssueState::InProgress => (
            "in_progress",
            "its run has just ended, and the next tick decides what happens next".to_owned(),
        ),
        IssueState::Review | IssueState::Todo => return None,
    };
    Some(WaitView::Person { reason, text })
}
