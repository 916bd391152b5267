//! `symphony plan retry-phase`, `symphony plan resolve` and `symphony plan classify-error`.

use clap::Args;
use symphony_core::id::PlanPhaseId;
use symphony_core::plan::failure::{FailureEvidence, classify_failure};
use symphony_core::plan::state::Choice;
use symphony_core::plan::state_file::{RetryForce, resolve, retry_phase};

use super::settings::failure_patterns;
use super::state::{StateArg, change_state};
use crate::app::App;
use crate::value::{named, text_or_stdin};

/// What `plan retry-phase` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  symphony plan retry-phase .symphony-state.json build-api --force"
)]
pub(crate) struct RetryPhaseArgs {
    #[command(flatten)]
    file: StateArg,
    /// The phase
    #[arg(value_parser = |text: &str| PlanPhaseId::parse(text))]
    phase: PlanPhaseId,
    /// Retry the phase even if it is not due yet, awaits a decision, has failed, was aborted, or is running; a running phase is taken away from its session
    #[arg(long)]
    force: bool,
}

/// What `plan resolve` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  symphony plan resolve .symphony-state.json build-api skip_phase"
)]
pub(crate) struct ResolveArgs {
    #[command(flatten)]
    file: StateArg,
    /// The phase that awaits a decision
    #[arg(value_parser = |text: &str| PlanPhaseId::parse(text))]
    phase: PlanPhaseId,
    /// Retry it once more, skip it, abort it with everything that depends on it, or abort the whole plan
    #[arg(value_parser = named(Choice::NAMES, Choice::parse))]
    choice: Choice,
}

/// What `plan classify-error` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  symphony plan classify-error 'connect ECONNREFUSED 127.0.0.1:5432'"
)]
pub(crate) struct ClassifyErrorArgs {
    /// The error's text; `-` reads standard input
    #[arg(allow_hyphen_values = true)]
    text: String,
}

impl RetryPhaseArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let force = if self.force {
            RetryForce::Now
        } else {
            RetryForce::WhenDue
        };
        let answer = change_state(app, &self.file.state, |state, now| {
            retry_phase(state, &self.phase, force, now)
        })?;
        app.out.document(&answer)
    }
}

impl ResolveArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let answer = change_state(app, &self.file.state, |state, now| {
            resolve(state, &self.phase, self.choice, now)
        })?;
        app.out.document(&answer)
    }
}

impl ClassifyErrorArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let text = text_or_stdin(&self.text)?;
        app.out.document(&classify_failure(&FailureEvidence {
            text: &text,
            patterns: Some(&failure_patterns(app)),
            ..FailureEvidence::default()
        }))
    }
}
