//! `symphony learnings list`.

use anyhow::Context as _;
use clap::Args;
use symphony_store::LearningFilter;

use crate::app::App;
use crate::output::List;
use crate::view::LearningView;

/// What `learnings list` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  symphony learnings list --all-projects")]
pub(crate) struct ListArgs {
    /// Those of all projects of the installation
    #[arg(long = "all-projects")]
    all_projects: bool,
}

impl ListArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let session = app.session()?;
        let filter = LearningFilter {
            project: (!self.all_projects).then(|| session.project.id.clone()),
            ..LearningFilter::default()
        };
        let learnings = session
            .store
            .learnings(&filter)
            .context("list the learnings")?;
        app.out.answer(
            &learnings
                .into_iter()
                .map(LearningView::from)
                .collect::<List<_>>(),
        )
    }
}
