//! `symphony issue import`.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use symphony_core::id::IssueId;
use symphony_core::issue::{IssueLine, TransferProblem, read_json_lines, read_markdown};
use symphony_runner::database::note_mark;
use symphony_store::ImportedIssues;
use symphony_view::text::plural;

use super::format::Format;
use crate::app::App;
use crate::command::tracker::sync_all;
use crate::document::{DocumentSource, read_text};
use crate::failure::{Context as _, Exit, Stop};
use crate::value::named;

/// Problems that are listed: enough to see what is wrong with a file.
const PROBLEMS_MAX: usize = 20;

/// What `issue import` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "The file has one JSON object per line (only `title` is required), or is markdown if its name ends \
                  in `.md`: for each issue a heading `## Title`, then its fields as a list (`- priority: high`), then \
                  its description. `parent` and `depends_on` name issues by identifier or external id; Symphony looks for them \
                  in the file first, then in the backlog. If anything is wrong, nothing is imported. An issue is skipped if the \
                  backlog has one with the same external id, or with the same identifier and title.\n\n\
                  Examples:\n  symphony issue import backlog.md\n  symphony issue import --from github"
)]
pub(crate) struct ImportArgs {
    /// The file to read; `-` is standard input
    #[arg(value_name = "FILE", required_unless_present = "from")]
    file: Option<PathBuf>,
    /// Import the issues that match the filter of a tracker, and mirror them from now on
    #[arg(long, value_name = "TRACKER", conflicts_with_all = ["file", "format"])]
    from: Option<String>,
    /// The format; by default taken from the file's name
    #[arg(long, value_name = "FORMAT", value_parser = named(Format::NAMES, Format::parse))]
    format: Option<Format>,
}

/// What an import added.
#[derive(Debug, Serialize)]
struct ImportView {
    added: Vec<LineView>,
    skipped: Vec<LineView>,
}

/// An issue with the line that it came from.
#[derive(Debug, Serialize)]
struct LineView {
    line: usize,
    identifier: IssueId,
}

impl From<ImportedIssues> for ImportView {
    fn from(imported: ImportedIssues) -> Self {
        let lines = |issues: Vec<(usize, IssueId)>| {
            let view = |(line, identifier)| LineView { line, identifier };
            issues.into_iter().map(view).collect()
        };
        Self {
            added: lines(imported.added),
            skipped: lines(imported.skipped),
        }
    }
}

impl ImportArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        if let Some(tracker) = &self.from {
            return sync_all(app, tracker);
        }
        let file = self.file.as_deref().unwrap_or(Path::new("-"));
        let lines = self.read(app, file)?;
        let mut session = app.session()?;
        let imported = session
            .store
            .import_issues(&App::as_human(), &session.project.id, &lines)
            .with_context(|| format!("import {}", file.display()))?
            .map_err(|problems| refusal(file, &problems))?;
        note_mark(&session.installation, &mut session.store);
        let sentence = format!(
            "Imported {}; {} already existed.",
            plural(imported.added.len(), "issue"),
            imported.skipped.len()
        );
        app.out.done(&ImportView::from(imported), &sentence)
    }

    fn read(&self, app: &App, file: &Path) -> anyhow::Result<Vec<(usize, IssueLine)>> {
        let source = DocumentSource {
            input: file.to_owned(),
        };
        let text = read_text(app, &source)?;
        let secrets = app.secrets()?;
        secrets
            .check(&text)
            .with_context(|| format!("import {}", file.display()))?;
        let read = match self.format.unwrap_or_else(|| Format::of(file)) {
            Format::JsonLines => read_json_lines(&text),
            Format::Markdown => read_markdown(&text),
        };
        Ok(read.map_err(|problems| refusal(file, &problems))?)
    }
}

fn refusal(file: &Path, problems: &[TransferProblem]) -> Stop {
    let listed: Vec<String> = problems
        .iter()
        .take(PROBLEMS_MAX)
        .map(|problem| format!("line {}: {}", problem.line, problem.problem))
        .collect();
    let message = format!(
        "nothing was imported, because {} has {}:\n{}",
        file.display(),
        plural(problems.len(), "problem"),
        listed.join("\n")
    );
    Stop::new(Exit::Failed, message).hint("fix the file and run the command again")
}
