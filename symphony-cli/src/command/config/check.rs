//! `symphony config check`.

use std::path::Path;

use anyhow::Context as _;
use clap::Args;
use serde::Serialize;
use symphony_core::config::ConfigProblem;
use symphony_prompt::lint::{Finding, Severity};
use symphony_workspace::config_file::{ConfigFileError, LoadedConfig, load};

use crate::app::App;
use crate::command::lint_here;
use crate::failure::{Exit, Stop};
use crate::output::{List, Page, View, plural};
use crate::view::{counted, errors};

/// What `config check` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "It looks at the prompts, too, as `symphony prompt lint` does.\n\nExample:\n  symphony config check && symphony tick"
)]
pub(crate) struct CheckArgs {}

/// A problem of a configuration file, or of the prompts that it leads to.
#[derive(Debug, Clone, Serialize)]
struct ProblemView {
    file: Option<String>,
    line: Option<usize>,
    column: Option<usize>,
    /// The key; null for what is wrong with a prompt.
    key: Option<String>,
    severity: Severity,
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
            key: Some(problem.path.to_string()),
            severity: Severity::Error,
            message: problem.message(),
            text: problem.to_string(),
        }
    }
}

impl From<&Finding> for ProblemView {
    fn from(finding: &Finding) -> Self {
        Self {
            file: Some(finding.file.clone()),
            line: Some(finding.line),
            column: finding.column,
            key: None,
            severity: finding.severity,
            message: finding.found.clone(),
            text: format!("{}: {finding}", finding.severity),
        }
    }
}

impl View for List<ProblemView> {
    fn write(&self, page: &mut Page) {
        let is_error = |problem: &ProblemView| problem.severity == Severity::Error;
        if !self.items.iter().any(is_error) {
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
        // prompts are read as the configuration says: one that is wrong leads nowhere
        let findings = if problems.is_empty() {
            lint_here(app).context("look at the prompts")?
        } else {
            Vec::new()
        };
        let of_files = problems.iter().map(ProblemView::from);
        let of_prompts = findings.iter().map(ProblemView::from);
        app.out
            .answer(&of_files.chain(of_prompts).collect::<List<_>>())?;
        if errors(&findings).next().is_some() {
            let message = format!("{} in the prompts", counted(&findings));
            let hint = "`symphony prompt lint` says what to do about each";
            return Err(Stop::finding(message).hint(hint).into());
        }
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
