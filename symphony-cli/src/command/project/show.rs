//! `symphony project show`.

use clap::Args;
use symphony_core::agent::AgentType;
use symphony_core::id::ProjectId;
use symphony_view::{OverrideView, ProjectDetail};

use super::find::find_project;
use super::list::summary;
use crate::app::App;

/// Newest findings about the project that are shown: as many as a person reads.
const FINDINGS_MAX: u32 = 20;

/// What `project show` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  symphony project show api")]
pub(crate) struct ShowArgs {
    /// The project; without it, the one you are in
    project: Option<ProjectId>,
}

impl ShowArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let session = app.session()?;
        let project = find_project(&session, self.project.as_ref())?;
        let config = session.installation.project_config(&project);
        let problem = config.err().map(|error| error.to_string());
        let mut overrides = Vec::new();
        for agent in &AgentType::SHIPPED {
            let layers = session.store.overrides(agent, &project.id)?;
            overrides.extend(OverrideView::layers(agent, &project.id, &layers));
        }
        let settings = project.settings.clone();
        let findings = session
            .store
            .project_findings(&project.id, FINDINGS_MAX)?
            .into_iter()
            .map(Into::into)
            .collect();
        app.out.answer(&ProjectDetail {
            project: summary(&session, project)?,
            problem,
            settings,
            overrides,
            findings,
        })
    }
}
