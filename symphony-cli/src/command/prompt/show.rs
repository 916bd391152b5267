//! `symphony prompt show`.

use anyhow::Context as _;
use clap::Args;
use symphony_core::agent::AgentType;
use symphony_core::config::ProviderName;
use symphony_core::id::IssueId;
use symphony_core::run::Run;
use symphony_prompt::Report;
use symphony_runner::paths::RunPaths;
use symphony_runner::preview::{PreviewOptions, preview_prompt};
use symphony_store::Store;

use crate::app::App;
use crate::command::{find_run, known_profile};
use crate::failure::{Exit, Stop};
use crate::value::{RunReference, issue_id};
use crate::view::PromptView;

/// What `prompt show` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "With --json: `system`, `user`, `report`, and with --diff-run `difference`.\n\nExamples:\n  symphony prompt show SYM-1\n  symphony prompt show SYM-1 --profile judge --texts\n  symphony prompt show SYM-1 --diff-run SYM-1"
)]
pub(crate) struct ShowArgs {
    /// The issue
    #[arg(value_parser = issue_id)]
    issue: IssueId,
    /// For this profile instead of the one a dispatch would choose
    #[arg(long, value_name = "TYPE", value_parser = AgentType::parse)]
    profile: Option<AgentType>,
    /// For this provider instead of the configured one
    #[arg(long, value_name = "NAME", value_parser = ProviderName::parse)]
    provider: Option<ProviderName>,
    /// Say what is different from a past run (its id, or an issue for its newest run)
    #[arg(long, value_name = "RUN")]
    diff_run: Option<RunReference>,
    /// Print the two prompts too
    #[arg(long)]
    texts: bool,
}

impl ShowArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let mut session = app.session()?;
        let options = PreviewOptions {
            agent: self.profile.clone(),
            provider: self.provider,
        };
        let what = format!("build the prompts for {}", self.issue);
        // the wizard has none, and is refused with the reason below
        if let Some(agent) = &self.profile
            && *agent != AgentType::Wizard
        {
            known_profile(&session, agent, &what)?;
        }
        let built = preview_prompt(
            &session.installation,
            &mut session.store,
            &self.issue,
            &options,
        )
        .context(what)?;
        let mut view = PromptView::new(built, self.texts);
        if let Some(reference) = &self.diff_run {
            let run =
                find_run(&session.store, reference).context("find the run to compare with")?;
            view = view.compare(
                run.id.to_string(),
                &past_report(&run)?,
                past_texts(&session.store, &run)?,
            );
        }
        app.out.answer_long(&view)
    }
}

/// The report that stands in a run's metadata.
fn past_report(run: &Run) -> anyhow::Result<Report> {
    let report = run.metadata.get("prompt").cloned().unwrap_or_default();
    serde_json::from_value(report).map_err(|_absent| {
        Stop::new(
            Exit::NotFound,
            format!("run {} has no report on its prompts", run.id),
        )
        .hint("a run that did not get as far as its prompts has none")
        .into()
    })
}

/// The prompts of a run, where they were kept.
fn past_texts(store: &Store, run: &Run) -> anyhow::Result<Option<(String, String)>> {
    let paths = RunPaths::new(&store.project(&run.project)?.root, &run.id);
    let read = |path| std::fs::read_to_string(path).ok();
    Ok(read(paths.system_prompt()).zip(read(paths.user_prompt())))
}
