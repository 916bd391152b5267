//! `symphony runs say`.

use clap::Args;
use symphony_runner::order::{Sent, say_to_issue, say_to_run};
use symphony_view::MessageView;

use super::find::find_agent_run;
use crate::app::App;
use crate::failure::Context as _;
use crate::value::RunReference;

/// What `runs say` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "An agent that is running gets the message at once if its CLI accepts messages, as Claude Code, Codex \
                  (app-server), opencode and Qwen Code do. Any other agent gets it when its turn ends, or else at the start of the next run; the output says which. The message stays with the issue as a comment.\n\n\
                  Examples:\n  symphony runs say SYM-1 'Use the existing parser'\n  git diff | symphony runs say SYM-1 -"
)]
pub(crate) struct SayArgs {
    /// The run's id, or the beginning or end of that id; or an issue, to write to the agent that works on it
    #[arg(value_name = "RUN|ISSUE")]
    run: RunReference,
    /// The message; `-` reads it from standard input
    text: String,
}

impl SayArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let text = app.text(&self.text)?;
        let view = MessageView::from(self.say(app, &text).context("send the message")?);
        app.out.done(&view, &view.sentence())
    }

    fn say(&self, app: &App, text: &str) -> anyhow::Result<Sent> {
        let mut session = app.session()?;
        let store = &mut session.store;
        let sent = match &self.run {
            RunReference::Issue(issue) => say_to_issue(store, &App::as_human(), issue, text)?,
            RunReference::Id(_) => {
                let run = find_agent_run(store, &self.run)?;
                say_to_run(store, &App::as_human(), &run, text)?
            }
        };
        Ok(sent)
    }
}
