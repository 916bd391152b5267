//! `symphony issue add`.

use clap::Args;
use symphony_core::config::NamedProvider;
use symphony_core::gates::FIXES_GATE_LABEL;
use symphony_core::id::IssueId;
use symphony_core::issue::{Issue, IssueStatus, Priority, Size};
use symphony_core::profile::{AgentChoice, ModelName};
use symphony_runner::order::{add_issue, unknown_phase, unusable_choice};
use symphony_runner::session::Session;
use symphony_store::NewIssue;
use symphony_view::IssueView;

use super::repair::of_repairs;
use crate::app::App;
use crate::failure::Context as _;
use crate::value::{ProviderParser, issue_id, named};

/// What `issue add` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  symphony issue add 'Greet in German' --description 'hello.sh -l de prints Hallo' --label i18n\n  symphony issue add 'Speed up the parser' --agent codex-cli --model gpt-5.1-codex"
)]
pub(crate) struct AddArgs {
    /// One-line summary of the change you want
    title: String,
    /// What you want done; `-` reads it from standard input
    #[arg(
        short,
        long,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true
    )]
    description: String,
    /// A label; may be given several times. `phase:NAME` sets the phase
    #[arg(short, long = "label", value_name = "LABEL")]
    labels: Vec<String>,
    /// How urgent the issue is
    #[arg(short, long, value_name = "PRIORITY", default_value = "none", value_parser = named(Priority::NAMES, Priority::parse))]
    priority: Priority,
    /// How much work the issue is
    #[arg(short, long, value_name = "SIZE", value_parser = named(Size::NAMES, Size::parse))]
    size: Option<Size>,
    /// An issue that must be done first; may be given several times
    #[arg(long = "depends-on", value_name = "ISSUE", value_parser = issue_id)]
    depends_on: Vec<IssueId>,
    /// The issue that this one is a part of
    #[arg(long, value_name = "ISSUE", value_parser = issue_id)]
    parent: Option<IssueId>,
    /// The first status: an issue in `todo` starts as soon as it can, one in `backlog` waits until you move it
    #[arg(long, value_name = "STATUS", default_value = "todo", value_parser = named(&["backlog", "todo"], IssueStatus::parse))]
    status: IssueStatus,
    /// The gate that this issue repairs; agents work on the issue even while the project is on hold because that gate fails on the base
    #[arg(long = "fixes-gate", value_name = "NAME")]
    fixes_gate: Option<String>,
    /// The issue's id in another tracker
    #[arg(long = "external-id", value_name = "ID")]
    external_id: Option<String>,
    /// The provider that runs its agents, except judges, instead of the configured one
    #[arg(long, value_name = "PROVIDER", value_parser = ProviderParser)]
    agent: Option<NamedProvider>,
    /// The model that its agents, except judges, use
    #[arg(long, value_name = "MODEL", value_parser = ModelName::parse)]
    model: Option<ModelName>,
}

impl AddArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let description = app.text(&self.description)?;
        let mut session = app.session()?;
        let mut labels = self.labels.clone();
        labels.extend(
            self.fixes_gate
                .as_ref()
                .map(|name| format!("{FIXES_GATE_LABEL}{name}")),
        );
        let new = NewIssue {
            project: session.project.id.clone(),
            title: self.title.clone(),
            description,
            status: self.status,
            priority: self.priority,
            size: self.size,
            labels,
            parent: self.parent.clone(),
            depends_on: self.depends_on.clone(),
            external_id: self.external_id.clone(),
            choice: AgentChoice {
                provider: self.agent.as_ref().map(ToString::to_string),
                model: self.model.clone(),
            },
        };
        let issue = add_issue(&mut session, &App::as_human(), &new)
            .map_err(|error| of_repairs(&session, error))
            .context("add the issue")?;
        let sentence = format!("Added {}: {}", issue.id, issue.title);
        if let Some(phase) = unknown_phase(&session, &issue) {
            app.out.warn(&format!(
                "the project has no phase `{phase}`, so no agent will start on {}; `symphony phase list` lists its phases",
                issue.id
            ));
        }
        warn_of_unusable(app, &session, &issue);
        app.out.done(&IssueView::from(issue), &sentence)
    }
}

/// Warns if the provider that was set on an issue cannot be used.
pub(super) fn warn_of_unusable(app: &App, session: &Session, issue: &Issue) {
    if let Some(problem) = unusable_choice(session, issue) {
        app.out.warn(&format!(
            "no agent can start on {} yet: {problem}",
            issue.id
        ));
    }
}
