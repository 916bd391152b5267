//! `symphony plan ready`.

use clap::Args;
use symphony_core::Timestamp;
use symphony_core::plan::state_file::{ready_phases, start_ready};

use super::lease::lease_ms;
use super::state::{StateArg, change_state, read_state};
use crate::app::App;
use crate::failure::Context as _;

/// What `plan ready` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Prints `[{\"phase\", \"artifacts\", \"leaseUntil\"?}]`. Without `--start` nothing changes; with it, each phase \
                  goes to one session only, however many ask. A phase whose lease has expired is offered again, and has used up \
                  one attempt.\n\n\
                  Example:\n  symphony plan ready .symphony-state.json --start --lease 30m --max 4"
)]
pub(crate) struct ReadyArgs {
    #[command(flatten)]
    file: StateArg,
    /// Mark the printed phases as running
    #[arg(long)]
    start: bool,
    /// Offer the phases again if nothing is reported on them for this long, such as `90s`, `30m` or `2h`
    #[arg(long, value_name = "DURATION", requires = "start", value_parser = lease_ms)]
    lease: Option<u64>,
    /// Print at most this many phases; by default all
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max: Option<u32>,
}

impl ReadyArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let max = self
            .max
            .map_or(usize::MAX, |max| usize::try_from(max).unwrap_or(usize::MAX));
        let file = &self.file.state;
        let ready = if self.start {
            change_state(app, file, |state, now| {
                start_ready(state, max, self.lease, now)
            })?
        } else {
            let mut ready = ready_phases(&read_state(app, file)?, Timestamp::now())
                .with_context(|| format!("use the state file {}", file.display()))?;
            ready.truncate(max);
            ready
        };
        app.out.document(&ready)
    }
}
