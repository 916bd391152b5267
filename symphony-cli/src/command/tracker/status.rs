//! `symphony tracker status`.

use clap::Args;
use symphony_view::read;
use symphony_view::text::List;

use super::named::trackers_of;
use crate::app::App;
use crate::failure::Context as _;

/// What `tracker status` takes.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  symphony tracker status\n  symphony tracker status --json")]
pub(crate) struct StatusArgs {}

impl StatusArgs {
    #[expect(clippy::unused_self, reason = "every command is called the same way")]
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let session = app.session()?;
        let views = read::trackers(&session).context("show the trackers")?;
        if views.is_empty() {
            trackers_of(&session, None)?;
        }
        app.out.answer(&views.into_iter().collect::<List<_>>())
    }
}
