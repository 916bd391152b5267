//! Ending an issue by a person's word: its live run first, then the issue and what depends on it in one step.

use serde::Serialize;
use symphony_core::id::IssueId;
use symphony_core::issue::{
    DependentEffect, DependentsFate, IssueEvent, IssueStatus, Resolution, settle_dependents,
};
use symphony_core::listing::list_few;
use symphony_core::pull_request::{PrState, PullRequest};
use symphony_runner::cancel::end_run_of;
use symphony_store::{EndedIssue, IssueEnd, IssueFilter, Store};

use crate::app::App;
use crate::failure::{Exit, Stop};
use crate::output::plural;
use crate::place::Session;
use crate::question::{self, Choice};
use crate::view::IssueView;

/// Dependent issues that a question or an answer names; the rest is counted.
const NAMED_MAX: usize = 5;

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
            for effect in settle_dependents(self.issue, fate, &dependencies) {
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
        let direct = settle_dependents(self.issue, DependentsFate::Keep, &dependencies);
        if direct.is_empty() {
            return Ok(DependentsFate::Keep);
        }
        if let Some(fate) = self.dependents {
            return Ok(fate);
        }
        let names = list_few(direct.iter().map(|effect| effect.issue.as_str()), NAMED_MAX);
        let depend = if direct.len() == 1 {
            "depends"
        } else {
            "depend"
        };
        if question::is_possible(app.out) {
            let question = format!("{names} {depend} on {}. What happens now?", self.issue);
            let choices = [
                Choice::new('k', "keep", "wait until you decide"),
                Choice::new('c', "cancel", "cancel what depends on it too"),
                Choice::new('r', "release", "go on without it"),
            ];
            if let Some(answer) = question::ask(&question, &choices)? {
                return Ok(DependentsFate::parse(answer)?);
            }
        }
        let message = format!("{names} {depend} on it");
        Err(Stop::new(Exit::Usage, message)
            .hint("add `--dependents keep` (they wait), `cancel` (they are cancelled too) or `release` (they go on without it)")
            .into())
    }
}

/// What ending an issue did, as JSON.
#[derive(Debug, Serialize)]
pub(super) struct EndedView {
    #[serde(flatten)]
    issue: IssueView,
    dependents: Vec<DependentEffect>,
}

/// Returns what ending an issue did, for a program and in words.
pub(super) fn ending_view(ended: Ended) -> (EndedView, String) {
    let Ended {
        outcome: EndedIssue { issue, dependents },
        closed,
        open_subtasks,
    } = ended;
    let mut sentence = format!("{} is `{}` now.", issue.id, issue.state.status());
    if let Some(pr) = closed {
        // what depends on the issue starts from a base without it
        sentence.push_str(&format!(
            " Pull request {} is closed, not merged; its commits are on {} only.",
            pr.id, pr.branch
        ));
    }
    if let Some(first) = dependents.first() {
        sentence.push_str(&format!(
            " {}",
            in_words(first.fate, &dependents, &issue.id)
        ));
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

fn in_words(fate: DependentsFate, effects: &[DependentEffect], gone: &IssueId) -> String {
    let names = list_few(
        effects.iter().map(|effect| effect.issue.as_str()),
        NAMED_MAX,
    );
    let one = effects.len() == 1;
    match fate {
        DependentsFate::Keep => format!(
            "{names} {} for your decision: `symphony inbox` lists {}.",
            if one { "waits" } else { "wait" },
            if one { "it" } else { "them" },
        ),
        DependentsFate::Cancel => format!("Cancelled too: {names}."),
        DependentsFate::Release => format!(
            "{names} no longer {} on {gone}.",
            if one { "depends" } else { "depend" }
        ),
    }
}
