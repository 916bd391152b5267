//! `symphony learnings stats`.

use clap::Args;
use symphony_core::learning::LearningState;
use symphony_store::LearningFilter;
use symphony_view::LearningUseView;
use symphony_view::text::List;

use crate::app::App;
use crate::failure::Context as _;

/// What `learnings stats` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  symphony learnings stats --limit 20")]
pub(crate) struct StatsArgs {
    /// Show at most this many; by default all
    #[arg(short = 'n', long, value_name = "NUMBER")]
    limit: Option<u32>,
    /// Include all projects of the installation
    #[arg(long = "all-projects")]
    all_projects: bool,
}

impl StatsArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let session = app.session()?;
        let filter = LearningFilter {
            project: (!self.all_projects).then(|| session.project.id.clone()),
            states: LearningState::ALL.to_vec(),
            limit: self.limit,
            ..LearningFilter::default()
        };
        let uses = session
            .store
            .learning_uses(&filter)
            .context("count the uses of the learnings")?;
        app.out.answer(
            &uses
                .into_iter()
                .map(LearningUseView::from)
                .collect::<List<_>>(),
        )
    }
}
