//! `symphony learnings search`.

use anyhow::Context as _;
use clap::Args;
use symphony_core::Timestamp;
use symphony_core::learning::Learning;
use symphony_learning::{Options, Relevance, search};
use symphony_store::LearningFilter;

use crate::app::App;
use crate::output::List;
use crate::view::{LearningView, ScoredLearning};

/// What `learnings search` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  symphony learnings search 'flaky test in src/parser.rs'")]
pub(crate) struct SearchArgs {
    /// What to look for: words and paths
    query: String,
    /// At most so many
    #[arg(short = 'n', long, value_name = "NUMBER", default_value_t = 25)]
    limit: u32,
    /// Those of all projects of the installation
    #[arg(long = "all-projects")]
    all_projects: bool,
}

impl SearchArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let session = app.session()?;
        let filter = LearningFilter {
            project: (!self.all_projects).then(|| session.project.id.clone()),
            ..LearningFilter::default()
        };
        let records = session
            .store
            .learnings(&filter)
            .context("search the learnings")?;
        let learnings: Vec<Learning> = records
            .iter()
            .map(|record| record.learning.clone())
            .collect();
        let options = Options {
            max_results: usize::try_from(self.limit).unwrap_or(usize::MAX),
            ..Options::default()
        };
        let hits = search(
            &learnings,
            &self.query,
            Relevance::Matching,
            Timestamp::now(),
            options,
        )
        .context("search the learnings")?;
        let found: List<ScoredLearning> = hits
            .iter()
            .filter_map(|hit| {
                let learning = LearningView::from(records.get(hit.index)?.clone());
                Some(ScoredLearning {
                    learning,
                    score: hit.score,
                    parts: hit.parts,
                })
            })
            .collect();
        app.out.answer(&found)
    }
}
