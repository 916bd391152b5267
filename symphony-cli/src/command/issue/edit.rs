//! `symphony issue edit`.

use clap::Args;
use symphony_core::id::IssueId;
use symphony_core::issue::{Priority, Size, phase_of};
use symphony_runner::cancel::end_run_of;
use symphony_runner::repository::keep_head;
use symphony_runner::session::Session;
use symphony_store::{IssueEdit, SupersededReview};
use symphony_view::IssueView;

use super::repair::check_repairs;
use crate::app::App;
use crate::failure::{Context as _, Exit, Stop};
use crate::value::{issue_id, named};

/// What `issue edit` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  symphony issue edit SYM-1 --priority high --add-label urgent\n  symphony issue edit SYM-1 --remove-label phase:ready --add-label phase:research"
)]
pub(crate) struct EditArgs {
    /// The issue
    #[arg(value_parser = issue_id)]
    issue: IssueId,
    /// The new title
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// The new description; `-` reads it from standard input
    #[arg(short, long, value_name = "TEXT")]
    description: Option<String>,
    /// The new priority
    #[arg(short, long, value_name = "PRIORITY", value_parser = named(Priority::NAMES, Priority::parse))]
    priority: Option<Priority>,
    /// The new size
    #[arg(short, long, value_name = "SIZE", value_parser = named(Size::NAMES, Size::parse))]
    size: Option<Size>,
    /// Unset the size
    #[arg(long = "no-size", conflicts_with = "size")]
    no_size: bool,
    /// Replace the labels; may be given several times
    #[arg(short, long = "label", value_name = "LABEL")]
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
    /// Replace the issues that must be done first; may be given several times
    #[arg(long = "depends-on", value_name = "ISSUE", value_parser = issue_id)]
    depends_on: Vec<IssueId>,
    /// Remove all its dependencies
    #[arg(
        long = "no-dependencies",
        group = "change",
        conflicts_with = "depends_on"
    )]
    no_dependencies: bool,
}

impl EditArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        if self.changes_nothing() {
            let message = format!("no change of {} was given", self.issue);
            return Err(Stop::new(Exit::Usage, message)
                .hint("`symphony issue edit --help` lists what can be changed")
                .into());
        }
        let description = self
            .description
            .as_deref()
            .map(|typed| app.text(typed))
            .transpose()?;
        let mut session = app.session()?;
        let what = || format!("edit {}", self.issue);
        let mut edit = IssueEdit {
            title: self.title.clone(),
            description,
            priority: self.priority,
            size: if self.no_size {
                Some(None)
            } else {
                self.size.map(Some)
            },
            labels: None,
            depends_on: (self.no_dependencies || !self.depends_on.is_empty())
                .then(|| self.depends_on.clone()),
        };
        let old = session.store.issue(&self.issue).with_context(what)?.labels;
        let labels = self.new_labels(&old);
        let mut added = labels.clone().unwrap_or_default();
        added.retain(|label| !old.contains(label));
        check_repairs(&session, &added).with_context(what)?;
        let ended = labels
            .as_deref()
            .map(|labels| end_review(&mut session, &self.issue, labels))
            .transpose()
            .with_context(what)?
            .flatten();
        edit.labels = labels;
        let issue = session
            .store
            .edit_issue(&App::as_human(), &self.issue, &edit)
            .with_context(what)?;
        let mut sentence = format!("Changed {}: {}", issue.id, issue.title);
        if let Some(ended) = ended {
            sentence = format!("{sentence}. {ended}");
        }
        app.out.done(&IssueView::from(issue), &sentence)
    }

    fn changes_nothing(&self) -> bool {
        let texts = [&self.title, &self.description];
        let labels = [&self.labels, &self.added_labels, &self.removed_labels];
        texts.iter().all(|text| text.is_none())
            && labels.iter().all(|labels| labels.is_empty())
            && self.priority.is_none()
            && self.size.is_none()
            && self.depends_on.is_empty()
            && !(self.no_size || self.no_dependencies)
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

/// Prepares what is open for review for its end, when the labels take the issue to another phase: a run on the issue is
/// ended first, as with `pr close`, and the commits of a pull request are kept whatever the next agent does to the branch.
/// Returns what is said of it.
fn end_review(
    session: &mut Session,
    id: &IssueId,
    labels: &[String],
) -> anyhow::Result<Option<String>> {
    let phase = phase_of(labels);
    if session.store.superseded_by(id, phase.as_ref())?.is_none() {
        return Ok(None);
    }
    end_run_of(&session.installation, &mut session.store, id)?;
    Ok(match session.store.superseded_by(id, phase.as_ref())? {
        None => None,
        Some(SupersededReview::Delivery(claim)) => Some(format!(
            "Delivery {} of the phase {} is superseded.",
            claim.id, claim.phase
        )),
        Some(SupersededReview::PullRequest(pr)) => {
            let project = session.store.project(&pr.project)?;
            let kept = keep_head(&session.installation, &project, &pr)?;
            Some(format!(
                "Closed pull request {}; its commits stay on {}, and in {kept}.",
                pr.id, pr.branch
            ))
        }
    })
}
