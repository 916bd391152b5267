//! `symphony config check`.

use std::path::Path;

use anyhow::Context as _;
use clap::Args;
use serde::Serialize;
use symphony_core::config::ConfigProblem;
use symphony_workspace::config_file::{ConfigFileError, LoadedConfig, load};

use crate::app::App;
use crate::failure::{Exit, Stop};
use crate::output::{List, Page, View, plural};

/// What `config check` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  symphony config check && symphony tick")]
pub(crate) struct CheckArgs {}

/// A problem of a configuration file.
#[derive(Debug, Clone, Serialize)]
struct ProblemView {
    file: Option<String>,
    line: Option<usize>,
    column: Option<usize>,
    key: String,
    message: String,
    #[serde(skip)]
    text: String,
}

impl From<&ConfigProblem> for ProblemView {
    fn from(problem: &ConfigProblem) -> Self {
        Self {
            file: problem.file.clone(),
            line: problem.position.map(|position| position.line),
            column: problem.position.map(|position| position.column),
            key: problem.path.to_string(),
            message: problem.message(),
            text: problem.to_string(),
        }
    }
}

impl View for List<ProblemView> {
    fn write(&self, page: &mut Page) {
        if self.items.is_empty() {
            page.line("The configuration is right.");
        }
        self.items
            .iter()
            .for_each(|problem| page.line(&problem.text));
    }
}

impl CheckArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let Self {} = self;
        let root = app.surroundings.root().context("load the configuration")?;
        let problems = load(&app.surroundings.config_paths(), &root)
            .and_then(|loaded| problems_of(&loaded, &root))
            .context("load the configuration")?;
        app.out
            .answer(&problems.iter().map(ProblemView::from).collect::<List<_>>())?;
        if problems.is_empty() {
            return Ok(());
        }
        let message = format!(
            "accept the configuration: {}",
            plural(problems.len(), "problem")
        );
        Err(Stop::new(Exit::Failed, message)
            .hint("`symphony config schema` says what is allowed")
            .into())
    }
}

/// Returns what is wrong with the files, and where values that are right by themselves are at odds.
///
/// # Errors
/// When a file cannot be read.
pub(super) fn problems_of(
    loaded: &LoadedConfig,
    root: &Path,
) -> Result<Vec<ConfigProblem>, ConfigFileError> {
    let (_, of_project) = loaded.inspect_project(None, root, None)?;
    let mut problems = loaded.problems();
    for problem in of_project {
        if !problems.contains(&problem) {
            problems.push(problem);
        }
    }
    Ok(problems)
}
