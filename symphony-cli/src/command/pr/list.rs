//! `symphony pr list`.

use clap::Args;
use symphony_core::id::IssueId;
use symphony_core::pull_request::PrState;
use symphony_store::PrFilter;
use symphony_view::read;

use crate::app::App;
use crate::command::plan::named_plan;
use crate::failure::Context as _;
use crate::value::{issue_id, named};

/// What `pr list` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  symphony pr list --state approved\n  symphony pr list --plan ship-it"
)]
pub(crate) struct ListArgs {
    /// Only pull requests in this state
    #[arg(short, long, value_name = "STATE", value_parser = named(PrState::NAMES, PrState::parse))]
    state: Option<PrState>,
    /// Only pull requests of this issue
    #[arg(short, long, value_name = "ISSUE", value_parser = issue_id)]
    issue: Option<IssueId>,
    /// Only pull requests of this plan
    #[arg(short, long, value_name = "PLAN|FILE", conflicts_with = "issue")]
    plan: Option<String>,
}

impl ListArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let session = app.session()?;
        let named = |text: &String| named_plan(app, &session, text);
        let plan = self.plan.as_ref().map(named).transpose();
        let filter = PrFilter {
            project: Some(session.project.id.clone()),
            state: self.state,
            issue: self.issue.clone(),
            plan: plan.context("list the pull requests")?,
            limit: None,
        };
        let prs = read::pull_requests(&session, &filter).context("list the pull requests")?;
        app.out.answer_long(&prs)
    }
}
