//! `symphony plan prompt`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde::Serialize;
use symphony_core::id::PlanPhaseId;
use symphony_core::plan::state_file::phase_artifacts;
use symphony_core::plan::{Artifact, Phase};
use symphony_prompt::{ProjectContext, build_task_prompt};
use symphony_runner::prompts::worker_prompt::{WorkerPromptRequest, build_worker_prompt};

use super::settings::{plan_settings, project_root};
use super::source::load_plan;
use super::state::read_state;
use crate::app::App;
use crate::failure::{Context as _, Exit, Stop};

/// What `plan prompt` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Prints the exact text of the prompt, and nothing else.\n\nExample:\n  symphony plan prompt plan.md build-api --style task --state .symphony-state.json"
)]
pub(crate) struct PromptArgs {
    /// The plan file
    file: PathBuf,
    /// The phase
    #[arg(value_parser = |text: &str| PlanPhaseId::parse(text))]
    phase: PlanPhaseId,
    /// `worker`: the whole prompt; `task`: the short one for a skill that starts the agents itself
    #[arg(long, value_enum, default_value_t = Style::Worker)]
    style: Style,
    /// Include the artifacts that are recorded in this state file
    #[arg(long, value_name = "STATE")]
    state: Option<PathBuf>,
}

/// Which template.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Style {
    Worker,
    Task,
}

/// In JSON `{"version", "phase", "prompt", "artifacts", "project_context"?, "files"?, "truncated"?}`; the last three
/// of the style `worker`.
#[derive(Debug, Serialize)]
struct Built<'a> {
    phase: &'a PlanPhaseId,
    prompt: String,
    /// How many were passed on.
    artifacts: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    project_context: Option<ProjectContext>,
    /// Paths of the files whose text is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    files: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    truncated: Option<bool>,
}

impl PromptArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let source = load_plan(app, Some(&self.file))?;
        let position = source.dag.position(&self.phase);
        let phase = position.and_then(|at| source.plan.phases.get(at));
        let phase = phase.ok_or_else(|| {
            let message = format!(
                "the plan {} has no phase `{}`",
                self.file.display(),
                self.phase
            );
            let hint = format!("`symphony plan graph {}` lists them", self.file.display());
            Stop::new(Exit::NotFound, message).hint(hint)
        })?;
        let artifacts = self.artifacts(app)?;
        let built = match self.style {
            Style::Task => Built {
                phase: &self.phase,
                prompt: build_task_prompt(phase, &artifacts),
                artifacts: artifacts.len(),
                project_context: None,
                files: None,
                truncated: None,
            },
            Style::Worker => self.worker(app, phase.clone(), artifacts)?,
        };
        if app.out.is_json() {
            return app.out.json(&built);
        }
        app.out.write_exact(&built.prompt)
    }

    fn artifacts(&self, app: &App) -> anyhow::Result<Vec<Artifact>> {
        let Some(file) = &self.state else {
            return Ok(Vec::new());
        };
        phase_artifacts(&read_state(app, file)?, &self.phase)
            .with_context(|| format!("use the state file {}", file.display()))
    }

    fn worker(
        &self,
        app: &App,
        phase: Phase,
        artifacts: Vec<Artifact>,
    ) -> anyhow::Result<Built<'_>> {
        let root = project_root(app);
        let settings = plan_settings(app)?;
        let request = WorkerPromptRequest {
            root,
            project_name: None,
            phase,
            artifacts,
            global_constraints: settings.global_constraints,
            instructions: settings.instructions,
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .context("start reading files")?;
        let loaded = runtime.block_on(build_worker_prompt(request))?;
        if loaded.truncated {
            app.out
                .warn("the prompt was too long: its end, or files in it, were cut");
        }
        Ok(Built {
            phase: &self.phase,
            prompt: loaded.built.prompt,
            artifacts: loaded.built.artifacts,
            project_context: Some(loaded.built.project_context),
            files: Some(loaded.built.files),
            truncated: Some(loaded.truncated),
        })
    }
}
