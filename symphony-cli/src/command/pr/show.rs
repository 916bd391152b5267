//! `symphony pr show`.

use anyhow::Context as _;
use clap::Args;
use symphony_core::config_change::decisive_patterns;

use super::find::{find_pr, view_pr};
use crate::app::App;
use crate::value::PrReference;

/// What `pr show` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  symphony pr show SYM-1")]
pub(crate) struct ShowArgs {
    /// The pull request's number, its issue, or its plan
    #[arg(value_name = "ID|ISSUE|PLAN")]
    pr: PrReference,
}

impl ShowArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let session = app.session()?;
        let pr = find_pr(app, &session, &self.pr).context("show the pull request")?;
        let publication = session
            .store
            .publication(pr.id)
            .context("show the pull request")?;
        let points = session
            .store
            .review_points(&pr.of)
            .context("show the pull request")?;
        let project = session
            .store
            .project(&pr.project)
            .context("show the pull request")?;
        // a configuration that is broken says nothing of prompts; its own file is known all the same
        let config = session.installation.project_config(&project);
        let decisive = config.map_or_else(
            |_broken| decisive_patterns(None),
            |config| config.decisive_paths(&project.root),
        );
        let view = view_pr(&session, pr)
            .context("show the pull request")?
            .with_publication(publication)
            .with_points(points)
            .with_decisive(&decisive);
        app.out.answer_long(&view)
    }
}
