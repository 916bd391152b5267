//! `symphony supervise`, hidden: the process that each run gets.

use std::path::PathBuf;

use clap::Args;
use symphony_core::id::RunId;
use symphony_runner::supervise::{SuperviseMode, supervise};

use crate::app::App;
use crate::failure::Context as _;

/// What `supervise` takes.
#[derive(Debug, Args)]
pub(crate) struct SuperviseArgs {
    /// The run
    #[arg(long, value_name = "ID")]
    run: RunId,
    /// Do the exit handling only
    #[arg(long)]
    finish: bool,
    /// Open the session in the terminal with this path
    #[arg(long, value_name = "PATH", conflicts_with = "finish")]
    terminal: Option<PathBuf>,
    /// Work as a worker whose clones are in this folder
    #[arg(long = "worker-data", value_name = "PATH")]
    worker_data: Option<PathBuf>,
}

impl SuperviseArgs {
    pub(crate) fn run(&self, app: &App) -> anyhow::Result<()> {
        let surroundings = &app.surroundings;
        let installation = match &self.worker_data {
            None => surroundings.installation()?,
            Some(data) => surroundings
                .installation_at(surroundings.current.clone())?
                .for_worker(data.clone()),
        };
        let mode = if self.finish {
            SuperviseMode::Finish
        } else {
            SuperviseMode::Run
        };
        supervise(&installation, &self.run, mode, self.terminal.clone())
            .with_context(|| format!("supervise run {}", self.run))
    }
}
