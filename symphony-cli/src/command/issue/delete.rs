//! `symphony issue delete`.

use clap::Args;
use serde::Serialize;
use symphony_core::id::IssueId;
use symphony_core::issue::{DependentsFate, IssueEvent, Resolution};
use symphony_core::listing::list_few;
use symphony_runner::cancel::end_run_of;
use symphony_runner::session::Session;
use symphony_runner::upkeep::clean_up::give_up_branch;
use symphony_store::{IssueEnd, IssueReferrers, Links};

use crate::app::App;
use crate::failure::{Context as _, Exit, Stop};
use crate::question;
use crate::value::issue_id;

/// Issues that a refusal names; the rest is counted.
const NAMED_MAX: usize = 10;

/// What `issue delete` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Deleting is for issues that were added by mistake; `issue close` ends an issue and keeps its record. Commits that are \
                  not merged are saved to refs/symphony/rescue before the branch is removed, and the event log keeps the issue's \
                  history. An issue with a merged pull request is never deleted.\n\nExample:\n  symphony issue delete SYM-3 --yes"
)]
pub(crate) struct DeleteArgs {
    /// The issue
    #[arg(value_parser = issue_id)]
    issue: IssueId,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
    /// Delete it even if it has sub-tasks or other issues depend on it, and remove it from them
    #[arg(long)]
    detach: bool,
}

/// What was deleted.
#[derive(Debug, Serialize)]
struct DeletedView {
    identifier: IssueId,
    title: String,
    clean_up: String,
}

impl DeleteArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let what = || format!("delete {}", self.issue);
        let mut session = app.session()?;
        let issue = session.store.issue(&self.issue).with_context(what)?;
        self.refuse_named(&session.store.issue_referrers(&self.issue)?)
            .with_context(what)?;
        if !self.yes && !confirmed(app, &issue.id, &issue.title).with_context(what)? {
            app.out.note("Nothing was deleted.");
            return Ok(());
        }
        let clean_up = self.carry_out(&mut session).with_context(what)?;
        let left = clean_up.strip_prefix(&format!("{}: ", issue.id));
        let left = left.unwrap_or(&clean_up);
        let sentence = format!("Deleted {} ({}): {left}.", issue.id, issue.title);
        let view = DeletedView {
            identifier: issue.id,
            title: issue.title,
            clean_up,
        };
        app.out.done(&view, &sentence)
    }

    fn links(&self) -> Links {
        if self.detach {
            Links::Detach
        } else {
            Links::Refuse
        }
    }

    fn refuse_named(&self, found: &IssueReferrers) -> Result<(), Stop> {
        if let Some(pr) = found.merged {
            let message = format!("its pull request {pr} was merged");
            return Err(Stop::new(Exit::Refused, message)
                .hint("its record shows where that work came from, so it is kept"));
        }
        if self.detach || !found.has_links() {
            return Ok(());
        }
        let list = |ids: &[IssueId]| list_few(ids.iter().map(IssueId::as_str), NAMED_MAX);
        let mut names = Vec::new();
        match found.dependents.as_slice() {
            [] => {}
            [one] => names.push(format!("{one} depends on it")),
            several => names.push(format!("{} depend on it", list(several))),
        }
        match found.subtasks.as_slice() {
            [] => {}
            [one] => names.push(format!("{one} is its sub-task")),
            several => names.push(format!("{} are its sub-tasks", list(several))),
        }
        Err(Stop::new(Exit::Refused, names.join(", and "))
            .hint("`--detach` removes it from them first"))
    }

    /// Ends the issue, removes its worktree and branch, and only then the record: whatever dies in between, the issue is
    /// still known and the command can be typed again.
    fn carry_out(&self, session: &mut Session) -> anyhow::Result<String> {
        let store = &mut session.store;
        end_run_of(&session.installation, store, &App::as_human(), &self.issue)?;
        if !store.issue(&self.issue)?.state.status().is_terminal() {
            let reason = "it is being deleted".to_owned();
            let end = IssueEnd {
                event: IssueEvent::Closed {
                    resolution: Resolution::Cancelled,
                    reason,
                },
                comment: None,
                dependents: DependentsFate::Keep,
            };
            store.end_issue(&App::as_human(), &self.issue, &end)?;
        }
        let config = session.installation.project_config(&session.project)?;
        let clean_up = give_up_branch(store, &session.project, &config, &self.issue)?;
        store.delete_issue(&App::as_human(), &self.issue, self.links())?;
        Ok(clean_up)
    }
}

fn confirmed(app: &App, id: &IssueId, title: &str) -> anyhow::Result<bool> {
    if !question::is_possible(app.out) {
        return Err(Stop::new(
            Exit::Usage,
            "there is no terminal on which to ask for confirmation",
        )
        .hint("`--yes` deletes it without asking")
        .into());
    }
    question::confirm(&format!(
        "Delete {id} ({title}) with its comments, runs and pull requests?"
    ))
}
