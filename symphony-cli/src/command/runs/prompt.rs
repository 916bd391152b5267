//! `symphony runs prompt`.

use clap::Args;
use symphony_core::run::Run;
use symphony_runner::prompts::sent::SentPrompts;
use symphony_store::Store;
use symphony_view::PromptView;

use super::find::find_agent_run;
use crate::app::App;
use crate::failure::{Context as _, Exit, Stop};
use crate::value::RunReference;

/// What `runs prompt` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "The texts have a placeholder for each secret value. They are kept for as long as the log.\n\n\
                  With --json: `system`, `user` and `report`; the texts are null once they have been deleted.\n\n\
                  Examples:\n  symphony runs prompt SYM-1\n  symphony runs prompt SYM-1 --texts"
)]
pub(crate) struct PromptArgs {
    /// The run's id, or the beginning or end of that id; or an issue, to select its newest run of an agent
    #[arg(value_name = "RUN|ISSUE")]
    run: RunReference,
    /// Print the two prompts too
    #[arg(long, visible_alias = "text")]
    texts: bool,
}

impl PromptArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        const SHOW: &str = "show the prompts";
        let session = app.session()?;
        let run = find_agent_run(&session.store, &self.run).context(SHOW)?;
        let sent = sent_prompts(&session.store, &run).context(SHOW)?;
        let view = PromptView::sent(sent, self.texts).with_set(run.prompt_set);
        app.out.answer_long(&view)
    }
}

/// Reads the prompts that a run's agent was given.
///
/// # Errors
/// When the run ended before they were built.
pub(crate) fn sent_prompts(store: &Store, run: &Run) -> anyhow::Result<SentPrompts> {
    let project = store.project(&run.project)?;
    SentPrompts::of(&project.root, run).ok_or_else(|| {
        let message = format!("run {} has no report on its prompts", run.id);
        Stop::new(Exit::NotFound, message)
            .hint("gates have no prompts, and neither does a run that ended before its prompts were built or in which a person works")
            .into()
    })
}
