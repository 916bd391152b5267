//! Phase contracts: `symphony phase`.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use serde::Serialize;
use symphony_core::contract::{PhaseContract, parse_contract};
use symphony_core::id::PhaseName;

use crate::app::App;
use crate::failure::{Exit, Stop};
use crate::output::{List, Page, Table, View, plural};

/// A command on phase contracts.
#[derive(Debug, Subcommand)]
pub(crate) enum PhaseCommand {
    /// List the phases that hold here, the project's own over the shipped ones
    List(PhaseListArgs),
    /// Show one contract: its front matter and its prompt
    Show(PhaseShowArgs),
    /// Check a contract file; all problems at once
    Check(PhaseCheckArgs),
}

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

impl PhaseCommand {
    /// Runs it.
    ///
    /// # Errors
    /// When the prompts can not be read, there is no such phase, or a checked file has problems.
    pub(crate) fn run(&self, app: &App) -> anyhow::Result<()> {
        if let Self::Check(args) = self {
            return check(app, args);
        }
        let session = app.session()?;
        let config = session.installation.project_config(&session.project)?;
        let pipeline = session
            .installation
            .library(&config)
            .context("load the contracts")?
            .pipeline;
        let view = |contract: &PhaseContract| PhaseView {
            contract: contract.clone(),
        };
        match self {
            Self::Show(args) => {
                let contract = pipeline.get(&args.phase).ok_or_else(|| {
                    Stop::new(
                        Exit::NotFound,
                        format!("there is no phase `{}`", args.phase),
                    )
                    .hint("`symphony phase list` names them")
                })?;
                app.out.answer(&view(contract))
            }
            Self::List(_) | Self::Check(_) => app
                .out
                .answer(&pipeline.iter().map(view).collect::<List<_>>()),
        }
    }
}

fn check(app: &App, args: &PhaseCheckArgs) -> anyhow::Result<()> {
    let path = app.surroundings.current.join(&args.file);
    let text =
        std::fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))?;
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
    Err(Stop::new(Exit::Failed, plural(problems.len(), "problem")).into())
}
