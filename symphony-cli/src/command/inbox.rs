//! `symphony inbox`.

use anyhow::Context as _;
use clap::Args;
use symphony_core::Timestamp;
use symphony_core::tick::plan_tick;
use symphony_runner::inbox::inbox;
use symphony_runner::tick::observe_snapshot;

use crate::app::App;
use crate::output::List;
use crate::place::Session;
use crate::view::InboxView;

/// What `inbox` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "All projects of the installation, the oldest first; each item with the commands that answer it.\n\n\
                  Example:\n  symphony inbox"
)]
pub(crate) struct InboxArgs {}

impl InboxArgs {
    pub(crate) fn run(&self, app: &App) -> anyhow::Result<()> {
        let Self {} = self;
        let mut session = app.session()?;
        let view = load(&mut session).context("show the inbox")?;
        app.out.answer_long(&view)
    }
}

fn load(session: &mut Session) -> anyhow::Result<List<InboxView>> {
    let now = Timestamp::now();
    let snapshot = observe_snapshot(&session.installation, &mut session.store, now)?;
    let plan = plan_tick(&snapshot, now);
    let items = inbox(&session.store, &snapshot, &plan, now)?;
    Ok(items.into_iter().map(InboxView::from).collect())
}
