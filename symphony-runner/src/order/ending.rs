//! Ending an issue: its live run first, then the issue and what depends on it in one step.

use symphony_core::id::IssueId;
use symphony_core::issue::{
    DependentEffect, DependentsFate, Issue, IssueEvent, Resolution, check_required_text,
    settle_dependents,
};
use symphony_core::pull_request::{PrState, PullRequest};
use symphony_store::{Context, EndedIssue, IssueEnd, IssueFilter, Store, StoreError};

use super::OrderRefusal;
use crate::cancel::end_run_of;
use crate::error::RunnerError;
use crate::session::Session;

/// How an issue is ended.
#[derive(Debug, Clone)]
pub struct Ending<'a> {
    issue: &'a IssueId,
    event: IssueEvent,
    comment: Option<String>,
    /// What happens to the issues that depend on one that is cancelled; none where nobody has decided.
    pub dependents: Option<DependentsFate>,
}

/// What ending an issue did.
#[derive(Debug, Clone)]
pub struct Ended {
    /// The issue as it is now, and what became of those that depended on it.
    pub outcome: EndedIssue,
    /// The pull request that was open and is closed now.
    pub closed: Option<PullRequest>,
    /// How many of its parts stay open.
    pub open_subtasks: usize,
}

impl<'a> Ending<'a> {
    /// Moves an issue to `cancelled`.
    pub const fn cancelled(issue: &'a IssueId, dependents: Option<DependentsFate>) -> Self {
        Self {
            issue,
            event: IssueEvent::Cancelled,
            comment: None,
            dependents,
        }
    }

    /// Closes an issue for a reason, which is kept as a comment.
    ///
    /// # Errors
    /// When the reason is empty or too long.
    pub fn closed(
        issue: &'a IssueId,
        resolution: Resolution,
        reason: &str,
        dependents: Option<DependentsFate>,
    ) -> Result<Self, StoreError> {
        check_required_text("reason", reason)?;
        Ok(Self {
            issue,
            event: IssueEvent::Closed {
                resolution,
                reason: reason.to_owned(),
            },
            comment: Some(format!("Closed as {resolution}: {reason}")),
            dependents,
        })
    }

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

    /// Returns the open issues that depend on it directly, whose fate is to be decided; none where it is done.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn undecided(&self, store: &Store) -> Result<Vec<DependentEffect>, RunnerError> {
        if !self.cancels() {
            return Ok(Vec::new());
        }
        let dependencies = store.open_dependents(self.issue)?;
        let ended = std::slice::from_ref(self.issue);
        Ok(settle_dependents(
            ended,
            DependentsFate::Keep,
            &dependencies,
        ))
    }

    fn fate(&self, store: &Store) -> Result<DependentsFate, RunnerError> {
        let undecided = self.undecided(store)?;
        match self.dependents {
            _ if undecided.is_empty() => Ok(DependentsFate::Keep),
            Some(fate) => Ok(fate),
            None => Err(OrderRefusal::Dependents {
                issue: self.issue.clone(),
                dependents: undecided.into_iter().map(|effect| effect.issue).collect(),
            }
            .into()),
        }
    }
}

/// Ends an issue. Everything that can be refused is, before a run is ended for it.
///
/// # Errors
/// When there is no such issue, it has ended, or nobody has decided what happens to those that depend on it.
pub fn end_issue(
    session: &mut Session,
    context: &Context,
    ending: &Ending<'_>,
) -> Result<Ended, RunnerError> {
    let store = &mut session.store;
    let status = store.issue(ending.issue)?.state.status();
    if status.is_terminal() {
        return Err(OrderRefusal::Ended {
            issue: ending.issue.clone(),
            status,
        }
        .into());
    }
    let fate = ending.fate(store)?;
    let open = store.open_pr(ending.issue)?;
    end_run_of(&session.installation, store, context, ending.issue)?;
    if fate == DependentsFate::Cancel {
        let dependencies = store.open_dependents(ending.issue)?;
        for effect in settle_dependents(std::slice::from_ref(ending.issue), fate, &dependencies) {
            end_run_of(&session.installation, store, context, &effect.issue)?;
        }
    }
    let end = IssueEnd {
        event: ending.event.clone(),
        comment: ending.comment.clone(),
        dependents: fate,
    };
    let outcome = store.end_issue(context, ending.issue, &end)?;
    let closed = match open {
        Some(pr) => Some(store.pr(pr.id)?).filter(|pr| pr.state == PrState::Closed),
        None => None,
    };
    let subtasks = IssueFilter {
        parent: Some(ending.issue.clone()),
        ..IssueFilter::default()
    };
    let subtasks = store.list_issues(&subtasks)?.items;
    let is_open = |issue: &&Issue| !issue.state.status().is_terminal();
    Ok(Ended {
        outcome,
        closed,
        open_subtasks: subtasks.iter().filter(is_open).count(),
    })
}
