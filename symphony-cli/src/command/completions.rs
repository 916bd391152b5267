//! `symphony completions`.

use clap::Args;
use clap_complete::Shell;

use crate::app::App;
use crate::completion::registration;

/// What `completions` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  symphony completions bash > ~/.local/share/bash-completion/completions/symphony"
)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

impl CompletionsArgs {
    pub(crate) fn run(&self, app: &App) -> anyhow::Result<()> {
        let script = registration(&self.shell.to_string())
            .ok_or_else(|| anyhow::anyhow!("there are no completions for {}", self.shell))?;
        app.out.write_raw(&script)
    }
}
