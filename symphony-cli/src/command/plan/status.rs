//! `symphony plan status` and `symphony plan list`.

use clap::Args;
use symphony_core::Timestamp;
use symphony_view::read;

use super::record::PlanChoice;
use crate::app::App;
use crate::failure::Context as _;

/// What `plan status` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  symphony plan status")]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    plan: PlanChoice,
}

/// What `plan list` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  symphony plan list")]
pub(crate) struct ListArgs {}

impl StatusArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let mut session = app.session()?;
        let record = self.plan.find(app, &mut session)?;
        let view = read::plan(&mut session, &record, Timestamp::now());
        let view = view.context("show the plan")?;
        app.out.answer_long(&view)
    }
}

impl ListArgs {
    #[expect(clippy::unused_self, reason = "every command is run in one form")]
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let session = app.session()?;
        let plans = read::plans(&session).context("list the plans")?;
        app.out.answer_long(&plans)
    }
}
