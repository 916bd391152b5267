//! `symphony project list`.

use clap::Args;
use symphony_core::issue::IssueStatus;
use symphony_runner::session::Session;
use symphony_store::{Project, RunFilter, StoreError};
use symphony_view::ProjectView;
use symphony_view::text::List;

use crate::app::App;

/// What `project list` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  symphony project list")]
pub(crate) struct ListArgs {}

impl ListArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let Self {} = self;
        let session = app.session()?;
        let projects = session.store.projects()?;
        let views = projects
            .into_iter()
            .map(|project| summary(&session, project))
            .collect::<Result<List<_>, _>>()?;
        app.out.answer_long(&views)
    }
}

/// Views a project with the numbers of its issues and runs.
pub(super) fn summary(session: &Session, project: Project) -> Result<ProjectView, StoreError> {
    let store = &session.store;
    let config = session.installation.project_config(&project);
    let counts = store.issue_counts(&project.id)?;
    let live = store.runs(&RunFilter {
        project: Some(project.id.clone()),
        live_only: true,
        ..RunFilter::default()
    })?;
    let count = |status: IssueStatus| counts.get(&status).copied().unwrap_or(0);
    Ok(ProjectView {
        open_issues: IssueStatus::ALL
            .iter()
            .filter(|status| !status.is_terminal())
            .map(|status| count(*status))
            .sum(),
        running: live.len(),
        id: project.id,
        name: project.name,
        prefix: project.prefix,
        root: project.root,
        wizard: project.wizard,
        wizard_enabled: config.ok().map(|config| config.wizard_enabled),
        created_at: project.created_at,
    })
}
