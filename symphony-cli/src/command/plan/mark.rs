//! `symphony plan mark-complete` and `symphony plan mark-failed`.

use std::path::Path;

use clap::Args;
use symphony_core::id::PlanPhaseId;
use symphony_core::plan::state::RetryMode;
use symphony_core::plan::state_file::{FailedPhase, mark_complete, mark_failed};
use symphony_core::plan::{Artifact, normalise_path};

use super::settings::failure_patterns;
use super::state::{StateArg, change_state};
use crate::app::App;
use crate::failure::{Exit, Stop};
use crate::json::from_json;
use crate::value::{text_or_stdin, text_within};

/// Longest list of artifacts: as many as a phase may have, each with a long content.
const ARTIFACTS_BYTES_MAX: usize = 64 * 1024 * 1024;

/// What `plan mark-complete` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  symphony plan mark-complete .symphony-state.json set-up-db '[{\"type\": \"file_created\", \"path\": \"src/db.ts\"}]'"
)]
pub(crate) struct MarkCompleteArgs {
    #[command(flatten)]
    file: StateArg,
    /// The phase
    #[arg(value_parser = |text: &str| PlanPhaseId::parse(text))]
    phase: PlanPhaseId,
    /// What it produced, as a JSON array of `{"type", "path"?, "name"?, "content"?}`; `-` reads standard input
    artifacts: Option<String>,
}

/// What `plan mark-failed` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "The error's class decides what happens next: some errors are retried automatically, the others wait \
                  for a decision.\n\nExample:\n  symphony plan mark-failed .symphony-state.json build-api '3 tests \
                  failed'"
)]
pub(crate) struct MarkFailedArgs {
    #[command(flatten)]
    file: StateArg,
    /// The phase
    #[arg(value_parser = |text: &str| PlanPhaseId::parse(text))]
    phase: PlanPhaseId,
    /// What went wrong; `-` reads standard input
    #[arg(allow_hyphen_values = true)]
    error: String,
    /// Do not retry the phase
    #[arg(long)]
    no_retry: bool,
}

impl MarkCompleteArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let artifacts = self.artifacts.as_deref().map(parse_artifacts).transpose()?;
        let mut artifacts = artifacts.unwrap_or_default();
        let state = app.surroundings.current.join(&self.file.state);
        make_relative(&mut artifacts, &state);
        let answer = change_state(app, &self.file.state, |state, now| {
            mark_complete(state, &self.phase, artifacts, now)
        })?;
        app.out.document(&answer)
    }
}

/// Agents like to give full paths: those below the state file's folder become relative to it. What is left absolute is
/// refused with the rest.
fn make_relative(artifacts: &mut [Artifact], state: &Path) {
    let real = state.canonicalize().ok();
    let folders = [Some(state), real.as_deref()];
    let roots = folders
        .into_iter()
        .filter_map(|file| file?.parent()?.to_str());
    let roots: Vec<&str> = roots.collect();
    for path in artifacts
        .iter_mut()
        .filter_map(|artifact| artifact.path.as_mut())
    {
        let relative = roots
            .iter()
            .find_map(|root| normalise_path(path, Some(root)).ok());
        if let Some(relative) = relative {
            *path = relative;
        }
    }
}

fn parse_artifacts(typed: &str) -> anyhow::Result<Vec<Artifact>> {
    let text = text_within(typed, ARTIFACTS_BYTES_MAX)?;
    from_json(text.as_bytes()).map_err(|problem| {
        Stop::new(
            Exit::Usage,
            format!("the artifacts cannot be read: {problem}"),
        )
        .hint(
            "give a JSON array in single quotes, such as '[{\"type\": \"file_created\", \"path\": \"src/a.rs\"}]'",
        )
        .into()
    })
}

impl MarkFailedArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let error = text_or_stdin(&self.error)?;
        let mode = if self.no_retry {
            RetryMode::Never
        } else {
            RetryMode::Again
        };
        let failed = FailedPhase {
            phase: &self.phase,
            error: &error,
            patterns: &failure_patterns(app),
        };
        let answer = change_state(app, &self.file.state, |state, now| {
            mark_failed(state, &failed, mode, now)
        })?;
        app.out.document(&answer)
    }
}
