//! `symphony deliver`, hidden: tells people what waits for them, by the configured command.

use clap::Args;
use symphony_runner::database::back_up_in_helper;
use symphony_runner::forge::forge_due;
use symphony_runner::outreach::notify::deliver;
use symphony_runner::outreach::publish::publish_due;
use symphony_runner::tracker::sync_due;

use crate::app::App;
use crate::failure::Context as _;

/// What `deliver` takes.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct DeliverArgs {
    /// Publish pull requests instead
    #[arg(long)]
    publish: bool,
    /// Exchange news with trackers instead
    #[arg(long, conflicts_with = "publish")]
    sync: bool,
    /// Exchange pull requests with forges instead
    #[arg(long, conflicts_with_all = ["publish", "sync"])]
    forge: bool,
    /// Back the database up instead
    #[arg(long, conflicts_with_all = ["publish", "sync", "forge"])]
    backup: bool,
}

impl DeliverArgs {
    pub(crate) fn run(&self, app: &App) -> anyhow::Result<()> {
        let installation = app.surroundings.installation()?;
        if self.publish {
            return publish_due(&installation).context("publish pull requests");
        }
        if self.sync {
            return sync_due(&installation).context("exchange changes with trackers");
        }
        if self.forge {
            return forge_due(&installation).context("exchange pull requests with forges");
        }
        if self.backup {
            return back_up_in_helper(&installation).context("back the database up");
        }
        deliver(&installation).context("deliver notifications")
    }
}
