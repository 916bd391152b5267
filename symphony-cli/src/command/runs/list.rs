//! `symphony runs list`.

use clap::Args;
use symphony_core::id::IssueId;
use symphony_store::RunFilter;
use symphony_view::read;

use crate::app::App;
use crate::command::plan::named_plan;
use crate::failure::Context as _;
use crate::value::issue_id;

/// What `runs list` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  symphony runs list --issue SYM-1")]
pub(crate) struct ListArgs {
    /// Only runs on this issue
    #[arg(short, long, value_name = "ISSUE", value_parser = issue_id)]
    issue: Option<IssueId>,
    /// Only runs on phases of this plan
    #[arg(long, value_name = "PLAN|FILE", conflicts_with = "issue")]
    plan: Option<String>,
    /// Only live runs
    #[arg(long)]
    live: bool,
    /// Show at most this many; 0 shows all
    #[arg(short = 'n', long, value_name = "NUMBER", default_value_t = 100)]
    limit: u32,
}

impl ListArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let session = app.session()?;
        // the inbox names issues of every project of the installation
        let project = match &self.issue {
            Some(issue) => session.store.issue(issue).context("list the runs")?.project,
            None => session.project.id.clone(),
        };
        let named = |text: &String| named_plan(app, &session, text);
        let plan = self.plan.as_ref().map(named).transpose();
        let filter = RunFilter {
            project: Some(project),
            issue: self.issue.clone(),
            plan: plan.context("list the runs")?,
            live_only: self.live,
            agents_only: false,
            limit: (self.limit > 0).then_some(self.limit),
        };
        let runs = read::runs(&session, &filter).context("list the runs")?;
        app.out.answer_long(&runs)
    }
}
