//! Starting a worker: recorded first, and with its lock held from before the record to its end.

use symphony_core::Timestamp;
use symphony_core::id::RunId;
use symphony_runner::process::{DetachedLaunch, DetachedSupervisor, RunLock};
use symphony_store::{ServiceJob, ServiceTask, Store};
use symphony_workflow::Ticket;
use symphony_workspace::Failpoint;

use super::error::ServiceError;
use super::order::WorkOrder;
use super::place::ServicePlace;
use super::ticket::{KeptTicket, ticket_text};

/// The hidden command that runs a worker.
pub const WORKER_COMMAND: &str = "service-worker";

/// A worker before it is recorded: its lock is held and its order written.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) job: ServiceJob,
    lock: RunLock,
}

/// Makes the files of a new worker and takes its lock.
///
/// # Errors
/// When they cannot be written.
pub(crate) fn prepare(
    place: &ServicePlace,
    text: &str,
    task: ServiceTask,
    ticket: &Ticket,
    attempt: Option<u32>,
    now: Timestamp,
) -> Result<Prepared, ServiceError> {
    let worker = RunId::parse(uuid::Uuid::now_v7().to_string()).expect("a UUID is a run id");
    let files = place.worker(&worker);
    files.write_order(&WorkOrder {
        workflow: place.workflow.clone(),
        text: text.to_owned(),
        task: task.into(),
        ticket: KeptTicket::from(ticket.clone()),
        attempt,
    })?;
    let lock = RunLock::acquire(files.lock())?;
    Ok(Prepared {
        job: ServiceJob {
            ticket: ticket.id.clone(),
            worker,
            task,
            identifier: ticket.identifier.clone(),
            attempt,
            snapshot: ticket_text(ticket),
            started_at: now,
            ending: None,
            error: None,
        },
        lock,
    })
}

impl Prepared {
    /// Records the worker and starts it. `None` when another worker has the ticket.
    ///
    /// # Errors
    /// When it cannot be recorded, or not be started. In the second case its record is there without a process, as after a
    /// crash, and the next look draws the conclusion.
    pub(crate) fn begin(
        self,
        place: &ServicePlace,
        store: &mut Store,
    ) -> Result<Option<DetachedSupervisor>, ServiceError> {
        Failpoint::ServicePrepared.reach();
        // Before the start: a crash between the two would otherwise leave an agent that no one looks after.
        if !store.begin_service_job(&self.job)? {
            return Ok(None);
        }
        Failpoint::ServiceRecorded.reach();
        self.start(place).map(Some)
    }

    /// Starts the worker, which is recorded already.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(crate) fn start(self, place: &ServicePlace) -> Result<DetachedSupervisor, ServiceError> {
        let files = place.worker(&self.job.worker);
        let launch = DetachedLaunch {
            executable: place.executable.clone(),
            arguments: vec![WORKER_COMMAND.into(), files.folder().into()],
            directory: place.directory().to_owned(),
            log: files.log("worker"),
            environment: Some(place.environment.clone()),
            lock: self.lock,
        };
        Ok(launch.spawn()?)
    }
}
