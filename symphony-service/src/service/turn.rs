//! One look at the tracker: reconcile, then dispatch (sections 8.1, 16.2 and 16.3).

use std::collections::BTreeSet;
use std::time::Duration;

use symphony_core::Timestamp;
use symphony_store::{ServiceEnding, ServiceJob, ServiceTask};
use symphony_sync::linear_polls::PollError;
use symphony_workflow::Ticket;
use symphony_workflow::eligible::{
    CONTINUATION_DELAY, Exit, Found, Refresh, RetryStep, Running, after_exit, plan_dispatch,
    plan_refresh, plan_retry, stale_workspaces, stalled,
};
use symphony_workflow::workspace::WorkspaceKey;
use symphony_workspace::Failpoint;

use super::collect::wait_ms;
use super::core::{Service, Start, is_due, kept_retry, retry_of};
use super::error::ServiceError;
use super::folder;
use super::launch::{Prepared, prepare};
use super::log::LogLine;
use super::place::age;
use super::ticket::{refreshed, ticket_of, ticket_text};

/// Workspaces that are removed at the same time.
const REMOVALS_MAX: usize = 4;

/// What a trouble is about that keeps a ticket from being started, before its identifier.
const START_OF: &str = "start of ";

fn start_of(identifier: &str) -> String {
    format!("{START_OF}{identifier}")
}

/// Longest time for all pages of a question. Workers are not looked at meanwhile, and a tracker that trickles could hold up
/// the loop for hours.
const QUESTION_TIME_MAX: Duration = Duration::from_mins(2);

/// Time between two questions of ticks about all tickets that have ended: in an old project they are many pages, and a tick a
/// minute would use up what Linear grants.
const CLEAN_UP_PAUSE: Duration = Duration::from_hours(1);

/// Waits for an answer of the tracker, and says why there is none.
async fn in_time(
    question: impl Future<Output = Result<Vec<Ticket>, PollError>>,
) -> Result<Vec<Ticket>, String> {
    match tokio::time::timeout(QUESTION_TIME_MAX, question).await {
        Ok(answer) => answer.map_err(|error| format!("{}: {error}", error.class())),
        Err(_late) => Err(format!(
            "linear_api_request: Linear did not send all pages within {} s",
            QUESTION_TIME_MAX.as_secs()
        )),
    }
}

