//! What `doctor` takes, and which of its answers is given.

use clap::Args;

use super::{audit, cron, gates, installation, service};
use crate::app::App;
use crate::trial::{SECONDS_DEFAULT, SECONDS_MAX};

/// What `doctor` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  symphony doctor && symphony run\n  symphony doctor --gates\n  symphony doctor --audit\n  symphony doctor --cron"
)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag that a person types; clap keeps them apart"
)]
pub(crate) struct DoctorArgs {
    /// Check that the database agrees with branches, worktrees and processes, and that no secret has leaked
    #[arg(long)]
    audit: bool,
    /// Check what differs under cron, and print a line for the crontab and a systemd timer
    #[arg(long, conflicts_with = "audit")]
    cron: bool,
    /// Print a systemd service that serves the page and runs ticks
    #[arg(long, conflicts_with_all = ["audit", "cron"])]
    service: bool,
    /// Run set-up and gates in a fresh checkout of the base branch, and show what fails
    #[arg(long, conflicts_with_all = ["audit", "cron", "service"])]
    gates: bool,
    /// Time limit for set-up and gates together, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = SECONDS_DEFAULT, value_parser = clap::value_parser!(u64).range(1..=SECONDS_MAX), requires = "gates")]
    try_limit: u64,
}

impl DoctorArgs {
    pub(crate) fn run(&self, app: &App) -> anyhow::Result<()> {
        if self.gates {
            return gates::run(app, self.try_limit);
        }
        if self.service {
            return service::run(app);
        }
        match (self.audit, self.cron) {
            (true, _) => audit::run(app),
            (false, true) => cron::run(app),
            (false, false) => installation::run(app),
        }
    }
}
