//! `symphony completions`.

use clap::Args;
use clap_complete::Shell;

use crate::app::App;
use crate::root::tree;

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
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut tree(), "symphony", &mut script);
        app.out.write_raw(&script)
    }
}
