//! `symphony spending`.

use clap::Args;
use symphony_core::Timestamp;
use symphony_view::read;

use crate::app::App;
use crate::failure::Context as _;

/// What `spending` takes.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  symphony spending\n  symphony spending --days 7 --json")]
pub(crate) struct SpendingArgs {
    /// The days to show (UTC), today included
    #[arg(short, long, value_name = "NUMBER", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=3660))]
    days: u32,
}

impl SpendingArgs {
    /// Runs it.
    ///
    /// # Errors
    /// When the database cannot be read, or the answer cannot be written.
    pub(crate) fn run(&self, app: &App) -> anyhow::Result<()> {
        let session = app.session()?;
        let view = read::spending(&session, self.days, Timestamp::now());
        app.out.answer_long(&view.context("show the spending")?)
    }
}
