//! `symphony config check`.

use std::path::Path;

use clap::Args;
use serde::Serialize;
use symphony_core::config::{ConfigProblem, ProblemKind};
use symphony_prompt::lint::{Finding, Severity};
use symphony_runner::RunnerError;
use symphony_runner::provider::ProviderError;
use symphony_view::text::{List, Listed, Page, plural};
use symphony_view::{counted, errors};
use symphony_workspace::config_file::{ConfigFileError, LoadedConfig, load};

use crate::app::App;
use crate::command::lint_here;
use crate::failure::{Context as _, Exit, Stop, provider_fix};

/// What `config check` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "It also checks the prompts, as `symphony prompt lint` does.\n\n\
                  Example:\n  symphony config check && symphony tick"
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

impl ProblemView {
    /// The scripted agent could not play a single run.
    fn of_scenario(error: &RunnerError) -> Self {
        Self {
            file: None,
            line: None,
            column: None,
            key: Some("providers.scripted.scenario".to_owned()),
            severity: Severity::Error,
            message: error.to_string(),
            text: format!("{}: {error}", Severity::Error),
        }
    }
}

impl Listed for ProblemView {
    fn write_all(items: &[Self], page: &mut Page) {
        let is_error = |problem: &ProblemView| problem.severity == Severity::Error;
        if !items.iter().any(is_error) {
            page.line("The configuration is valid.");
        }
        for problem in items {
            page.line(&problem.text);
        }
    }
}

impl CheckArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let Self {} = self;
        let root = app.surroundings.root().context("load the configuration")?;
        let problems = load(&app.surroundings.config_paths(), &root)
            .and_then(|loaded| problems_of(&loaded, &root))
            .context("load the configuration")?;
        // prompts and scenarios are read as the configuration says: one that is wrong leads nowhere
        let (scenario, findings) = if problems.is_empty() {
            let scenario = scenario_problem(app)?;
            let findings = lint_here(app).context("check the prompts")?;
            (scenario, findings)
        } else {
            (None, Vec::new())
        };
        let of_files = problems.iter().map(ProblemView::from);
        let of_scenario = scenario.iter().map(ProblemView::of_scenario);
        let of_prompts = findings.iter().map(ProblemView::from);
        let all = of_files.chain(of_scenario).chain(of_prompts);
        app.out.answer(&all.collect::<List<_>>())?;
        if let Some(stop) = refusal(scenario.as_ref(), &findings) {
            return Err(stop.into());
        }
        if problems.is_empty() {
            return Ok(());
        }
        let message = format!(
            "the configuration has {}",
            plural(problems.len(), "problem")
        );
        let stop = Stop::new(Exit::Failed, message);
        Err(match key_hint(&problems) {
            Some(hint) => stop.hint(hint).into(),
            None => stop.into(),
        })
    }
}

/// Says where the keys are listed, when one of the problems is a key that does not exist. All other problems say what is expected.
pub(super) fn key_hint(problems: &[ConfigProblem]) -> Option<&'static str> {
    let is_key = |problem: &ConfigProblem| matches!(problem.kind, ProblemKind::UnknownKey { .. });
    problems
        .iter()
        .any(is_key)
        .then_some("`symphony config show` lists all keys")
}

/// Says what is wrong with what a correct configuration leads to: the scenario file and the prompts, each counted.
fn refusal(scenario: Option<&RunnerError>, findings: &[Finding]) -> Option<Stop> {
    let mut found = Vec::new();
    let mut hints = Vec::new();
    if let Some(error) = scenario {
        found.push("the scenario file has 1 problem".to_owned());
        hints.push(provider_fix(error));
    }
    if errors(findings).next().is_some() {
        found.push(format!("the prompts have {}", counted(findings)));
        hints.push("`symphony prompt lint` suggests a fix for each".to_owned());
    }
    if found.is_empty() {
        return None;
    }
    Some(Stop::new(Exit::Failed, found.join(", and ")).hint(hints.join("; ")))
}

/// Says what keeps the scripted agent from playing the scenario file, where the project here uses that agent.
///
/// # Errors
/// When the configuration or the database cannot be read.
pub(super) fn scenario_problem(app: &App) -> anyhow::Result<Option<RunnerError>> {
    let installation = app.surroundings.installation()?;
    let store = installation.existing_store().context("open the database")?;
    let root = &installation.root;
    let project = match &store {
        Some(store) => store.project_at(root)?,
        None => None,
    };
    let config = match project {
        Some(project) => installation.project_config(&project)?,
        None => installation.loaded().project(None, root, None)?.config,
    };
    let error = installation.provider(&config).err();
    Ok(error.filter(|error| {
        matches!(
            error,
            RunnerError::Provider(ProviderError::NoScenario | ProviderError::BadScenario { .. })
        )
    }))
}

/// Returns what is wrong with the files, and where values that are right by themselves are at odds.
///
/// # Errors
/// When a file cannot be read.
pub(crate) fn problems_of(
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
