//! The commands on prompts.

use clap::{Args, Subcommand, ValueEnum};
use symphony_prompt::schema::{document_schema, worker_schema};

use super::{build, lint, record, show, trial, worker};
use crate::app::App;

/// A command on prompts.
#[derive(Debug, Subcommand)]
pub(crate) enum PromptCommand {
    /// Show the prompts that an agent on an issue would get now, and how they were built
    Show(show::ShowArgs),
    /// Check the texts that agents get, and suggest a fix for each problem
    Lint(lint::LintArgs),
    /// Write finished issues to a file, so that a trial can repeat them
    Record(record::RecordArgs),
    /// Repeat recorded issues with two sets of prompts, and compare the sets
    Trial(trial::TrialArgs),
    /// Build an agent's prompts from a JSON file, without a database
    Build(build::BuildArgs),
    /// Build the prompt of a plan phase from a JSON file
    Worker(worker::WorkerArgs),
    /// Print the JSON Schema of the file that `build` or `worker` reads
    Schema(SchemaArgs),
}

/// What `prompt schema` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  symphony prompt schema worker > worker.schema.json")]
pub(crate) struct SchemaArgs {
    /// The command that reads the file
    #[arg(value_enum, default_value_t = DocumentKind::Build, value_name = "COMMAND")]
    document: DocumentKind,
}

/// Which file a schema is of.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum DocumentKind {
    Build,
    Worker,
}

impl PromptCommand {
    /// Runs it.
    ///
    /// # Errors
    /// As the command says.
    pub(crate) fn run(&self, app: &App) -> anyhow::Result<()> {
        match self {
            Self::Show(args) => args.run(app),
            Self::Lint(args) => args.run(app),
            Self::Record(args) => args.run(app),
            Self::Trial(args) => args.run(app),
            Self::Build(args) => args.run(app),
            Self::Worker(args) => args.run(app),
            Self::Schema(args) => {
                let schema = match args.document {
                    DocumentKind::Build => document_schema(),
                    DocumentKind::Worker => worker_schema(),
                };
                app.out.document(&schema)
            }
        }
    }
}
