//! `symphony issue export`.

use std::path::PathBuf;

use clap::Args;
use symphony_core::issue::{IssueLine, IssueStatus, write_json_lines, write_markdown};
use symphony_store::{IssueFilter, Store};
use symphony_view::text::plural;

use super::format::Format;
use crate::app::App;
use crate::document::export;
use crate::failure::Context as _;
use crate::value::named;

/// What `issue export` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Writes JSON Lines, or markdown if the file's name ends in `.md`; `symphony issue import` reads \
                  both.\n\n\
                  Example:\n  symphony issue export backlog.md --status backlog"
)]
pub(crate) struct ExportArgs {
    /// The file to write; by default, or with `-`, standard output
    #[arg(value_name = "FILE", default_value = "-", hide_default_value = true)]
    file: PathBuf,
    /// The format; by default taken from the file's name
    #[arg(long, value_name = "FORMAT", value_parser = named(Format::NAMES, Format::parse))]
    format: Option<Format>,
    /// Only issues in this status
    #[arg(long, value_name = "STATUS", value_parser = named(IssueStatus::NAMES, IssueStatus::parse))]
    status: Option<IssueStatus>,
    /// Only issues with this label
    #[arg(short, long, value_name = "LABEL")]
    label: Option<String>,
}

impl ExportArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let session = app.session()?;
        let filter = IssueFilter {
            project: Some(session.project.id.clone()),
            status: self.status,
            label: self.label.clone(),
            ..IssueFilter::default()
        };
        let lines = all(&session.store, filter).context("export the issues")?;
        let text = match self.format.unwrap_or_else(|| Format::of(&self.file)) {
            Format::JsonLines => write_json_lines(&lines),
            Format::Markdown => write_markdown(&lines),
        };
        export(app, &self.file, &text, &plural(lines.len(), "issue"))
    }
}

/// Reads all pages.
fn all(store: &Store, mut filter: IssueFilter) -> anyhow::Result<Vec<IssueLine>> {
    let mut lines = Vec::new();
    loop {
        let page = store.list_issues(&filter)?;
        lines.extend(page.items.iter().map(IssueLine::from));
        match page.next {
            Some(next) => filter.after = Some(next),
            None => return Ok(lines),
        }
    }
}
