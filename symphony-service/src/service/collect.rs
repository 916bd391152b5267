//! Collects what workers did since the last look: their reports, their ends, and what follows from them.

use std::time::{Duration, Instant};

use serde_json::Value;
use symphony_core::Timestamp;
use symphony_core::tick::LockState;
use symphony_runner::process::{RunLock, end_lock_holder, lock_state, sweep_marked};
use symphony_store::{ServiceEnded, ServiceJob, ServiceNext, ServiceTask};
use symphony_workflow::eligible::{Exit, after_exit};
use symphony_workspace::Failpoint;

use super::conclude::{Ended, Follow, follow};
use super::core::{Service, kept_retry};
use super::error::ServiceError;
use super::launch::{Prepared, prepare};
use super::log::LogLine;
use super::order::WorkEnd;
use super::place::age;
use super::progress::Progress;
use super::sentence::{AFTER_FAILURE, AFTER_SUCCESS};
use super::ticket::ticket_of;
use crate::attempt::{AttemptEvent, EventKind};

/// Time for a worker that was asked to end, besides that of its hook: its app-server and their processes end meanwhile.
const GRACE: Duration = Duration::from_secs(20);

impl Service {
    /// Looks at every worker: reads what it reports, asks it to end where that was ordered, and draws the conclusion where it
    /// has ended or died.
    ///
    /// # Errors
    /// When the database cannot be read or written.
    pub(super) fn collect(&mut self, now: Timestamp) -> Result<(), ServiceError> {
        self.reap();
        for job in self.store.service_jobs()? {
            let files = self.place.worker(&job.worker);
            // Before its reports are read: what it wrote before its end is then all there.
            let state = lock_state(&files.lock());
            self.read_reports(&job);
            let about = format!("worker of {}", job.identifier);
            let looked = match state {
                Ok(LockState::Held) => {
                    if job.ending.is_some() {
                        self.ask_to_end(&job)
                    } else {
                        Ok(())
                    }
                }
                Ok(LockState::Free | LockState::Missing) => self.conclude(&job, now),
                Err(error) => Err(error.into()),
            };
            match looked {
                Err(ServiceError::Store(error)) => return Err(error.into()),
                looked => self.trouble(&about, looked.err().map(|error| error.with_cause())),
            }
        }
        Ok(())
    }

    fn read_reports(&mut self, job: &ServiceJob) {
        let path = self.place.worker(&job.worker).events();
        let progress = self.progress.entry(job.worker.clone()).or_default();
        // what cannot be read now is read at the next look
        let Ok(events) = progress.read(&path) else {
            return;
        };
        for event in events.iter().filter(|event| is_logged(event)) {
            let level = match event.event {
                EventKind::SessionStarted | EventKind::TurnCompleted | EventKind::Notification => {
                    LogLine::info(event.event.as_str())
                }
                other => LogLine::warning(other.as_str()),
            };
            let line = if event.message.is_empty() {
                level
            } else {
                level.with("message", &event.message)
            };
            self.log_about(job, line);
        }
    }

    /// Asks a worker to end, once; kills it when it takes too long.
    fn ask_to_end(&mut self, job: &ServiceJob) -> Result<(), ServiceError> {
        let files = self.place.worker(&job.worker);
        let Some(identity) = files.read_identity() else {
            // it is just beginning; the order stays, and the next look finds it
            return Ok(());
        };
        let Some(asked) = self.asked.get(&job.worker) else {
            identity.terminate()?;
            if !files.asked().exists() {
                // without it the worker is killed by a loop only
                let _unwritten = std::fs::write(files.asked(), "");
            }
            self.asked.insert(job.worker.clone(), Instant::now());
            return Ok(());
        };
        // The file outlives this process: ticks, which live for a moment only, have to kill a worker, too.
        let waited = asked.elapsed().max(age(&files.asked()).unwrap_or_default());
        if waited > self.config().hooks.timeout + GRACE {
            end_lock_holder(identity.pid, identity.start_time, &files.lock())?;
            self.log_about(job, LogLine::warning("worker_killed"));
        }
        Ok(())
    }

    /// Draws the conclusion from the end of a worker.
    fn conclude(&mut self, job: &ServiceJob, now: Timestamp) -> Result<(), ServiceError> {
        let files = self.place.worker(&job.worker);
        let end = files.read_end();
        if end.is_none() {
            // Held while its processes are ended: nothing may begin in their place meanwhile.
            let _lock = if files.folder().is_dir() {
                Some(RunLock::acquire(files.lock())?)
            } else {
                None
            };
            let ended = sweep_marked(&job.worker)?;
            if ended.count() > 0 {
                let line =
                    LogLine::warning("strays_ended").with("count", &ended.count().to_string());
                self.log_about(job, line);
            }
        }
        Failpoint::ServiceEndFound.reach();
        let followed = follow(Ended {
            task: job.task,
            ending: job.ending.map(|(ending, _)| ending),
            end: end.as_ref(),
            error: job.error.as_deref(),
            has_after_run: self.config().hooks.after_run.is_some(),
        });
        let (next, prepared) = self.next_of(job, &followed, now)?;
        let ended = (job.task == ServiceTask::Attempt).then(|| {
            let progress = self.progress.get(&job.worker).cloned().unwrap_or_default();
            ended_of(job, &followed, &progress, now)
        });
        self.store
            .finish_service_job(&job.worker, ended.as_ref(), &next, now)?;
        // After the record: a database that is busy would have the same end logged at each look.
        self.log_end(job, end.as_ref(), &followed, &next, now);
        Failpoint::ServiceEndRecorded.reach();
        self.progress.remove(&job.worker);
        self.asked.remove(&job.worker);
        if let Some(prepared) = prepared {
            self.children.push(prepared.start(&self.place)?);
        }
        self.prune();
        Ok(())
    }

