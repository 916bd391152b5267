//! `symphony learnings search`.

use clap::Args;
use symphony_core::Timestamp;
use symphony_learning::{Options, Relevance};
use symphony_store::LearningScope;
use symphony_view::text::List;
use symphony_view::{FoundLearning, ScoredLearning};

use crate::app::App;
use crate::failure::{Context as _, Exit, Stop};

/// What `learnings search` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "A learning matches if it shares a word or a path with the query, or contains the whole query.\n\nExample:\n  symphony learnings search 'flaky test in src/parser.rs'"
)]
pub(crate) struct SearchArgs {
    /// What to look for: words and paths
    query: String,
    /// Show at most this many
    #[arg(short = 'n', long, value_name = "NUMBER", default_value_t = 25, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// Include all projects of the installation
    #[arg(long = "all-projects")]
    all_projects: bool,
    /// Show the parts of each score
    #[arg(long)]
    explain: bool,
}

impl SearchArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        if self.query.trim().is_empty() {
            let problem = "the text to search for is empty";
            let hint = "`symphony learnings list` shows them all";
            return Err(Stop::new(Exit::Usage, problem).hint(hint).into());
        }
        let mut session = app.session()?;
        let scope = if self.all_projects {
            LearningScope::Installation
        } else {
            LearningScope::Project(&session.project.id, None)
        };
        let options = Options {
            max_results: usize::try_from(self.limit).unwrap_or(usize::MAX),
            ..Options::default()
        };
        let found = session
            .store
            .search_learnings(
                scope,
                &self.query,
                Relevance::Matching,
                Timestamp::now(),
                options,
            )
            .context("search the learnings")?;
        // JSON always says why: a program leaves out what it does not need
        if self.explain || app.out.is_json() {
            app.out.answer_long(
                &found
                    .into_iter()
                    .map(ScoredLearning::from)
                    .collect::<List<_>>(),
            )
        } else {
            app.out.answer_long(
                &found
                    .into_iter()
                    .map(FoundLearning::from)
                    .collect::<List<_>>(),
            )
        }
    }
}
