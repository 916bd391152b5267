//! Ending an issue by a person's word: its live run first, then the issue and what depends on it in one step.

use serde::Serialize;
use symphony_core::id::IssueId;
use symphony_core::issue::{
    DependentEffect, DependentsFate, IssueEvent, IssueStatus, Resolution, settle_dependents,
};
use symphony_core::pull_request::{PrState, PullRequest};
use symphony_runner::cancel::end_run_of;
use symphony_runner::session::Session;
use symphony_store::{EndedIssue, IssueEnd, IssueFilter, Store};
use symphony_view::IssueView;
use symphony_view::text::plural;

use crate::app::App;
use crate::dependents::{choose_fate, fate_in_words};

/// How an issue is ended.
#[derive(Debug)]
pub(super) struct Ending<'a> {
    pub(super) issue: &'a IssueId,
    pub(super) event: IssueEvent,
    pub(super) comment: Option<String>,
    /// The choice that was typed for the issues that depend on it.
    pub(super) dependents: Option<DependentsFate>,
}

/// What ending an issue did.
#[derive(Debug)]
pub(super) struct Ended {
    outcome: EndedIssue,
    /// The pull request that was open and is closed now.
    closed: Option<PullRequest>,
    open_subtasks: usize,
}

impl Ending<'_> {
    fn cancels(&self) -> bool {
        matches!(
            self.event,
            IssueEvent::Cancelled
                | IssueEvent::Closed {
                    resolution: Resolution::Cancelled,
                    ..
                }
        )
    }

    /// Ends the issue. Everything that can be refused or asked is, before a run is ended for it.
    pub(super) fn carry_out(&self, app: &App, session: &mut Session) -> anyhow::Result<Ended> {
        let store = &mut session.store;
        let fate = if self.cancels() {
            self.fate_of_dependents(app, store)?
        } else {
            DependentsFate::Keep
        };
        let open = store.open_pr(self.issue)?;
        end_run_of(&session.installation, store, self.issue)?;
        if self.cancels() && fate == DependentsFate::Cancel {
            let dependencies = store.open_dependents(self.issue)?;
            for effect in settle_dependents(std::slice::from_ref(self.issue), fate, &dependencies) {
                end_run_of(&session.installation, store, &effect.issue)?;
            }
        }
        let end = IssueEnd {
            event: self.event.clone(),
            comment: self.comment.clone(),
            dependents: fate,
        };
        let outcome = store.end_issue(&App::as_human(), self.issue, &end)?;
        let closed = match open {
            Some(pr) => Some(store.pr(pr.id)?).filter(|pr| pr.state == PrState::Closed),
            None => None,
        };
        let subtasks = IssueFilter {
            parent: Some(self.issue.clone()),
            ..IssueFilter::default()
        };
        let subtasks = store.list_issues(&subtasks)?.items;
        let is_open = |issue: &&symphony_core::issue::Issue| !issue.state.status().is_terminal();
        Ok(Ended {
            outcome,
            closed,
            open_subtasks: subtasks.iter().filter(is_open).count(),
        })
    }

    fn fate_of_dependents(&self, app: &App, store: &Store) -> anyhow::Result<DependentsFate> {
        let dependencies = store.open_dependents(self.issue)?;
        let direct = settle_dependents(
            std::slice::from_ref(self.issue),
            DependentsFate::Keep,
            &dependencies,
        );
        choose_fate(app, self.dependents, &direct, self.issue.as_str())
    }
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
            "Pull request {} is closed, not merged; its commits are only on {}.",
            pr.id, pr.branch
        ),
        Some(_) => format!(
            "Proposal {}, that nothing is left to do, is closed, not confirmed.",
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
