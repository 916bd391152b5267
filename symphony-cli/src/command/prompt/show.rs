//! `symphony prompt show`.

use clap::Args;
use symphony_core::agent::AgentType;
use symphony_core::config::NamedProvider;
use symphony_core::id::IssueId;
use symphony_prompt::BuiltPrompt;
use symphony_runner::prompts::preview::{
    PreviewOptions, assigned_set, preview_project_prompt, preview_prompt,
};
use symphony_runner::session::Session;
use symphony_view::PromptView;

use crate::app::App;
use crate::command::{find_agent_run, known_profile, sent_prompts};
use crate::failure::{Context as _, Exit, Stop};
use crate::value::{ProviderParser, RunReference, issue_id};

/// What `prompt show` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "The scanner, background research and the setup wizard work on the project: select them with \
                  --profile and no issue.\n\n\
                  With --json: `system`, `user`, `report`, and with --diff-run `difference`.\n\nExamples:\n  symphony prompt show SYM-1\n  \
                  symphony prompt show SYM-1 --profile judge --texts\n  symphony prompt show --profile scanner\n  symphony prompt show \
                  SYM-1 --diff-run SYM-1"
)]
pub(crate) struct ShowArgs {
    /// The issue; leave it out for an agent that works on the project
    #[arg(value_parser = issue_id)]
    issue: Option<IssueId>,
    /// Use this profile instead of the one that the tick would choose
    #[arg(long, value_name = "TYPE", value_parser = AgentType::parse)]
    profile: Option<AgentType>,
    /// Use this provider instead of the configured one
    #[arg(long, value_name = "NAME", value_parser = ProviderParser)]
    provider: Option<NamedProvider>,
    /// Show what differs from a past run (its id, or an issue to select its newest run of an agent)
    #[arg(long, value_name = "RUN")]
    diff_run: Option<RunReference>,
    /// Print the two prompts too
    #[arg(long, visible_alias = "text")]
    texts: bool,
}

impl ShowArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let mut session = app.session()?;
        let prompt_set = match &self.issue {
            Some(issue) => {
                let issue = session.store.issue(issue).context("find the issue")?;
                assigned_set(&session.installation, &session.store, &issue)
                    .context("find the set of prompts of the issue")?
            }
            None => None,
        };
        let built = match (&self.issue, &self.profile) {
            (Some(issue), _) => self.of_issue(&mut session, issue)?,
            (None, Some(agent)) => self.of_project(&mut session, agent)?,
            (None, None) => return Err(nothing_named().into()),
        };
        let mut view = PromptView::new(built, self.texts).with_set(prompt_set);
        if let Some(reference) = &self.diff_run {
            let run = find_agent_run(&session.store, reference)
                .context("find the run to compare with")?;
            let sent = sent_prompts(&session.store, &run)?;
            view = view.compare(run.id.to_string(), &sent);
        }
        app.out.answer_long(&view)
    }

    fn of_issue(&self, session: &mut Session, issue: &IssueId) -> anyhow::Result<BuiltPrompt> {
        let what = format!("build the prompts for {issue}");
        if let Some(agent) = &self.profile {
            if matches!(agent, AgentType::Scanner | AgentType::Wizard) {
                let message = format!("the {agent} works on the project, not on an issue");
                let hint = format!("`symphony prompt show --profile {agent}` shows its prompts");
                return Err(Stop::new(Exit::Usage, message).hint(hint).into());
            }
            known_profile(session, agent)?;
        }
        let options = PreviewOptions {
            agent: self.profile.clone(),
            provider: self.provider.clone(),
        };
        preview_prompt(&session.installation, &mut session.store, issue, &options).context(what)
    }

    fn of_project(&self, session: &mut Session, agent: &AgentType) -> anyhow::Result<BuiltPrompt> {
        let what = format!("build the prompts of the {agent}");
        match agent {
            // it has a prompt of its own, and no profile
            AgentType::Wizard => {}
            AgentType::Scanner | AgentType::Researcher => {
                known_profile(session, agent)?;
            }
            _ => return Err(works_on_an_issue(&format!("the {agent}")).into()),
        }
        preview_project_prompt(
            &session.installation,
            &mut session.store,
            &session.project,
            agent.clone(),
            self.provider.clone(),
        )
        .context(what)
    }
}

fn nothing_named() -> Stop {
    Stop::new(Exit::Usage, "no issue and no profile was named").hint(
        "`symphony prompt show SYM-1` shows the prompts for an issue, `symphony prompt show --profile scanner` those of an agent \
         that works on the project",
    )
}

fn works_on_an_issue(who: &str) -> Stop {
    let message = format!("{who} works on an issue, and none was named");
    Stop::new(Exit::Usage, message).hint(
        "name one: `symphony prompt show SYM-1`; the scanner, the researcher and the wizard work on the project, too",
    )
}
