//! The loop of a worker.

use std::time::{Duration, Instant};

use symphony_core::placement::Host;

use super::local::make_private;
use super::model::{Taking, Until, WorkerNews, WorkerOptions};
use super::refusal::WorkerRefusal;
use super::round::Round;
use crate::error::RunnerError;
use crate::installation::Installation;
use crate::placement::control;
use crate::process::{ProcessError, RunLock};

/// Time between two rounds where nothing can be taken.
const PAUSE: Duration = Duration::from_secs(1);
/// Time between two looks for a run that waits: how long it waits at most for a worker with a free slot.
const LOOK: Duration = Duration::from_millis(200);

/// Takes runs of a pool and looks after those of this host. `until` is asked in each round, `wait` waits for a while, or until its answer
/// may be another one.
///
/// # Errors
/// When the database is a file or cannot be opened, or another worker of this host serves the pool. Once the worker is at work, a database
/// that cannot be asked is a problem of the round.
pub fn work(
    installation: &Installation,
    options: &WorkerOptions,
    until: impl Fn() -> Until,
    wait: impl Fn(Duration),
    mut tell: impl FnMut(&WorkerNews),
) -> Result<(), RunnerError> {
    let mut store = installation.worker_store()?;
    make_private(&options.data)?;
    let _lock = own_lock(options)?;
    let mut round = Round::new(installation, options)?;
    let mut failed = None;
    loop {
        let asked = until();
        let taking = match asked {
            Until::Told => Taking::Yes,
            Until::Drained => Taking::No,
            Until::Now => return Ok(()),
        };
        let own = match round.turn(&mut store, taking, &mut tell) {
            Ok(0) if taking == Taking::No => return Ok(()),
            Ok(own) => own,
            Err(error) => {
                // Told once while it lasts.
                let text = error.with_causes();
                if failed.as_ref() != Some(&text) {
                    tell(&WorkerNews::Problem { text: text.clone() });
                    failed = Some(text);
                }
                wait(PAUSE);
                continue;
            }
        };
        failed = None;
        let over = Instant::now();
        while over.elapsed() < PAUSE {
            wait(LOOK);
            if until() != asked || round.is_wanted(&store, taking, own) {
                break;
            }
        }
    }
}

/// Keeps a second worker of the same pool off this host's runs.
fn own_lock(options: &WorkerOptions) -> Result<RunLock, RunnerError> {
    let path = options.data.join(format!("worker-{}.lock", options.pool));
    match RunLock::acquire(path) {
        Ok(lock) => Ok(lock),
        Err(ProcessError::LockHeld { .. }) => Err(WorkerRefusal::Second {
            pool: options.pool.clone(),
            data: options.data.clone(),
        }
        .into()),
        Err(error) => Err(error.into()),
    }
}

/// Returns the name of this host.
///
/// # Errors
/// When it is none that a worker can have.
pub fn host_name() -> Result<Host, WorkerRefusal> {
    let name = control::host_name()
        .unwrap_or_default()
        .to_ascii_lowercase();
    Host::parse(name.as_str()).map_err(|_no_name| WorkerRefusal::NoHostName { found: name })
}
