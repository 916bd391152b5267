//! `symphony deliver`, hidden: tells people what waits for them, by the configured command.

use anyhow::Context as _;
use clap::Args;
use symphony_runner::notify::deliver;

use crate::app::App;

/// What `deliver` takes.
#[derive(Debug, Args)]
pub(crate) struct DeliverArgs {}

impl DeliverArgs {
    pub(crate) fn run(&self, app: &App) -> anyhow::Result<()> {
        let Self {} = self;
        let installation = app.surroundings.installation()?;
        deliver(&installation).context("deliver notifications")
    }
}
