//! `symphony project list`.

use clap::Args;
use symphony_core::issue::IssueStatus;
use symphony_store::{Project, RunFilter, Store, StoreError};

use crate::app::App;
use crate::output::List;
use crate::view::ProjectView;

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
            .map(|project| summary(&session.store, project))
            .collect::<Result<List<_>, _>>()?;
        app.out.answer_long(&views)
    }
}

/// Views a project with the numbers of its issues and runs.
pub(super) fn summary(store: &Store, project: Project) -> Result<ProjectView, StoreError> {
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
        created_at: project.created_at,
    })
}
