//! `symphony forge status`.

use clap::Args;
use symphony_view::read;

use super::configured::forge_of;
use crate::app::App;
use crate::failure::Context as _;

/// What `forge status` takes.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  symphony forge status\n  symphony forge status --json")]
pub(crate) struct StatusArgs {}

impl StatusArgs {
    #[expect(clippy::unused_self, reason = "every command is called the same way")]
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let session = app.session()?;
        forge_of(&session)?;
        let view = read::forge(&session).context("show the forge")?;
        app.out.answer(&view)
    }
}
