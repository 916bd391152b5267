//! `symphony service-worker`, hidden: the process that each attempt on a ticket gets.

use std::path::PathBuf;

use clap::Args;
use symphony_service::service::{Worker, WorkerFiles};

use super::args::stop_of;
use crate::app::App;
use crate::failure::Context as _;

/// What `service-worker` takes.
#[derive(Debug, Args)]
pub(crate) struct ServiceWorkerArgs {
    /// The folder of its files
    folder: PathBuf,
}

impl ServiceWorkerArgs {
    pub(crate) fn run(&self, app: &App) -> anyhow::Result<()> {
        let worker = Worker {
            executable: std::env::current_exe().context("find symphony's own program")?,
            files: WorkerFiles::new(self.folder.clone()),
            environment: app.surroundings.environment.clone(),
        };
        worker.run().map_err(|error| stop_of(&error).into())
    }
}
