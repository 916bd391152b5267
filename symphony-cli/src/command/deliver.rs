//! `symphony deliver`, hidden: tells people what waits for them, by the configured command.

use clap::Args;
use symphony_runner::outreach::notify::deliver;
use symphony_runner::outreach::publish::publish_due;

use crate::app::App;
use crate::failure::Context as _;

/// What `deliver` takes.
#[derive(Debug, Args)]
pub(crate) struct DeliverArgs {
    /// Publish pull requests instead
    #[arg(long)]
    publish: bool,
}

impl DeliverArgs {
    pub(crate) fn run(&self, app: &App) -> anyhow::Result<()> {
        let installation = app.surroundings.installation()?;
        if self.publish {
            return publish_due(&installation).context("publish pull requests");
        }
        deliver(&installation).context("deliver notifications")
    }
}
