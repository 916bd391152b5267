//! The service between two looks: what it holds, and what it knows.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::time::Instant;

use symphony_core::Timestamp;
use symphony_core::id::RunId;
use symphony_runner::process::{DetachedSupervisor, ProcessError, RunLock};
use symphony_store::{ServiceJob, ServiceRetry, ServiceTask, Store};
use symphony_sync::linear_polls::LinearPolls;
use symphony_workflow::eligible::{Retry, Rules, Running, State, Waiting};
use symphony_workflow::{Config, Ticket};

use super::error::ServiceError;
use super::file::{FileChange, WatchedFile};
use super::log::{About, Log, LogLine};
use super::place::ServicePlace;
use super::polls::polls_of;
use super::progress::Progress;
use super::ticket::ticket_of;

/// How the service begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// To look again and again: a file that cannot be used is a failure.
    Loop,
    /// To look once: where the file cannot be used, agents at work are looked after with the last one that could.
    Tick,
}

/// The service. It holds the lock of its file: only one is at work at a time, whether it loops or ticks.
#[derive(Debug)]
pub struct Service {
    pub(super) place: ServicePlace,
    pub(super) start: Start,
    pub(super) store: Store,
    pub(super) file: WatchedFile,
    pub(super) log: Log,
    pub(super) polls: Option<(PollKey, LinearPolls)>,
    pub(super) progress: BTreeMap<RunId, Progress>,
    /// Workers that this process started: their ends are taken note of, so that they leave the table of processes.
    pub(super) children: Vec<DetachedSupervisor>,
    /// Workers that were asked to end by this process, and when.
    pub(super) asked: BTreeMap<RunId, Instant>,
    /// Tickets that are active and wait, as of the last look at the tracker.
    pub(super) waiting: Vec<(Ticket, Waiting)>,
    /// Workspaces that are still to be removed.
    pub(super) removals: VecDeque<Ticket>,
    /// Workspaces whose removal died: tried again with the next look at the tracker, and not at once.
    pub(super) removals_again: Vec<Ticket>,
    /// What is wrong now, by what it is about.
    pub(super) troubles: BTreeMap<String, String>,
    /// Held until this value is gone.
    _lock: RunLock,
}

/// What a connection to the tracker depends on.
pub(super) type PollKey = (String, Option<String>, String);

impl Service {
    /// Takes the lock of a file, opens what is kept beside it, and reads the file.
    ///
    /// # Errors
    /// When another loop or tick is at work, the file cannot be used, or the database cannot be opened.
    pub fn open(place: ServicePlace, start: Start, log: Log) -> Result<Self, ServiceError> {
        let file = match start {
            Start::Loop => WatchedFile::open(&place)?,
            Start::Tick => WatchedFile::open_or_last(&place)?,
        };
        place.create()?;
        let lock = RunLock::acquire(place.lock()).map_err(|error| match error {
            ProcessError::LockHeld { .. } => ServiceError::Busy {
                workflow: place.workflow.clone(),
            },
            error => error.into(),
        })?;
        let store = Store::open(&place.database())?;
        let mut service = Self {
            place,
            start,
            store,
            file,
            log,
            polls: None,
            progress: BTreeMap::new(),
            children: Vec::new(),
            asked: BTreeMap::new(),
            waiting: Vec::new(),
            removals: VecDeque::new(),
            removals_again: Vec::new(),
            troubles: BTreeMap::new(),
            _lock: lock,
        };
        // a token or an address that cannot be used is found now, not at the first look
        service.polls()?;
        // a tick that runs every minute does not repeat what the one before has shown
        if service.keep_file() || start == Start::Loop {
            service.show_notes();
        }
        service.note_file();
        service.prune();
        Ok(service)
    }

    /// Returns the settings in force.
    pub fn config(&self) -> &Config {
        &self.file.in_force().config
    }

    pub(super) fn rules(&self) -> Rules {
        Rules::of(self.config())
    }

    /// Returns what is wrong now.
    pub fn troubles(&self) -> Vec<String> {
        self.troubles.values().cloned().collect()
    }

    /// Returns the connection to the tracker of the settings in force.
    pub(super) fn polls(&mut self) -> Result<LinearPolls, ServiceError> {
        let tracker = &self.config().tracker;
        let key = (
            tracker.endpoint.clone(),
            tracker.project_slug.clone(),
            tracker
                .api_key
                .as_ref()
                .map(|key| key.expose().to_owned())
                .unwrap_or_default(),
        );
        if let Some((kept, polls)) = &self.polls
            && *kept == key
        {
            return Ok(polls.clone());
        }
        let polls = polls_of(self.config())?;
        self.polls = Some((key, polls.clone()));
        Ok(polls)
    }

    /// Reads the file again, if it changed.
    pub(super) fn reload(&mut self) {
        match self.file.reload() {
            FileChange::None => return,
            FileChange::TakenOver => {
                let line = LogLine::info("workflow_reloaded")
                    .with("path", &self.place.workflow.display().to_string());
                self.log.write(&line);
                self.keep_file();
                self.show_notes();
            }
            FileChange::Refused => {}
        }
        self.note_file();
    }

