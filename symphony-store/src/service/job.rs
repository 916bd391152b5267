//! The tickets that a worker process has: written before the process is started, and removed with what follows from its end.

use symphony_core::Timestamp;
use symphony_core::id::RunId;

use super::ended::{ServiceEnded, keep_ended};
use super::retry::{ServiceRetry, put_retry};
use crate::database::context::Context;
use crate::database::open::Store;
use crate::database::row::{parsed, time};
use crate::db::{OptionalExtension as _, Row, Transaction, params};
use crate::error::StoreError;

/// What a worker does for its ticket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ServiceTask {
    /// An agent works on it.
    Attempt,
    /// The hook after an attempt runs, because the worker of that attempt died before it could.
    AfterRun,
    /// Its workspace is removed.
    Remove,
}

/// Why a worker was asked to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ServiceEnding {
    /// Its ticket waits for something else.
    Stop,
    /// Its ticket has ended, so the workspace is removed afterwards.
    Clean,
    /// Its agent was silent for too long.
    Stall,
    /// A person ended the service and its agents.
    Quit,
}

/// A ticket that a worker has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceJob {
    /// The tracker's id of the ticket.
    pub ticket: String,
    /// The worker.
    pub worker: RunId,
    /// What it does.
    pub task: ServiceTask,
    /// What people call the ticket.
    pub identifier: String,
    /// Which attempt it is; absent for the first.
    pub attempt: Option<u32>,
    /// The ticket as the tracker showed it last, as JSON.
    pub snapshot: String,
    /// When it was recorded.
    pub started_at: Timestamp,
    /// Why it was asked to end, and when.
    pub ending: Option<(ServiceEnding, Timestamp)>,
    /// Why its attempt failed, while [`ServiceTask::AfterRun`] runs for it.
    pub error: Option<String>,
}

/// What follows from the end of a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServiceNext {
    /// The ticket is looked at like any other.
    Release,
    /// Its next attempt has a time.
    Retry(ServiceRetry),
    /// Another worker has something to do for it.
    Job(Box<ServiceJob>),
}

impl ServiceTask {
    /// Returns the word in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Attempt => "attempt",
            Self::AfterRun => "after_run",
            Self::Remove => "remove",
        }
    }
}

impl ServiceEnding {
    /// Returns the word in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::Clean => "clean",
            Self::Stall => "stall",
            Self::Quit => "quit",
        }
    }
}

impl TryFrom<String> for ServiceTask {
    type Error = ();

    fn try_from(text: String) -> Result<Self, ()> {
        let all = [Self::Attempt, Self::AfterRun, Self::Remove];
        all.into_iter().find(|one| one.as_str() == text).ok_or(())
    }
}

impl TryFrom<String> for ServiceEnding {
    type Error = ();

    fn try_from(text: String) -> Result<Self, ()> {
        let all = [Self::Stop, Self::Clean, Self::Stall, Self::Quit];
        all.into_iter().find(|one| one.as_str() == text).ok_or(())
    }
}

fn from_row(row: &Row<'_>) -> Result<ServiceJob, StoreError> {
    let ending: Option<String> = row.get("ending")?;
    let ending_at: Option<i64> = row.get("ending_at")?;
    let ending = ending
        .zip(ending_at)
        .map(|(word, at)| Ok::<_, StoreError>((parsed("ending of a worker", word)?, time(at)?)))
        .transpose()?;
    Ok(ServiceJob {
        ticket: row.get("ticket")?,
        worker: parsed("worker", row.get("worker")?)?,
        task: parsed("task of a worker", row.get("task")?)?,
        identifier: row.get("identifier")?,
        attempt: row.get("attempt")?,
        snapshot: row.get("snapshot")?,
        started_at: time(row.get("started_at")?)?,
        ending,
        error: row.get("error")?,
    })
}

