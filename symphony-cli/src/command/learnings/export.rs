//! `symphony learnings export`.

use std::path::PathBuf;

use clap::Args;
use symphony_core::learning::LearningState;
use symphony_store::LearningFilter;
use symphony_view::text::plural;

use super::line::LearningLine;
use crate::app::App;
use crate::document::export;
use crate::failure::Context as _;

/// What `learnings export` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Writes one JSON object per line, oldest first, in every state; `symphony learnings import` reads \
                  it.\n\nExample:\n  symphony learnings export learnings.jsonl"
)]
pub(crate) struct ExportArgs {
    /// The file to write; by default, or with `-`, standard output
    #[arg(value_name = "FILE", default_value = "-", hide_default_value = true)]
    file: PathBuf,
    /// Include all projects of the installation
    #[arg(long = "all-projects")]
    all_projects: bool,
}

impl ExportArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let session = app.session()?;
        let filter = LearningFilter {
            project: (!self.all_projects).then(|| session.project.id.clone()),
            states: LearningState::ALL.to_vec(),
            ..LearningFilter::default()
        };
        let records = session
            .store
            .learnings(&filter)
            .context("export the learnings")?;
        let mut text = String::new();
        for record in records.iter().rev() {
            text.push_str(&serde_json::to_string(&LearningLine::from(record.clone()))?);
            text.push('\n');
        }
        export(app, &self.file, &text, &plural(records.len(), "learning"))
    }
}