    /// Keeps a copy of what is in force; says whether that is new.
    fn keep_file(&mut self) -> bool {
        let kept = self.file.keep().map_err(|error| error.to_string());
        let is_new = *kept.as_ref().unwrap_or(&false);
        self.trouble("copy of the settings", kept.err());
        is_new
    }

    /// Shows what a person may want to know about the settings in force, such as fields that have no effect.
    fn show_notes(&mut self) {
        for note in &self.file.in_force().notes {
            let line = LogLine::info("workflow_note").with("error", &note.to_string());
            self.log.write(&line);
        }
    }

    /// Shows what is wrong with the file.
    fn note_file(&mut self) {
        let fault = self.file.fault().map(|fault| {
            format!("{fault}; no new work starts, and the last good settings stay in force")
        });
        self.trouble("workflow", fault);
        let template = self.file.in_force().template.as_ref().err();
        let template =
            template.map(|error| format!("{error}; every attempt fails until it is corrected"));
        self.trouble("template", template);
    }

    /// Notes what is wrong with something, or that nothing is any more. What is new is logged.
    pub(super) fn trouble(&mut self, about: &str, text: Option<String>) {
        match text {
            Some(text) if self.troubles.get(about) == Some(&text) => {}
            Some(text) => {
                let line = LogLine::warning("trouble")
                    .with("about", about)
                    .with("error", &text);
                self.log.write(&line);
                self.troubles.insert(about.to_owned(), text);
            }
            None => {
                if let Some(text) = self.troubles.remove(about) {
                    let line = LogLine::info("trouble_over")
                        .with("about", about)
                        .with("error", &text);
                    self.log.write(&line);
                }
            }
        }
    }

    /// Returns what is going on, as it is decided about.
    pub(super) fn state(&self) -> Result<State, ServiceError> {
        let mut state = State::default();
        for job in self.store.service_jobs()? {
            if job.task == ServiceTask::Remove {
                continue;
            }
            let run = self.running(&job);
            state.running.insert(job.ticket, run);
        }
        for retry in self.store.service_retries()? {
            state.retries.insert(retry.ticket.clone(), retry_of(&retry));
        }
        Ok(state)
    }

    pub(super) fn running(&self, job: &ServiceJob) -> Running {
        Running {
            ticket: ticket_of(&job.snapshot, &job.ticket, &job.identifier),
            attempt: job.attempt,
            started_at: job.started_at,
            last_event_at: self
                .progress
                .get(&job.worker)
                .and_then(|known| known.last_at),
        }
    }

    /// Writes a line about a ticket.
    pub(super) fn log_about(&mut self, job: &ServiceJob, line: LogLine) {
        let session = self
            .progress
            .get(&job.worker)
            .and_then(|known| known.session.clone());
        let about = About {
            id: &job.ticket,
            identifier: &job.identifier,
            session: session.as_deref(),
        };
        let line = line.about(about);
        self.log.write(&line);
    }

    /// Removes the files of workers that are neither at work nor listed as ended.
    pub(super) fn prune(&mut self) {
        let known = self.store.service_jobs().and_then(|jobs| {
            let ended = self.store.service_ended()?;
            let ended = ended.into_iter().map(|one| one.worker);
            Ok(jobs
                .into_iter()
                .map(|job| job.worker)
                .chain(ended)
                .collect::<BTreeSet<_>>())
        });
        let Ok(known) = known else {
            return;
        };
        let Ok(entries) = fs::read_dir(self.place.workers()) else {
            return;
        };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let id = name.to_str().and_then(|name| RunId::parse(name).ok());
            if id.is_some_and(|id| !known.contains(&id)) {
                // the next one tries again
                let _left = fs::remove_dir_all(entry.path());
            }
        }
    }

    /// Takes note of the ends of workers that this process started.
    pub(super) fn reap(&mut self) {
        self.children
            .retain_mut(|child| !matches!(child.try_wait(), Ok(Some(_)) | Err(_)));
    }
}

pub(super) fn retry_of(kept: &ServiceRetry) -> Retry {
    Retry {
        identifier: kept.identifier.clone(),
        attempt: kept.attempt,
        due: kept.due,
        error: kept.error.clone(),
    }
}

pub(super) fn kept_retry(ticket: &str, retry: Retry) -> ServiceRetry {
    ServiceRetry {
        ticket: ticket.to_owned(),
        identifier: retry.identifier,
        attempt: retry.attempt,
        due: retry.due,
        error: retry.error,
    }
}

/// Says whether a retry is due. One that is further away than any wait can be was recorded by a clock that was ahead.
pub(super) fn is_due(due: Timestamp, now: Timestamp, longest: std::time::Duration) -> bool {
    let longest = u64::try_from(longest.as_millis()).unwrap_or(u64::MAX);
    due <= now || due > now.saturating_add_ms(longest.saturating_add(1000))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_clock_that_was_ahead_keeps_no_ticket_waiting() {
        let at = |ms| Timestamp::from_millisecond(ms).unwrap();
        let longest = Duration::from_mins(5);
        for (due, expected) in [
            (0, true),
            (1_000_000, true),
            (1_000_001, false),
            (1_300_000, false),
            (1_301_001, true),
            (90_000_000, true),
        ] {
            assert_eq!(is_due(at(due), at(1_000_000), longest), expected, "{due}");
        }
    }
}
