//! `symphony forge sync`.

use clap::Args;
use symphony_runner::forge::forge_now;
use symphony_view::ForgeSyncView;

use super::configured::forge_of;
use crate::app::App;
use crate::failure::{Context as _, Exit, Stop};

/// What `forge sync` takes.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  symphony forge sync\n  symphony forge sync --json")]
pub(crate) struct SyncArgs {}

impl SyncArgs {
    #[expect(clippy::unused_self, reason = "every command is called the same way")]
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let session = app.session()?;
        forge_of(&session)?;
        let waits = || {
            app.out.note(
                "Another process is exchanging pull requests with the forge. Waiting up to five minutes for it to end; press Ctrl-C to stop waiting.",
            );
        };
        let report =
            forge_now(&session, &waits).context("exchange pull requests with the forge")?;
        let view = ForgeSyncView::from(report.unwrap_or_default());
        app.out.answer(&view)?;
        if view.hold.is_some() {
            let what = "the forge did not answer as expected".to_owned();
            return Err(Stop::new(Exit::Failed, what)
                .hint("run `symphony forge check` for details; nothing is lost, and Symphony tries again by itself")
                .into());
        }
        Ok(())
    }
}
