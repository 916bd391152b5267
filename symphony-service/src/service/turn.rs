//! One look at the tracker: reconcile, then dispatch (sections 8.1, 16.2 and 16.3).

use symphony_core::Timestamp;
use symphony_store::{ServiceEnding, ServiceJob, ServiceTask};
use symphony_workflow::Ticket;
use symphony_workflow::eligible::{
    CONTINUATION_DELAY, Exit, Found, Refresh, RetryStep, Running, after_exit, plan_dispatch,
    plan_refresh, plan_retry, stale_workspaces, stalled,
};
use symphony_workflow::workspace::WorkspaceKey;

use super::core::{Service, is_due, kept_retry, retry_of};
use super::error::ServiceError;
use super::folder;
use super::launch::prepare;
use super::log::LogLine;
use super::ticket::{refreshed, ticket_of, ticket_text};

/// Workspaces that are removed at the same time.
const REMOVALS_MAX: usize = 4;

impl Service {
    /// Finds the workspaces of tickets that have ended (section 8.6). They are removed one after the other from then on. Where
    /// the tracker does not answer, that is noted, and the service begins all the same.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn begin(&mut self) -> Result<(), ServiceError> {
        self.collect(Timestamp::now())?;
        let root = self.config().workspace.root.clone();
        let is_empty =
            std::fs::read_dir(&root).map_or(true, |mut entries| entries.next().is_none());
        if is_empty {
            return Ok(());
        }
        let states = self.config().tracker.terminal_states.clone();
        let answer = match self.polls() {
            Ok(polls) => polls
                .by_states(&states)
                .await
                .map_err(|error| format!("{}: {error}", error.class())),
            Err(error) => Err(error.to_string()),
        };
        match answer {
            Ok(answer) => {
                let stale = stale_workspaces(&answer, &self.rules());
                let is_stale = |ticket: &Ticket| {
                    WorkspaceKey::of(&ticket.identifier).is_ok_and(|key| stale.contains(&key))
                        && matches!(folder::find(&root, &ticket.identifier), Ok(Some(_)))
                };
                self.removals = answer.into_iter().filter(is_stale).collect();
                self.trouble("clean-up", None);
            }
            Err(error) => self.trouble(
                "clean-up",
                Some(format!("workspaces of ended tickets stay: {error}")),
            ),
        }
        self.remove_some()
    }

    /// Starts some of the removals that wait.
    pub(super) fn remove_some(&mut self) -> Result<(), ServiceError> {
        while !self.removals.is_empty() {
            let jobs = self.store.service_jobs()?;
            let removing = jobs
                .iter()
                .filter(|job| job.task == ServiceTask::Remove)
                .count();
            if removing >= REMOVALS_MAX {
                return Ok(());
            }
            let Some(ticket) = self.removals.pop_front() else {
                return Ok(());
            };
            // A ticket that has a worker is reconciled: its end cleans up.
            if !jobs.iter().any(|job| job.ticket == ticket.id) {
                self.start(&ticket, ServiceTask::Remove, None)?;
            }
        }
        Ok(())
    }

    /// Looks at the tracker once: what agents work on, and what they may begin.
    ///
    /// # Errors
    /// When the database cannot be read or written. What is wrong with the file or the tracker is noted as a trouble.
    pub async fn turn(&mut self) -> Result<(), ServiceError> {
        self.reload();
        self.collect(Timestamp::now())?;
        self.end_stalled(Timestamp::now())?;
        self.reconcile().await?;
        self.dispatch().await?;
        self.remove_some()?;
        // what was ordered to end is asked now, not at the next look: after a tick there may be none for a while
        self.collect(Timestamp::now())
    }

    /// Orders the end of agents that are silent.
    pub(super) fn end_stalled(&mut self, now: Timestamp) -> Result<(), ServiceError> {
        let jobs = self.attempts()?;
        let state = self.state()?;
        for id in stalled(&state, now, &self.rules()) {
            let job = jobs
                .iter()
                .find(|job| job.ticket == id && job.ending.is_none());
            if let Some(job) = job {
                self.order_end(job, ServiceEnding::Stall, now)?;
            }
        }
        Ok(())
    }

    fn attempts(&self) -> Result<Vec<ServiceJob>, ServiceError> {
        let mut jobs = self.store.service_jobs()?;
        jobs.retain(|job| job.task == ServiceTask::Attempt);
        Ok(jobs)
    }

    pub(super) fn order_end(
        &mut self,
        job: &ServiceJob,
        ending: ServiceEnding,
        now: Timestamp,
    ) -> Result<(), ServiceError> {
        self.store.order_service_end(&job.worker, ending, now)?;
        let line = LogLine::info("ending_worker").with("reason", ending.as_str());
        self.log_about(job, line);
        Ok(())
    }

    /// Asks the tracker for the tickets that agents work on. Where it does not answer, they work on.
    async fn reconcile(&mut self) -> Result<(), ServiceError> {
        let jobs = self.attempts()?;
        if jobs.is_empty() {
            return Ok(());
        }
        let ids: Vec<String> = jobs.iter().map(|job| job.ticket.clone()).collect();
        let answer = match self.polls() {
            Ok(polls) => polls
                .states_by_ids(&ids)
                .await
                .map_err(|error| format!("{}: {error}", error.class())),
            Err(error) => Err(error.to_string()),
        };
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) => {
                self.trouble(
                    "refresh",
                    Some(format!(
                        "agents work on without a look at their tickets: {error}"
                    )),
                );
                return Ok(());
            }
        };
        self.trouble("refresh", None);
        let now = Timestamp::now();
        let state = self.state()?;
        for (id, step) in plan_refresh(&state, &answer, &self.rules()) {
            let Some(job) = jobs.iter().find(|job| job.ticket == id) else {
                continue;
            };
            let ordered = job.ending.map(|(ending, _)| ending);
            match step {
                Refresh::StopAndClean if ordered != Some(ServiceEnding::Clean) => {
                    self.order_end(job, ServiceEnding::Clean, now)?;
                }
                Refresh::Stop if ordered.is_none() => {
                    self.order_end(job, ServiceEnding::Stop, now)?;
                }
                Refresh::Update(ticket) => {
                    let known = ticket_of(&job.snapshot, &job.ticket, &job.identifier);
                    let text = ticket_text(&refreshed(&known, *ticket));
                    if text != job.snapshot {
                        self.store.update_service_ticket(&id, &text, now)?;
                    }
                }
                Refresh::StopAndClean | Refresh::Stop => {}
            }
        }
        Ok(())
    }

    /// Starts what may begin: retries that are due, then other tickets.
    pub(super) async fn dispatch(&mut self) -> Result<(), ServiceError> {
        if self.file.fault().is_some() {
            return Ok(());
        }
        let states = self.config().tracker.active_states.clone();
        let answer = match self.polls() {
            Ok(polls) => polls
                .candidates(&states)
                .await
                .map_err(|error| format!("{}: {error}", error.class())),
            Err(error) => Err(error.to_string()),
        };
        let (candidates, fault) = match answer {
            Ok(candidates) => (Some(candidates), None),
            Err(error) => (None, Some(format!("no work starts: {error}"))),
        };
        self.trouble("candidates", fault);
        self.retry_due(candidates.as_deref())?;
        let Some(mut candidates) = candidates else {
            return Ok(());
        };
        // a ticket whose workspace is being removed waits for its end
        let jobs = self.store.service_jobs()?;
        candidates.retain(|ticket| {
            !jobs
                .iter()
                .any(|job| job.task == ServiceTask::Remove && job.ticket == ticket.id)
        });
        let plan = plan_dispatch(&candidates, &self.state()?, &self.rules());
        for ticket in &plan.start {
            self.start(ticket, ServiceTask::Attempt, None)?;
        }
        self.waiting = plan.waiting;
        Ok(())
    }

    fn retry_due(&mut self, candidates: Option<&[Ticket]>) -> Result<(), ServiceError> {
        let now = Timestamp::now();
        let longest = self
            .config()
            .agent
            .retry_backoff_max
            .max(CONTINUATION_DELAY);
        for kept in self.store.service_retries()? {
            if !is_due(kept.due, now, longest) {
                continue;
            }
            let found = match candidates {
                None => Found::Unknown,
                Some(all) => all
                    .iter()
                    .find(|ticket| ticket.id == kept.ticket)
                    .map_or(Found::Absent, Found::Ticket),
            };
            let step = plan_retry(&retry_of(&kept), found, &self.state()?, now, &self.rules());
            match (step, found) {
                (RetryStep::Start { attempt }, Found::Ticket(ticket)) => {
                    self.start(ticket, ServiceTask::Attempt, Some(attempt))?;
                }
                (RetryStep::Later(retry), _) => {
                    let line = LogLine::info("retrying")
                        .with("issue_id", &kept.ticket)
                        .with("issue_identifier", &kept.identifier)
                        .with("attempt", &retry.attempt.to_string())
                        .with("error", retry.error.as_deref().unwrap_or_default());
                    self.log.write(&line);
                    self.store
                        .put_service_retry(&kept_retry(&kept.ticket, retry), now)?;
                }
                (RetryStep::Release | RetryStep::Start { .. }, _) => {
                    let line = LogLine::info("released")
                        .with("issue_id", &kept.ticket)
                        .with("issue_identifier", &kept.identifier);
                    self.log.write(&line);
                    self.store.drop_service_retry(&kept.ticket, now)?;
                }
            }
        }
        Ok(())
    }

    /// Starts a worker for a ticket. One that cannot be started is tried again like one that failed.
    fn start(
        &mut self,
        ticket: &Ticket,
        task: ServiceTask,
        attempt: Option<u32>,
    ) -> Result<(), ServiceError> {
        let now = Timestamp::now();
        let text = self.file.in_force().text.clone();
        let about = format!("start of {}", ticket.identifier);
        let prepared = match prepare(&self.place, &text, task, ticket, attempt, now) {
            Ok(prepared) => prepared,
            Err(error) => {
                self.trouble(
                    &about,
                    Some(format!(
                        "no worker for {} can be started: {error}",
                        ticket.identifier
                    )),
                );
                if task == ServiceTask::Attempt {
                    let run = Running {
                        ticket: ticket.clone(),
                        attempt,
                        started_at: now,
                        last_event_at: None,
                    };
                    let exit = Exit::Failed {
                        error: "failed to spawn agent".to_owned(),
                    };
                    let retry = after_exit(&run, &exit, now, &self.rules());
                    self.store
                        .put_service_retry(&kept_retry(&ticket.id, retry), now)?;
                }
                return Ok(());
            }
        };
        let job = prepared.job.clone();
        match prepared.begin(&self.place, &mut self.store) {
            Ok(started) => {
                self.children.extend(started);
                self.trouble(&about, None);
                let mut line = LogLine::info("worker_started").with("task", task.as_str());
                if let Some(attempt) = attempt {
                    line = line.with("attempt", &attempt.to_string());
                }
                self.log_about(&job, line);
                Ok(())
            }
            Err(ServiceError::Store(error)) => Err(error.into()),
            // it is recorded, so that the next look finds a worker that died
            Err(error) => {
                self.trouble(
                    &about,
                    Some(format!(
                        "no worker for {} can be started: {error}",
                        ticket.identifier
                    )),
                );
                Ok(())
            }
        }
    }
}
