//! `symphony project move`.

use std::path::PathBuf;

use clap::Args;
use symphony_core::id::ProjectId;
use symphony_runner::database::move_project;

use super::list::summary;
use crate::app::App;
use crate::failure::Context as _;

/// What `project move` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Move the folder first (`mv`). Any command that you run in the new folder then records the move; \
                  only a project that shares another repository's database needs this \
                  command.\n\nExample:\n  symphony project move api ../services/api"
)]
pub(crate) struct MoveArgs {
    /// The project
    project: ProjectId,
    /// Its folder now
    path: PathBuf,
}

impl MoveArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let mut session = app.session()?;
        let what = || format!("move project {}", self.project);
        let to = app.surroundings.current.join(&self.path);
        let moved = move_project(
            &session.installation,
            &mut session.store,
            &self.project,
            &to,
        )
        .with_context(what)?;
        let sentence = format!("Project {} is now in {}.", moved.id, moved.root.display());
        app.out.done(&summary(&session, moved)?, &sentence)
    }
}