    fn next_of(
        &self,
        job: &ServiceJob,
        followed: &Follow,
        now: Timestamp,
    ) -> Result<(ServiceNext, Option<Prepared>), ServiceError> {
        let retry = |exit: &Exit| {
            let retry = after_exit(&self.running(job), exit, now, &self.rules());
            (ServiceNext::Retry(kept_retry(&job.ticket, retry)), None)
        };
        Ok(match followed {
            Follow::Release => (ServiceNext::Release, None),
            Follow::Continue => retry(&Exit::Normal),
            Follow::Fail(error) => retry(&Exit::Failed {
                error: error.clone(),
            }),
            Follow::AfterRun(error) => {
                self.another(job, ServiceTask::AfterRun, Some(error.clone()), now)?
            }
            Follow::Remove => self.another(job, ServiceTask::Remove, None, now)?,
        })
    }

    /// Prepares another worker for the ticket of one that ended.
    fn another(
        &self,
        job: &ServiceJob,
        task: ServiceTask,
        error: Option<String>,
        now: Timestamp,
    ) -> Result<(ServiceNext, Option<Prepared>), ServiceError> {
        let ticket = ticket_of(&job.snapshot, &job.ticket, &job.identifier);
        let text = &self.file.in_force().text;
        let mut prepared = prepare(&self.place, text, task, &ticket, job.attempt, now)?;
        prepared.job.error = error;
        let next = ServiceNext::Job(Box::new(prepared.job.clone()));
        Ok((next, Some(prepared)))
    }

    fn log_end(
        &mut self,
        job: &ServiceJob,
        end: Option<&WorkEnd>,
        followed: &Follow,
        next: &ServiceNext,
        now: Timestamp,
    ) {
        let said = match end {
            None => "died",
            Some(WorkEnd::Completed) => "completed",
            Some(WorkEnd::Stopped) => "stopped",
            Some(WorkEnd::Failed { .. }) => "failed",
        };
        let line = match followed {
            Follow::Fail(_) | Follow::AfterRun(_) => LogLine::warning("worker_ended"),
            _ => LogLine::info("worker_ended"),
        };
        let mut line = line.with("task", job.task.as_str()).with("outcome", said);
        if let Follow::Fail(error) | Follow::AfterRun(error) = followed {
            line = line.with("error", error);
        } else if let Some(WorkEnd::Failed { error, .. }) = end {
            line = line.with("error", error);
        }
        self.log_about(job, line);
        if let ServiceNext::Retry(retry) = next {
            let after = match retry.error {
                Some(_) => AFTER_FAILURE,
                None => AFTER_SUCCESS,
            };
            let line = LogLine::info("retrying")
                .with("after", after)
                .with("attempt", &retry.attempt.to_string())
                .with("due_at", &retry.due.to_string())
                .with("wait_ms", &wait_ms(retry.due, now));
            self.log_about(job, line);
        }
        if job.task == ServiceTask::Remove {
            let about = format!("workspace of {}", job.identifier);
            let why = match end {
                Some(WorkEnd::Completed) => return self.trouble(&about, None),
                Some(WorkEnd::Failed { error, .. }) => error.clone(),
                _ => {
                    self.removals_again.push(ticket_of(
                        &job.snapshot,
                        &job.ticket,
                        &job.identifier,
                    ));
                    "the worker died".to_owned()
                }
            };
            let text = format!("the workspace of {} was not removed: {why}", job.identifier);
            self.trouble(&about, Some(text));
        }
    }
}

/// Returns how long it is until a time.
pub(super) fn wait_ms(due: Timestamp, now: Timestamp) -> String {
    let ms = due.as_millisecond().saturating_sub(now.as_millisecond());
    ms.max(0).to_string()
}

/// Says whether a report is worth a line of the log: not each word of an agent.
fn is_logged(event: &AttemptEvent) -> bool {
    match event.event {
        EventKind::Notification => {
            event.message.starts_with("hook ") && !event.message.ends_with(" runs")
        }
        EventKind::OtherMessage | EventKind::ToolCallCompleted | EventKind::Malformed => false,
        _ => true,
    }
}

fn ended_of(
    job: &ServiceJob,
    followed: &Follow,
    progress: &Progress,
    now: Timestamp,
) -> ServiceEnded {
    let (outcome, error) = match followed {
        Follow::Continue => ("completed", None),
        Follow::Release | Follow::Remove => ("stopped", None),
        Follow::Fail(error) | Follow::AfterRun(error) => ("failed", Some(error.clone())),
    };
    ServiceEnded {
        worker: job.worker.clone(),
        ticket: job.ticket.clone(),
        identifier: job.identifier.clone(),
        attempt: job.attempt,
        started_at: job.started_at,
        ended_at: now,
        outcome: outcome.to_owned(),
        error,
        session: progress.session.clone(),
        turns: progress.turns,
        input_tokens: progress.usage.input_tokens,
        output_tokens: progress.usage.output_tokens,
        total_tokens: progress.usage.total_tokens,
        rate_limits: progress.rate_limits.as_ref().map(Value::to_string),
    }
}
