//! `symphony issue edit`.

use anyhow::Context as _;
use clap::{ArgGroup, Args};
use symphony_core::id::IssueId;
use symphony_core::issue::{Priority, Size};
use symphony_store::IssueEdit;

use crate::app::App;
use crate::value::{issue_id, named, text_or_stdin};
use crate::view::IssueView;

/// What `issue edit` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  symphony issue edit SYM-1 --priority high --add-label urgent",
    group = ArgGroup::new("change").required(true).multiple(true)
)]
pub(crate) struct EditArgs {
    /// The issue
    #[arg(value_parser = issue_id)]
    issue: IssueId,
    /// The new title
    #[arg(long, value_name = "TEXT", group = "change")]
    title: Option<String>,
    /// The new description; `-` reads it from standard input
    #[arg(short, long, value_name = "TEXT", group = "change")]
    description: Option<String>,
    /// The new priority
    #[arg(short, long, value_name = "PRIORITY", group = "change", value_parser = named(Priority::NAMES, Priority::parse))]
    priority: Option<Priority>,
    /// The new size
    #[arg(short, long, value_name = "SIZE", group = "change", value_parser = named(Size::NAMES, Size::parse))]
    size: Option<Size>,
    /// Unset the size
    #[arg(long = "no-size", group = "change", conflicts_with = "size")]
    no_size: bool,
    /// Replace the labels; may be given several times
    #[arg(short, long = "label", value_name = "LABEL", group = "change")]
    labels: Vec<String>,
    /// Add a label; may be given several times
    #[arg(
        long = "add-label",
        value_name = "LABEL",
        group = "change",
        conflicts_with = "labels"
    )]
    added_labels: Vec<String>,
    /// Remove a label; may be given several times
    #[arg(
        long = "remove-label",
        value_name = "LABEL",
        group = "change",
        conflicts_with = "labels"
    )]
    removed_labels: Vec<String>,
    /// Replace the issues that must be done before; may be given several times
    #[arg(long = "depends-on", value_name = "ISSUE", group = "change", value_parser = issue_id)]
    depends_on: Vec<IssueId>,
    /// Let it depend on nothing
    #[arg(
        long = "no-dependencies",
        group = "change",
        conflicts_with = "depends_on"
    )]
    no_dependencies: bool,
}

impl EditArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let description = self.description.as_deref().map(text_or_stdin).transpose()?;
        let mut session = app.session()?;
        let what = || format!("edit {}", self.issue);
        let edit = IssueEdit {
            title: self.title.clone(),
            description,
            priority: self.priority,
            size: if self.no_size {
                Some(None)
            } else {
                self.size.map(Some)
            },
            labels: self.new_labels(&session.store.issue(&self.issue).with_context(what)?.labels),
            depends_on: (self.no_dependencies || !self.depends_on.is_empty())
                .then(|| self.depends_on.clone()),
        };
        let issue = session
            .store
            .edit_issue(&App::as_human(), &self.issue, &edit)
            .with_context(what)?;
        let sentence = format!("Changed {}: {}", issue.id, issue.title);
        app.out.done(&IssueView::from(issue), &sentence)
    }

    fn new_labels(&self, old: &[String]) -> Option<Vec<String>> {
        if !self.labels.is_empty() {
            return Some(self.labels.clone());
        }
        if self.added_labels.is_empty() && self.removed_labels.is_empty() {
            return None;
        }
        let kept = old
            .iter()
            .filter(|label| !self.removed_labels.contains(label));
        Some(kept.chain(&self.added_labels).cloned().collect())
    }
}
