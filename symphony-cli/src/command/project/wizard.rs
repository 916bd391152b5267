//! `symphony project wizard`.

use clap::Args;
use serde::Serialize;
use symphony_core::agent::AgentType;
use symphony_core::id::ProjectId;
use symphony_core::project::WizardState;
use symphony_runner::repository::open_repository;
use symphony_runner::session::Session;
use symphony_store::{Project, RunFilter};
use symphony_view::RunView;
use symphony_view::text::{Page, View};
use symphony_workspace::config_file::CONFIG_FILE_NAME;

use super::find::find_project;
use crate::app::App;
use crate::command::{ask_wizard, propose};
use crate::failure::Context as _;

/// Runs that are looked through for the wizard's last one: it comes first, so it is among a project's oldest or newest.
const RUNS_LOOKED_AT: u32 = 1_000;

/// What `project wizard` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "The setup wizard is an agent that finds gates, sensitive paths and instructions, once, before any \
                  other work on its project starts.\n\nExample:\n  symphony project wizard --again"
)]
pub(crate) struct WizardArgs {
    /// The project; without it, the one you are in
    project: Option<ProjectId>,
    /// Run it again at the next tick, and enable it if it is disabled
    #[arg(long)]
    again: bool,
}

/// How far a wizard came.
#[derive(Debug, Serialize)]
struct WizardView {
    project: ProjectId,
    wizard: WizardState,
    /// `wizard_enabled`.
    enabled: bool,
    /// Its last run.
    run: Option<RunView>,
    /// What a person may want to do.
    #[serde(skip)]
    advice: Option<String>,
}

impl View for WizardView {
    fn write(&self, page: &mut Page) {
        let running = self.run.as_ref().is_some_and(|run| run.status.is_live());
        let text = match (self.wizard, self.enabled) {
            _ if running => "is running",
            (WizardState::Pending, true) => "runs at the next tick, before everything else",
            (WizardState::Pending, false) => {
                "has not run: `symphony project wizard --again` starts it"
            }
            (WizardState::Completed, _) => {
                "configured the project: `symphony project show` shows what it found"
            }
            (WizardState::Failed, _) => "failed: `symphony project wizard --again` tries again",
        };
        page.line(&format!("The setup wizard of {} {text}.", self.project));
        if let Some(run) = &self.run {
            page.line(&run.outcome());
        }
        if let Some(advice) = &self.advice {
            page.line(advice);
        }
    }
}

impl WizardArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let mut session = app.session()?;
        let mut project = find_project(&session, self.project.as_ref())?;
        let what = || "run the setup wizard again".to_owned();
        if self.again {
            project = session
                .store
                .restart_wizard(&App::as_human(), &project.id)
                .with_context(what)?;
        }
        let config = session
            .installation
            .project_config(&project)
            .with_context(what)?;
        let mut enabled = config.wizard_enabled;
        let mut advice = None;
        if self.again {
            let file = session
                .installation
                .config_paths
                .explicit
                .clone()
                .unwrap_or_else(|| project.root.join(CONFIG_FILE_NAME));
            let proposal = open_repository(&project, &config)
                .map(|repository| propose(&repository))
                .with_context(what)?;
            (project, advice) =
                ask_wizard(&mut session.store, project, &file, &proposal).with_context(what)?;
            enabled = true;
        }
        let run = last_run(&session, &project)?;
        app.out.answer(&WizardView {
            wizard: project.wizard,
            enabled,
            run,
            advice,
            project: project.id,
        })
    }
}

fn last_run(session: &Session, project: &Project) -> anyhow::Result<Option<RunView>> {
    let runs = session.store.runs(&RunFilter {
        project: Some(project.id.clone()),
        limit: Some(RUNS_LOOKED_AT),
        ..RunFilter::default()
    })?;
    let wizard = runs.into_iter().find(|run| run.agent == AgentType::Wizard);
    Ok(wizard.map(RunView::from))
}
