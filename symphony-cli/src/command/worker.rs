//! `symphony worker`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use symphony_core::placement::{Host, Pool};
use symphony_runner::RunnerError;
use symphony_runner::worker::{Until, WorkerNews, WorkerOptions, WorkerRefusal, host_name, work};

use crate::app::App;
use crate::failure::{Context as _, Exit};
use crate::interrupt::Interrupts;

/// Most runs that one worker may have: far more than a machine carries.
const SLOTS_MAX: i64 = 1_000;

/// What `worker` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "A worker needs a database on a server, but no repository: it clones each project from its hub. After SIGTERM \
                  or Ctrl-C it takes no new runs, and exits when its last run has ended. A second Ctrl-C ends it at once; its \
                  agents continue.\n\n\
                  Example:\n  symphony worker --pool linux --slots 8"
)]
pub(crate) struct WorkerArgs {
    /// Take runs of this pool
    #[arg(long, value_name = "POOL")]
    pool: Pool,
    /// Run at most this many at the same time
    #[arg(long, value_name = "N", default_value = "4", value_parser = clap::value_parser!(u32).range(1..=SLOTS_MAX))]
    slots: u32,
    /// Take no new runs, and exit when the last one has ended
    #[arg(long)]
    drain: bool,
    /// Keep clones of projects in this folder [default: `worker.data_dir`]
    #[arg(long = "data-dir", value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Name of this host; no other host that uses the database may have the same name [default: its host name]
    #[arg(long, value_name = "NAME")]
    host: Option<Host>,
}

impl WorkerArgs {
    pub(crate) fn run(&self, app: &App) -> anyhow::Result<Exit> {
        let surroundings = &app.surroundings;
        let installation = surroundings.installation_at(surroundings.current.clone())?;
        let own = self.data_dir.as_ref();
        let named = own.map(|data| surroundings.current.join(data));
        let data = named
            .or_else(|| installation.config.worker.data_dir.clone())
            .ok_or_else(|| RunnerError::from(WorkerRefusal::NoFolder))?;
        let host = match &self.host {
            Some(host) => host.clone(),
            None => host_name().map_err(RunnerError::from)?,
        };
        let options = WorkerOptions {
            pool: self.pool.clone(),
            host,
            slots: self.slots,
            data: data.clone(),
        };
        let interrupts = Interrupts::listen().context("listen to Ctrl-C")?;
        let until = || match (interrupts.count(), self.drain) {
            (0, false) => Until::Told,
            (0 | 1, _) => Until::Drained,
            _ => Until::Now,
        };
        let wait = |pause: Duration| interrupts.wait(pause);
        app.out.note(&format!(
            "Host {} takes runs of pool {}, at most {} at once.",
            options.host, options.pool, options.slots
        ));
        let installation = installation.for_worker(data);
        work(&installation, &options, until, wait, |news| tell(app, news)).context("work")?;
        app.out.note("The worker has ended.");
        Ok(Exit::Done)
    }
}

fn tell(app: &App, news: &WorkerNews) {
    match news {
        WorkerNews::Started { run, on } => app.out.note(&format!("Started run {run} on {on}.")),
        WorkerNews::Finishing { run } => {
            app.out.note(&format!(
                "The supervisor of run {run} had died: its work is being saved."
            ));
        }
        WorkerNews::StartedAgain { run } => app.out.note(&format!(
            "Started run {run}, which this host had taken before."
        )),
        WorkerNews::EndedZombie { run } => {
            app.out.note(&format!(
                "Ended a process of run {run}, which no longer belongs to this host."
            ));
        }
        WorkerNews::TakesAgain => app.out.note("The worker takes runs again."),
        WorkerNews::Problem { text } => app.out.warn(text),
        _ => {}
    }
}
