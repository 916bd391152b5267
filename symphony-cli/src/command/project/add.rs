//! `symphony project add`.

use std::path::PathBuf;

use clap::Args;
use symphony_core::config::IssuePrefix;
use symphony_workspace::discover;

use crate::app::App;
use crate::command::{InitArgs, Place, TrialArgs};
use crate::failure::{Context as _, Exit, Stop};

/// What `project add` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "It sets the repository up as `symphony init` does, and names this installation's database in its \
                  symphony.config.json.\n\nExample:\n  symphony project add ../api --prefix API"
)]
pub(crate) struct AddArgs {
    /// The repository
    path: PathBuf,
    /// The prefix of its issues' identifiers; by default taken from the folder's name
    #[arg(long, value_name = "PREFIX", value_parser = |text: &str| IssuePrefix::parse(text))]
    prefix: Option<IssuePrefix>,
    /// Have an agent find gates, sensitive paths and instructions before any other work starts
    #[arg(long)]
    wizard: bool,
    #[command(flatten)]
    trial: TrialArgs,
}

impl AddArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let what = || format!("add {}", self.path.display());
        let here = app.session().with_context(what)?;
        let folder = app.surroundings.current.join(&self.path);
        if !folder.is_dir() {
            let message = format!("there is no folder {}", folder.display());
            return Err(Stop::new(Exit::NotFound, message)
                .hint("name the folder of a git repository")
                .into());
        }
        let root = discover(&folder).with_context(what)?.root;
        let init = InitArgs::new(self.prefix.clone(), self.wizard, self.trial);
        let view = init
            .set_up_and_try(
                app,
                Place {
                    root,
                    joins: Some(&here.installation.config),
                },
            )
            .with_context(what)?;
        app.out.answer(&view)
    }
}
