//! What `doctor` takes, and which of its answers is given.

use clap::Args;

use super::{audit, cron, installation};
use crate::app::App;

/// What `doctor` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  symphony doctor && symphony run\n  symphony doctor --audit\n  symphony doctor --cron"
)]
pub(crate) struct DoctorArgs {
    /// Check what must always hold: database, branches, worktrees, processes, secrets
    #[arg(long)]
    audit: bool,
    /// Check what differs under cron, and print the crontab's line and a systemd timer
    #[arg(long, conflicts_with = "audit")]
    cron: bool,
}

impl DoctorArgs {
    pub(crate) fn run(&self, app: &App) -> anyhow::Result<()> {
        match (self.audit, self.cron) {
            (true, _) => audit::run(app),
            (false, true) => cron::run(app),
            (false, false) => installation::run(app),
        }
    }
}
