//! `symphony phase check`: a contract by itself, and inside a project the chain that it becomes a part of.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use symphony_core::contract::parse_contract;
use symphony_prompt::lint::Finding;
use symphony_runner::prompts::library::check_chain;
use symphony_view::text::{List, Listed, Page, plural};
use symphony_workspace::config_file::load;

use crate::app::App;
use crate::failure::{Context as _, Exit, Stop};
use crate::shipped::SHIPPED;

/// What `phase check` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Inside a project it also checks the chain of contracts that includes this one: `next_phase` and `dispatch_profile` must exist, and no phase may follow itself.\n\nExample:\n  symphony phase check .symphony/prompts/phases/research.md"
)]
pub(crate) struct PhaseCheckArgs {
    /// The file
    file: PathBuf,
}

/// A problem of a contract file.
#[derive(Debug, Serialize)]
struct PhaseProblem {
    file: String,
    /// None for a problem of another contract.
    line: Option<usize>,
    column: Option<usize>,
    message: String,
    #[serde(skip)]
    snippet: String,
}

impl Listed for PhaseProblem {
    fn write_all(items: &[Self], page: &mut Page) {
        if items.is_empty() {
            page.line("The contract is valid.");
        }
        for problem in items {
            page.verbatim(&problem.snippet);
        }
    }
}

impl PhaseCheckArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let path = app.surroundings.current.join(&self.file);
        let text = std::fs::read_to_string(&path).map_err(|error| {
            let exit = match error.kind() {
                std::io::ErrorKind::NotFound => Exit::NotFound,
                _ => Exit::Failed,
            };
            Stop::new(exit, format!("cannot read {}: {error}", path.display()))
                .hint("name the file of a contract")
        })?;
        let (problems, hint) = self.problems(app, &text)?;
        let count = problems.items.len();
        app.out.answer(&problems)?;
        if count == 0 {
            return Ok(());
        }
        let message = format!("the contract has {}", plural(count, "problem"));
        Err(Stop::new(Exit::Failed, message).hint(hint).into())
    }

    fn problems(
        &self,
        app: &App,
        text: &str,
    ) -> anyhow::Result<(List<PhaseProblem>, &'static str)> {
        // by its own name: the name of the file has to be that of its phase
        let file = self.file.display().to_string();
        match parse_contract(&file, text) {
            Err(problems) => {
                let problems = problems.iter().map(|problem| PhaseProblem {
                    file: problem.file.clone(),
                    line: Some(problem.position.line),
                    column: Some(problem.position.column),
                    message: problem.message(),
                    snippet: problem.snippet(text),
                });
                let hint = "`symphony phase show PHASE` shows a valid contract";
                Ok((problems.collect(), hint))
            }
            Ok(contract) => {
                let found = chain(app, &file, text, contract.phase.as_str())?;
                let problems = found.iter().map(|finding| chain_problem(&file, finding));
                let hint = "`symphony phase list` shows the phases and their profiles";
                Ok((problems.collect(), hint))
            }
        }
    }
}

/// Returns what keeps the contracts of the project from forming chains with this one; outside a project there are none.
fn chain(app: &App, file: &str, text: &str, phase: &str) -> anyhow::Result<Vec<Finding>> {
    let Some(project) = app.surroundings.recorded_project()? else {
        return Ok(Vec::new());
    };
    let root = &project.root;
    let loaded = load(&app.surroundings.config_paths(), root).context("load the configuration")?;
    let settings = loaded.project(Some(&project.id), root, Some(&project.settings))?;
    let folder = &settings.config.prompts_dir;
    Ok(check_chain(&SHIPPED, folder, file, text, phase)?)
}

/// A problem of the chain; its line is that of this file, or none.
fn chain_problem(file: &str, finding: &Finding) -> PhaseProblem {
    let is_here = finding.file == file;
    PhaseProblem {
        file: finding.file.clone(),
        line: is_here.then_some(finding.line),
        column: is_here.then_some(finding.column.unwrap_or(1)),
        message: finding.found.clone(),
        snippet: format!("{finding}\n"),
    }
}
