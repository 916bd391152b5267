//! `symphony plan status` and `symphony plan list`.

use clap::Args;
use symphony_core::Timestamp;
use symphony_runner::tick::observe_snapshot;
use symphony_view::text::List;
use symphony_view::{PlanListed, PlanView};

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
        let holds = session.store.holds().context("read what is on hold")?;
        let mut view = PlanView::of(
            &session.store,
            &session.project,
            &record,
            &session.configured_gates(),
        )?
        .with_holds(&holds);
        if view.is_under_review() {
            let (installation, now) = (&session.installation, Timestamp::now());
            let snapshot = observe_snapshot(installation, &mut session.store, now)
                .context("read the base branch")?;
            view = view.with_base(&snapshot.base);
        }
        app.out.answer_long(&view)
    }
}

impl ListArgs {
    #[expect(clippy::unused_self, reason = "every command is run in one form")]
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let session = app.session()?;
        let plans = session
            .store
            .plans(Some(&session.project.id))
            .context("list the plans")?;
        app.out
            .answer_long(&plans.into_iter().map(PlanListed).collect::<List<_>>())
    }
}
