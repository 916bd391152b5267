//! `symphony issue move`.

use clap::Args;
use symphony_core::id::IssueId;
use symphony_core::issue::{
    DependentsFate, Issue, IssueEvent, IssueStatus, Review, allowed_moves, human_move,
};
use symphony_core::pull_request::PrState;
use symphony_runner::cancel::end_run_of;
use symphony_runner::session::Session;
use symphony_store::StoreError;
use symphony_view::IssueView;

use super::ending::{Ending, closed_in_words, ending_view, now_in};
use crate::app::App;
use crate::failure::{Context as _, Exit, Stop};
use crate::value::{issue_id, named};

/// What `issue move` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  symphony issue move SYM-1 todo\n  symphony issue move SYM-1 cancelled --delete-branch"
)]
pub(crate) struct MoveArgs {
    /// The issue
    #[arg(value_parser = issue_id)]
    issue: IssueId,
    /// The new status
    #[arg(value_parser = named(IssueStatus::NAMES, IssueStatus::parse))]
    status: IssueStatus,
    /// Delete its branch with its worktree, merged or not (with `cancelled`)
    #[arg(long = "delete-branch")]
    delete_branch: bool,
    /// What happens to the issues that depend on it (with `cancelled`); asked on a terminal if left out
    #[arg(long, value_name = "CHOICE", value_parser = named(DependentsFate::NAMES, DependentsFate::parse))]
    dependents: Option<DependentsFate>,
}

impl MoveArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        self.refuse_flags()?;
        let mut session = app.session()?;
        let what = || format!("move {} to `{}`", self.issue, self.status);
        let status = session
            .store
            .issue(&self.issue)
            .with_context(what)?
            .state
            .status();
        if self.status == IssueStatus::Cancelled && !status.is_terminal() {
            return self.cancel(app, &mut session).with_context(what);
        }
        let open = session.store.open_pr(&self.issue).with_context(what)?;
        let issue = self.carry_out(&mut session).with_context(what)?;
        let mut sentence = now_in(&issue.id, issue.state.status());
        if let Some(pr) = open
            && session.store.pr(pr.id).with_context(what)?.state == PrState::Closed
        {
            sentence = format!("{sentence} {}", closed_in_words(&pr));
        }
        app.out.done(&IssueView::from(issue), &sentence)
    }

    fn refuse_flags(&self) -> Result<(), Stop> {
        let flags = [
            (self.delete_branch, "--delete-branch"),
            (self.dependents.is_some(), "--dependents"),
        ];
        let wrong = flags.iter().find(|(is_given, _)| *is_given);
        match wrong {
            Some((_, flag)) if self.status != IssueStatus::Cancelled => {
                let message = format!("{flag} cannot be used with `{}`", self.status);
                Err(Stop::new(Exit::Usage, message)
                    .hint(format!("{flag} is for moving to `cancelled`")))
            }
            _ => Ok(()),
        }
    }

    fn cancel(&self, app: &App, session: &mut Session) -> anyhow::Result<()> {
        let ending = Ending {
            issue: &self.issue,
            event: IssueEvent::Cancelled,
            comment: None,
            dependents: self.dependents,
        };
        let ended = ending.carry_out(app, session)?;
        if self.delete_branch {
            let context = App::as_human();
            session
                .store
                .request_branch_deletion(&context, &self.issue)?;
        }
        let (view, sentence) = ending_view(ended);
        app.out.done(&view, &sentence)
    }

    fn carry_out(&self, session: &mut Session) -> anyhow::Result<Issue> {
        let store = &mut session.store;
        let issue = store.issue(&self.issue)?;
        let review = if store.has_open_review(&self.issue)? {
            Review::Open
        } else {
            Review::None
        };
        let could = allowed_moves(&issue.state, review).contains(&self.status);
        // a move that is refused must not cost the run that is at work
        let issue = if could && end_run_of(&session.installation, store, &self.issue)?.is_some() {
            store.issue(&self.issue)?
        } else {
            issue
        };
        let context = App::as_human();
        let moved = if could && issue.state.status() == self.status {
            // the end of its run brought it there
            issue
        } else {
            let event = human_move(&issue.state, self.status, review).map_err(|source| {
                StoreError::Transition {
                    id: self.issue.to_string(),
                    source,
                }
            })?;
            store.move_issue(&context, &self.issue, &event)?
        };
        Ok(moved)
    }
}
