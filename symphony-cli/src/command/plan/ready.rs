//! `symphony plan ready`.

use anyhow::Context as _;
use clap::Args;
use symphony_core::Timestamp;
use symphony_core::plan::state_file::{ready_phases, start_ready};

use super::state::{StateArg, change_state, read_state};
use crate::app::App;

/// What `plan ready` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Prints `[{\"phase\", \"artifacts\"}]`. Without `--start` nothing changes; with it each phase is given out once, however many ask.\n\nExample:\n  symphony plan ready .symphony-state.json --start --max 4"
)]
pub(crate) struct ReadyArgs {
    #[command(flatten)]
    file: StateArg,
    /// Mark the phases that are printed as running
    #[arg(long)]
    start: bool,
    /// Print at most so many phases
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
            change_state(app, file, |state, now| start_ready(state, max, now))?
        } else {
            let mut ready = ready_phases(&read_state(app, file)?, Timestamp::now())
                .with_context(|| format!("use the state file {}", file.display()))?;
            ready.truncate(max);
            ready
        };
        app.out.document(&ready)
    }
}