impl Service {
    /// Finds the workspaces of tickets that have ended (section 8.6). They are removed one after the other from then on. Where
    /// the tracker does not answer, that is noted, and the service begins all the same.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn begin(&mut self) -> Result<(), ServiceError> {
        self.collect(Timestamp::now())?;
        if self.start == Start::Tick
            && age(&self.place.cleaned()).is_some_and(|ago| ago < CLEAN_UP_PAUSE)
        {
            return self.remove_some();
        }
        let root = self.config().workspace.root.clone();
        let is_empty =
            std::fs::read_dir(&root).map_or(true, |mut entries| entries.next().is_none());
        if is_empty {
            return Ok(());
        }
        let states = self.config().tracker.terminal_states.clone();
        let answer = match self.polls() {
            Ok(polls) => in_time(polls.by_states(&states)).await,
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
                // without the mark the next tick asks again, which is only slow
                let _unwritten = std::fs::write(self.place.cleaned(), "");
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
        self.removals
            .extend(std::mem::take(&mut self.removals_again));
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
        Failpoint::ServiceEndOrdered.reach();
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
            Ok(polls) => in_time(polls.states_by_ids(&ids)).await,
            Err(error) => Err(error.to_string()),
        };
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) => {
                self.trouble(
                    "refresh",
                    Some(format!(
                        "agents continue, but their tickets cannot be checked: {error}"
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
            Ok(polls) => in_time(polls.candidates(&states)).await,
            Err(error) => Err(error.to_string()),
        };
        let (candidates, fault) = match answer {
            Ok(candidates) => (Some(candidates), None),
            Err(error) => (None, Some(format!("no work starts: {error}"))),
        };
        self.trouble("candidates", fault);
        let gone = self.retry_due(candidates.as_deref())?;
        self.clean_up_after(&gone).await;
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
        self.forget_starts(&candidates)
    }

    /// Drops what kept tickets from being started that are neither active nor tried again.
    fn forget_starts(&mut self, candidates: &[Ticket]) -> Result<(), ServiceError> {
        let retries = self.store.service_retries()?;
        let names = candidates.iter().map(|ticket| &ticket.identifier);
        let names = names.chain(retries.iter().map(|retry| &retry.identifier));
        let kept: BTreeSet<String> = names.map(|name| start_of(name)).collect();
        let abouts = self
            .troubles
            .keys()
            .filter(|about| about.starts_with(START_OF));
        let gone: Vec<String> = abouts
            .filter(|about| !kept.contains(*about))
            .cloned()
            .collect();
        for about in gone {
            self.trouble(&about, None);
        }
        Ok(())
    }

    /// Starts, delays or releases what is due. Returns the ids of tickets that are no candidates any more.
    fn retry_due(&mut self, candidates: Option<&[Ticket]>) -> Result<Vec<String>, ServiceError> {
        let now = Timestamp::now();
        let mut gone = Vec::new();
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
                    Failpoint::ServiceRetryDue.reach();
                    self.start(ticket, ServiceTask::Attempt, Some(attempt))?;
                }
                (RetryStep::Later(retry), _) => {
                    let line = LogLine::info("retrying")
                        .with("issue_id", &kept.ticket)
                        .with("issue_identifier", &kept.identifier)
                        .with("attempt", &retry.attempt.to_string())
                        .with("wait_ms", &wait_ms(retry.due, now))
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
                    gone.push(kept.ticket);
                }
            }
        }
        Ok(gone)
    }

    /// Has the workspaces of tickets removed that ended after their agent had: mostly the agent itself moves its ticket to its
    /// end, and no look at the tracker sees it while it works. Where the tracker does not answer, they go at the next start.
    async fn clean_up_after(&mut self, ids: &[String]) {
        if ids.is_empty() {
            return;
        }
        let Ok(polls) = self.polls() else {
            return;
        };
        let answer = in_time(polls.states_by_ids(ids)).await.unwrap_or_default();
        let stale = stale_workspaces(&answer, &self.rules());
        let root = self.config().workspace.root.clone();
        let ended = answer.into_iter().filter(|ticket| {
            ids.contains(&ticket.id)
                && matches!(folder::find(&root, &ticket.identifier), Ok(Some(_)))
                && WorkspaceKey::of(&ticket.identifier).is_ok_and(|key| stale.contains(&key))
        });
        self.removals.extend(ended);
    }

    /// Returns the ticket that has a worker in the folder that this one would get: `A/1` and `A_1` have the same name of a
    /// folder, and a tracker may show one identifier twice.
    fn has_its_folder(&self, ticket: &Ticket) -> Result<Option<String>, ServiceError> {
        let key = WorkspaceKey::of(&ticket.identifier).ok();
        let jobs = self.store.service_jobs()?;
        let other = jobs.into_iter().find(|job| {
            job.ticket != ticket.id
                && key.is_some()
                && WorkspaceKey::of(&job.identifier).ok() == key
        });
        Ok(other.map(|job| job.identifier))
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
        let about = start_of(&ticket.identifier);
        if let Some(other) = self.has_its_folder(ticket)? {
            let text = format!(
                "{} waits: its workspace would be that of {other}, which has a worker",
                ticket.identifier
            );
            self.trouble(&about, Some(text));
            return Ok(());
        }
        let prepared = match prepare(&self.place, &text, task, ticket, attempt, now) {
            Ok(prepared) => prepared,
            Err(error) => {
                self.trouble(
                    &about,
                    Some(format!(
                        "no worker for {} can be started: {}",
                        ticket.identifier,
                        error.without_path()
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
        self.begin_worker(prepared, &about)
    }

    /// Records a worker and starts it.
    fn begin_worker(&mut self, prepared: Prepared, about: &str) -> Result<(), ServiceError> {
        let job = prepared.job.clone();
        match prepared.begin(&self.place, &mut self.store) {
            // another look was first: the ticket has its worker
            Ok(None) => Ok(()),
            Ok(Some(started)) => {
                self.children.push(started);
                self.trouble(about, None);
                let mut line = LogLine::info("worker_started").with("task", job.task.as_str());
                if let Some(attempt) = job.attempt {
                    line = line.with("attempt", &attempt.to_string());
                }
                self.log_about(&job, line);
                Ok(())
            }
            Err(ServiceError::Store(error)) => Err(error.into()),
            // it is recorded, so that the next look finds a worker that died
            Err(error) => {
                self.trouble(
                    about,
                    Some(format!(
                        "no worker for {} can be started: {}",
                        job.identifier,
                        error.without_path()
                    )),
                );
                Ok(())
            }
        }
    }
}
