//! `symphony plan summary`.

use clap::Args;
use serde::Serialize;
use symphony_core::Timestamp;
use symphony_core::plan::state_file::{LeasedPhase, StateSummary, summarise};
use symphony_view::text::{Page, View, ago, in_future};

use super::state::{StateArg, read_state};
use crate::app::App;
use crate::failure::Context as _;

/// What `plan summary` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Shows what is complete, what failed and why, and which phases are being worked on. Changes \
                  nothing.\n\nExample:\n  symphony plan summary .symphony-state.json"
)]
pub(crate) struct SummaryArgs {
    #[command(flatten)]
    file: StateArg,
}

#[derive(Debug, Serialize)]
struct Summed {
    #[serde(flatten)]
    summary: StateSummary,
    #[serde(skip)]
    now: Timestamp,
}

impl View for Summed {
    fn write(&self, page: &mut Page) {
        for line in self.summary.summary.to_string().lines() {
            page.line(line);
        }
        if self.summary.running.is_empty() {
            return;
        }
        page.gap();
        page.line("Running:");
        for phase in &self.summary.running {
            page.line(&format!("- {}: {}", phase.id, session(phase, self.now)));
        }
    }
}

/// Says how long a phase stays with its session.
fn session(phase: &LeasedPhase, now: Timestamp) -> String {
    match phase.lease_until {
        Some(until) if phase.lease_has_run_out => format!(
            "the lease expired {}, `symphony plan ready` offers it again",
            ago(until, now)
        ),
        Some(until) => format!("the lease expires {}", in_future(until, now)),
        None => "taken without a lease".to_owned(),
    }
}

impl SummaryArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let file = &self.file.state;
        let now = Timestamp::now();
        let summary = summarise(&read_state(app, file)?, now)
            .with_context(|| format!("use the state file {}", file.display()))?;
        app.out.answer_long(&Summed { summary, now })
    }
}
