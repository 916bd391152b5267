//! Phase contracts: `symphony phase list`, `show`, `check`.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use serde::Serialize;
use symphony_core::contract::{PhaseContract, Pipeline, parse_contract};
use symphony_core::id::PhaseName;

use crate::app::App;
use crate::failure::{Exit, Stop};
use crate::output::{List, Page, Table, View, plural};

/// What `phase list` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  symphony phase list")]
pub(crate) struct PhaseListArgs {}

/// What `phase show` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  symphony phase show research")]
pub(crate) struct PhaseShowArgs {
    /// The phase
    #[arg(value_parser = |text: &str| PhaseName::parse(text))]
    phase: PhaseName,
}

/// What `phase check` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  symphony phase check .symphony/prompts/phases/research.md")]
pub(crate) struct PhaseCheckArgs {
    /// The file
    file: PathBuf,
}

/// A contract as it is shown.
#[derive(Debug, Serialize)]
struct PhaseView {
    #[serde(flatten)]
    contract: PhaseContract,
}

/// A problem of a contract file.
#[derive(Debug, Serialize)]
struct PhaseProblem {
    file: String,
    line: usize,
    column: usize,
    message: String,
    #[serde(skip)]
    snippet: String,
}

impl From<PhaseContract> for PhaseView {
    fn from(contract: PhaseContract) -> Self {
        Self { contract }
    }
}

impl View for List<PhaseView> {
    fn write(&self, page: &mut Page) {
        let mut table = Table::new([
            "PHASE",
            "PROFILE",
            "VALIDATION",
            "NEXT",
            "SKIPPABLE",
            "ARTIFACT",
        ]);
        for view in &self.items {
            let contract = &view.contract;
            table.row([
                contract.phase.to_string(),
                contract.dispatch_profile.to_string(),
                contract.mode().to_string(),
                contract
                    .next_phase
                    .as_ref()
                    .map_or_else(String::new, ToString::to_string),
                if contract.skippable { "yes" } else { "no" }.to_owned(),
                contract
                    .artifact_path
                    .as_ref()
                    .map_or("", |path| path.template())
                    .to_owned(),
            ]);
        }
        page.table(&table);
    }
}

impl View for PhaseView {
    fn write(&self, page: &mut Page) {
        let contract = &self.contract;
        page.field("phase", contract.phase.as_str());
        page.field("profile", contract.dispatch_profile.name());
        page.field("validation", contract.mode().name());
        page.field(
            "artifact",
            contract
                .artifact_path
                .as_ref()
                .map_or("", |path| path.template()),
        );
        page.field("sections", &contract.required_sections.join(", "));
        page.field(
            "next",
            &contract
                .next_phase
                .as_ref()
                .map_or_else(String::new, ToString::to_string),
        );
        for (name, sentences) in [
            ("done when", &contract.done_when),
            ("escalate if", &contract.escalate_if),
        ] {
            for sentence in sentences {
                page.field(name, sentence);
            }
        }
        page.heading("Prompt");
        page.verbatim(&contract.body);
    }
}

impl View for List<PhaseProblem> {
    fn write(&self, page: &mut Page) {
        if self.items.is_empty() {
            page.line("The contract is right.");
        }
        for problem in &self.items {
            page.verbatim(&problem.snippet);
        }
    }
}

impl PhaseListArgs {
    #[expect(
        clippy::unused_self,
        reason = "every command's arguments run themselves"
    )]
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let pipeline = pipeline(app)?;
        let views: List<PhaseView> = pipeline.iter().cloned().map(PhaseView::from).collect();
        app.out.answer(&views)
    }
}

impl PhaseShowArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let pipeline = pipeline(app)?;
        let contract = pipeline.get(&self.phase).ok_or_else(|| {
            Stop::new(
                Exit::NotFound,
                format!("show a phase: there is no phase `{}`", self.phase),
            )
            .hint("`symphony phase list` names them")
        })?;
        app.out.answer(&PhaseView::from(contract.clone()))
    }
}

impl PhaseCheckArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        check(app, self)
    }
}

fn pipeline(app: &App) -> anyhow::Result<Pipeline> {
    let session = app.session()?;
    let config = session.installation.project_config(&session.project)?;
    let library = session.installation.library(&config);
    Ok(library.context("load the contracts")?.pipeline)
}

fn check(app: &App, args: &PhaseCheckArgs) -> anyhow::Result<()> {
    let path = app.surroundings.current.join(&args.file);
    let text = std::fs::read_to_string(&path).map_err(|error| {
        let exit = match error.kind() {
            std::io::ErrorKind::NotFound => Exit::NotFound,
            _ => Exit::Failed,
        };
        Stop::new(exit, format!("read {}: {error}", path.display()))
            .hint("name the file of a contract")
    })?;
    // by its own name: the name of the file has to be that of its phase
    let problems = parse_contract(&args.file.display().to_string(), &text)
        .err()
        .unwrap_or_default();
    let list: List<PhaseProblem> = problems
        .iter()
        .map(|problem| PhaseProblem {
            file: problem.file.clone(),
            line: problem.position.line,
            column: problem.position.column,
            message: problem.message(),
            snippet: problem.snippet(&text),
        })
        .collect();
    app.out.answer(&list)?;
    if problems.is_empty() {
        return Ok(());
    }
    let message = format!("accept the contract: {}", plural(problems.len(), "problem"));
    let stop = Stop::new(Exit::Failed, message)
        .hint("`symphony phase show PHASE` shows a contract that is right");
    Err(stop.into())
}
