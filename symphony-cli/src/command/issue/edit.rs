//! `symphony issue edit`.

use clap::Args;
use symphony_core::config::NamedProvider;
use symphony_core::id::IssueId;
use symphony_core::issue::{Priority, Size};
use symphony_core::profile::ModelName;
use symphony_runner::order::{Edited, EndedReview, edit_issue};
use symphony_store::IssueEdit;
use symphony_view::IssueView;

use super::add::warn_of_unusable;
use super::repair::of_repairs;
use crate::app::App;
use crate::failure::{Context as _, Exit, Stop};
use crate::value::{ProviderParser, issue_id, named};

/// What `issue edit` takes.
#[derive(Debug, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag that a person types; clap keeps them apart"
)]
#[command(
    after_help = "Examples:\n  symphony issue edit SYM-1 --priority high --add-label urgent\n  symphony issue edit SYM-1 --remove-label phase:ready --add-label phase:research\n  symphony issue edit SYM-1 --agent codex-cli --no-model"
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
    /// The provider that runs its agents, except judges, from the next run on
    #[arg(long, value_name = "PROVIDER", value_parser = ProviderParser)]
    agent: Option<NamedProvider>,
    /// Use the provider of the profile or the configuration again
    #[arg(long = "no-agent", conflicts_with = "agent")]
    no_agent: bool,
    /// The model that its agents, except judges, use from the next run on
    #[arg(long, value_name = "MODEL", value_parser = ModelName::parse)]
    model: Option<ModelName>,
    /// Use the model of the profile or the configuration again
    #[arg(long = "no-model", conflicts_with = "model")]
    no_model: bool,
}

impl EditArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        if self.changes_nothing() {
            let message = format!("no change to {} was given", self.issue);
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
            provider: if self.no_agent {
                Some(None)
            } else {
                self.agent.as_ref().map(|agent| Some(agent.to_string()))
            },
            model: if self.no_model {
                Some(None)
            } else {
                self.model.clone().map(Some)
            },
        };
        let old = session.store.issue(&self.issue).with_context(what)?.labels;
        edit.labels = self.new_labels(&old);
        let edited = edit_issue(&mut session, &App::as_human(), &self.issue, &edit);
        let Edited { issue, ended } = edited
            .map_err(|error| of_repairs(&session, error))
            .with_context(what)?;
        let mut sentence = format!("Changed {}: {}", issue.id, issue.title);
        if let Some(ended) = ended {
            sentence = format!("{sentence}. {}", ended_in_words(&ended));
        }
        warn_of_unusable(app, &session, &issue);
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
            && self.agent.is_none()
            && self.model.is_none()
            && !(self.no_size || self.no_dependencies || self.no_agent || self.no_model)
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

/// Says of a review that it ended.
fn ended_in_words(ended: &EndedReview) -> String {
    match ended {
        EndedReview::Delivery(delivery) => format!(
            "Delivery {} of the phase {} is superseded.",
            delivery.id, delivery.phase
        ),
        EndedReview::PullRequest { pr, kept } => format!(
            "Closed pull request {}; its commits stay on {}, and in {kept}.",
            pr.id, pr.branch
        ),
    }
}
