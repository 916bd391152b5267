//! Ending an issue for a person, and the sentence about it.

use serde::Serialize;
use symphony_core::id::IssueId;
use symphony_core::issue::{DependentEffect, IssueStatus};
use symphony_core::pull_request::PullRequest;
use symphony_runner::order::{Ended, Ending, end_issue};
use symphony_runner::session::Session;
use symphony_store::EndedIssue;
use symphony_view::IssueView;
use symphony_view::text::plural;

use crate::app::App;
use crate::dependents::{choose_fate, fate_in_words};
use crate::live_run::note_ending;

/// Ends an issue, after the fate of those that depend on it is known: asked for on a terminal, unless it was typed.
pub(super) fn carry_out(
    app: &App,
    session: &mut Session,
    issue: &IssueId,
    mut ending: Ending<'_>,
) -> anyhow::Result<Ended> {
    let undecided = ending.undecided(&session.store)?;
    let fate = choose_fate(app, ending.dependents, &undecided, issue.as_str())?;
    ending.dependents = Some(fate);
    note_ending(app, session, issue)?;
    Ok(end_issue(session, &App::as_human(), &ending)?)
}

/// What ending an issue did, as JSON.
#[derive(Debug, Serialize)]
pub(super) struct EndedView {
    #[serde(flatten)]
    issue: IssueView,
    dependents: Vec<DependentEffect>,
}

/// Says where an issue is now.
pub(super) fn now_in(id: &IssueId, status: IssueStatus) -> String {
    match status {
        IssueStatus::Done | IssueStatus::Cancelled | IssueStatus::Blocked => {
            format!("{id} is now {status}.")
        }
        _ => format!("{id} is now in `{status}`."),
    }
}

/// Says what happened to a pull request or a proposal that was closed with its issue.
pub(super) fn closed_in_words(pr: &PullRequest) -> String {
    match pr.proposal {
        // what depends on the issue starts from a base without it
        None => format!(
            "Pull request {} is closed without being merged; its commits are only on {}.",
            pr.id, pr.branch
        ),
        Some(_) => format!(
            "Proposal {} that nothing is left to do is closed without being confirmed.",
            pr.id
        ),
    }
}

/// Returns what ending an issue did, for a program and in words.
pub(super) fn ending_view(ended: Ended) -> (EndedView, String) {
    let Ended {
        outcome: EndedIssue { issue, dependents },
        closed,
        open_subtasks,
    } = ended;
    let mut sentence = now_in(&issue.id, issue.state.status());
    if let Some(pr) = closed {
        sentence.push_str(&format!(" {}", closed_in_words(&pr)));
    }
    if let Some(fate) = fate_in_words(&dependents, issue.id.as_str()) {
        sentence.push_str(&format!(" {fate}"));
    }
    if open_subtasks > 0 && issue.state.status() != IssueStatus::Blocked {
        let stay = if open_subtasks == 1 { "stays" } else { "stay" };
        let subtasks = plural(open_subtasks, "open sub-task");
        sentence.push_str(&format!(" Its {subtasks} {stay} open."));
    }
    let view = EndedView {
        issue: issue.into(),
        dependents,
    };
    (view, sentence)
}