fn insert(tx: &Transaction<'_>, job: &ServiceJob) -> Result<bool, StoreError> {
    let (ending, ending_at) = job
        .ending
        .map(|(ending, at)| (ending.as_str(), at.as_millisecond()))
        .unzip();
    let added = tx
        .prepare_cached(
            "INSERT INTO service_job
             (ticket, worker, task, identifier, attempt, snapshot, started_at, ending, ending_at, error)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT DO NOTHING",
        )?
        .execute(params![
            job.ticket,
            job.worker.as_str(),
            job.task.as_str(),
            job.identifier,
            job.attempt,
            job.snapshot,
            job.started_at.as_millisecond(),
            ending,
            ending_at,
            job.error,
        ])?;
    Ok(added > 0)
}

impl Store {
    /// Lists the tickets that workers have, by the id of the ticket.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn service_jobs(&self) -> Result<Vec<ServiceJob>, StoreError> {
        let mut statement = self
            .conn
            .prepare_cached("SELECT * FROM service_job ORDER BY ticket")?;
        let mut rows = statement.query([])?;
        let mut jobs = Vec::new();
        while let Some(row) = &rows.next()? {
            jobs.push(from_row(row)?);
        }
        Ok(jobs)
    }

    /// Records that a worker gets a ticket, before the worker is started. Returns false when another worker has the ticket;
    /// then nothing is recorded. A retry of the ticket ends with it.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn begin_service_job(&mut self, job: &ServiceJob) -> Result<bool, StoreError> {
        self.write(&Context::system(job.started_at), |tx| {
            let begun = insert(tx, job)?;
            if begun {
                tx.execute("DELETE FROM service_retry WHERE ticket = ?1", [&job.ticket])?;
            }
            Ok(begun)
        })
    }

    /// Records the ticket as the tracker shows it now.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn update_service_ticket(
        &mut self,
        ticket: &str,
        snapshot: &str,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.write(&Context::system(now), |tx| {
            tx.prepare_cached("UPDATE service_job SET snapshot = ?2 WHERE ticket = ?1")?
                .execute(params![ticket, snapshot])?;
            Ok(())
        })
    }

    /// Records why a worker is asked to end. The first reason stays, but a ticket that has ended is cleaned up whatever the
    /// worker was stopped for.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn order_service_end(
        &mut self,
        worker: &RunId,
        ending: ServiceEnding,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.write(&Context::system(now), |tx| {
            tx.prepare_cached(
                "UPDATE service_job SET ending = ?2, ending_at = coalesce(ending_at, ?3)
                 WHERE worker = ?1 AND task = 'attempt' AND (ending IS NULL OR ?2 = 'clean')",
            )?
            .execute(params![
                worker.as_str(),
                ending.as_str(),
                now.as_millisecond()
            ])?;
            Ok(())
        })
    }

    /// Records the end of a worker with what follows from it. Returns false when it was recorded before; then nothing changes.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn finish_service_job(
        &mut self,
        worker: &RunId,
        ended: Option<&ServiceEnded>,
        next: &ServiceNext,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        self.write(&Context::system(now), |tx| {
            let ticket: Option<String> = tx
                .prepare_cached("DELETE FROM service_job WHERE worker = ?1 RETURNING ticket")?
                .query_row([worker.as_str()], |row| row.get(0))
                .optional()?;
            let Some(ticket) = ticket else {
                return Ok(false);
            };
            if let Some(ended) = ended {
                keep_ended(tx, ended)?;
            }
            match next {
                ServiceNext::Release => {}
                ServiceNext::Retry(retry) => put_retry(tx, &ticket, retry)?,
                ServiceNext::Job(job) => {
                    insert(tx, job)?;
                }
            }
            Ok(true)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u32) -> RunId {
        RunId::parse(format!("00000000-0000-7000-8000-{number:012}")).unwrap()
    }

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millisecond(ms).unwrap()
    }

    fn job(number: u32) -> ServiceJob {
        ServiceJob {
            ticket: "t-1".to_owned(),
            worker: id(number),
            task: ServiceTask::Attempt,
            identifier: "ABC-1".to_owned(),
            attempt: Some(2),
            snapshot: "{}".to_owned(),
            started_at: at(1000),
            ending: None,
            error: None,
        }
    }

    fn ended(number: u32) -> ServiceEnded {
        ServiceEnded {
            worker: id(number),
            ticket: "t-1".to_owned(),
            identifier: "ABC-1".to_owned(),
            attempt: Some(2),
            started_at: at(1000),
            ended_at: at(4000),
            outcome: "failed".to_owned(),
            error: Some("turn_failed".to_owned()),
            session: None,
            turns: 1,
            input_tokens: 5,
            output_tokens: 6,
            total_tokens: 11,
            rate_limits: Some("{\"a\":1}".to_owned()),
        }
    }

    fn retry(attempt: u32) -> ServiceRetry {
        ServiceRetry {
            ticket: "t-1".to_owned(),
            identifier: "ABC-1".to_owned(),
            attempt,
            due: at(9000),
            error: Some("x".to_owned()),
        }
    }

    #[test]
    fn a_ticket_has_one_worker_and_its_retry_ends_with_the_start() {
        let mut store = Store::open_in_memory().unwrap();
        store.put_service_retry(&retry(1), at(1)).unwrap();
        assert!(store.begin_service_job(&job(1)).unwrap());
        assert_eq!(store.service_jobs().unwrap(), [job(1)]);
        assert_eq!(store.service_retries().unwrap(), []);
        assert!(!store.begin_service_job(&job(2)).unwrap());
        assert_eq!(store.service_jobs().unwrap(), [job(1)]);
    }

    #[test]
    fn an_end_is_recorded_once_with_what_follows() {
        let mut store = Store::open_in_memory().unwrap();
        store.begin_service_job(&job(1)).unwrap();
        let next = ServiceNext::Retry(retry(3));
        for expected in [true, false] {
            let done = store.finish_service_job(&id(1), Some(&ended(1)), &next, at(4000));
            assert_eq!(done.unwrap(), expected);
        }
        assert_eq!(store.service_jobs().unwrap(), []);
        assert_eq!(store.service_retries().unwrap(), [retry(3)]);
        let totals = store.service_totals().unwrap();
        assert_eq!(
            (totals.attempts, totals.total_tokens, totals.ms),
            (1, 11, 3000)
        );
        assert_eq!(totals.rate_limits.as_deref(), Some("{\"a\":1}"));
        let kept = store.service_ended().unwrap();
        assert_eq!(kept.len(), 1);
        assert_eq!(kept[0].error.as_deref(), Some("turn_failed"));
    }

    #[test]
    fn the_first_reason_to_end_stays_unless_the_ticket_has_ended() {
        let mut store = Store::open_in_memory().unwrap();
        store.begin_service_job(&job(1)).unwrap();
        let ending = |store: &Store| store.service_jobs().unwrap()[0].ending;
        for (ordered, now, expected) in [
            (ServiceEnding::Stall, 10, (ServiceEnding::Stall, at(10))),
            (ServiceEnding::Stop, 20, (ServiceEnding::Stall, at(10))),
            (ServiceEnding::Clean, 30, (ServiceEnding::Clean, at(10))),
            (ServiceEnding::Quit, 40, (ServiceEnding::Clean, at(10))),
        ] {
            store.order_service_end(&id(1), ordered, at(now)).unwrap();
            assert_eq!(ending(&store), Some(expected));
        }
    }

    #[test]
    fn a_worker_can_be_followed_by_another() {
        let mut store = Store::open_in_memory().unwrap();
        store.begin_service_job(&job(1)).unwrap();
        let removal = ServiceJob {
            task: ServiceTask::Remove,
            ..job(2)
        };
        let next = ServiceNext::Job(Box::new(removal.clone()));
        store
            .finish_service_job(&id(1), None, &next, at(5))
            .unwrap();
        assert_eq!(store.service_jobs().unwrap(), [removal]);
        // only attempts are asked to end
        store
            .order_service_end(&id(2), ServiceEnding::Stop, at(6))
            .unwrap();
        assert_eq!(store.service_jobs().unwrap()[0].ending, None);
    }
}
