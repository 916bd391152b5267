//! `symphony issue retry`.

use clap::Args;
use symphony_core::id::IssueId;
use symphony_core::issue::{Issue, IssueStatus};
use symphony_runner::RunnerError;
use symphony_runner::absorb::{absorb_for_issue, absorbed_text};
use symphony_runner::order::{OrderRefusal, retry_issue};
use symphony_store::Store;
use symphony_view::IssueView;

use crate::app::App;
use crate::failure::{Context as _, Exit, Stop};
use crate::value::issue_id;

/// What `issue retry` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  symphony issue retry SYM-1")]
pub(crate) struct RetryArgs {
    /// The issue
    #[arg(value_parser = issue_id)]
    issue: IssueId,
    /// First commit the contents of git repositories that an agent created inside the worktree, as plain files
    #[arg(long)]
    absorb: bool,
}

impl RetryArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let mut session = app.session()?;
        if self.absorb {
            let config = session.installation.project_config(&session.project)?;
            let absorbed = absorb_for_issue(&session.store, &session.project, &config, &self.issue)
                .with_context(|| format!("absorb nested repositories of {}", self.issue))?;
            app.out.note(&absorbed_text(&absorbed));
        }
        let issue = self
            .carry_out(&mut session.store)
            .with_context(|| format!("retry {}", self.issue))?;
        let sentence = if issue.state.status() == IssueStatus::Todo {
            format!("{} will be tried again at the next tick.", issue.id)
        } else {
            format!("The count of attempts at {} was reset.", issue.id)
        };
        app.out.done(&IssueView::from(issue), &sentence)
    }

    fn carry_out(&self, store: &mut Store) -> anyhow::Result<Issue> {
        let retried = retry_issue(store, &App::as_human(), &self.issue);
        retried.map_err(|error| match error {
            RunnerError::Order(OrderRefusal::Ended { issue, status }) => {
                Stop::new(Exit::Refused, format!("it is `{status}`"))
                    .hint(format!("`symphony issue move {issue} todo` reopens it"))
                    .into()
            }
            other => other.into(),
        })
    }
}
