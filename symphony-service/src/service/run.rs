//! The loop (sections 8.1 and 16.1): looks at workers several times a second, and at the tracker when it is due.

use std::sync::Arc;
use std::time::{Duration, Instant};

use symphony_core::Timestamp;
use symphony_store::{ServiceEnding, ServiceTask};
use symphony_workflow::eligible::CONTINUATION_DELAY;

use super::board::Board;
use super::core::{Service, is_due};
use super::error::ServiceError;
use super::log::LogLine;

/// Time between two looks at the workers.
const LOOK: Duration = Duration::from_millis(200);
/// Shortest time between two questions to the tracker about retries that are due.
const RETRY_PAUSE: Duration = Duration::from_secs(1);
/// What a trouble is about in a look at the tracker. It is over when such a look succeeds: the short looks between them write
/// less, and may succeed on a full disk.
const TURN: &str = "look at the tracker";
/// What a trouble is about in a look at the workers only.
const SHORT_LOOK: &str = "look at the workers";
/// How long agents that a person ends are waited for, besides the time of their hook.
const QUIT_GRACE: Duration = Duration::from_secs(25);

impl Service {
    /// Loops until `is_interrupted` says so. Agents at work continue then; the next loop or tick takes them over.
    ///
    /// # Errors
    /// When the runtime cannot be started. What goes wrong later is shown as a problem, and the loop goes on.
    pub fn run(
        &mut self,
        board: &Arc<Board>,
        is_interrupted: &dyn Fn() -> bool,
    ) -> Result<(), ServiceError> {
        let runtime = self.runtime()?;
        runtime.block_on(async {
            let begun = tokio::select! {
                begun = self.begin() => begun,
                () = until(is_interrupted) => Ok(()),
            };
            self.survive(TURN, begun);
            self.publish(board);
            let mut next_turn = Instant::now();
            let mut last_retry = None;
            while !is_interrupted() {
                let (about, looked) = if board.take_wish() || Instant::now() >= next_turn {
                    // an interruption ends a look at a slow tracker: nothing is lost, as after a crash
                    let looked = tokio::select! {
                        looked = self.turn() => looked,
                        () = until(is_interrupted) => break,
                    };
                    next_turn = Instant::now() + self.config().polling.interval;
                    (TURN, looked)
                } else {
                    let looked = self.look(&mut last_retry, is_interrupted).await;
                    (SHORT_LOOK, looked)
                };
                self.survive(about, looked);
                self.publish(board);
                tokio::time::sleep(LOOK).await;
                // an interval that was shortened by a reload counts from now on
                next_turn = next_turn.min(Instant::now() + self.config().polling.interval);
            }
            self.publish(board);
        });
        runtime.shutdown_background();
        self.log.write(&LogLine::info("service_stopped"));
        Ok(())
    }

    /// Looks once, for a tick.
    ///
    /// # Errors
    /// When the database cannot be read or written, or the runtime cannot be started.
    pub fn tick(&mut self) -> Result<(), ServiceError> {
        let runtime = self.runtime()?;
        let ticked = runtime.block_on(async {
            self.begin().await?;
            self.turn().await
        });
        runtime.shutdown_background();
        ticked
    }

    /// Ends all agents, and waits for their ends, until `is_interrupted` says that they are not to be waited for. Returns how
    /// many have not ended: whoever looks next takes care of them.
    ///
    /// # Errors
    /// When the database cannot be read or written.
    pub fn quit(&mut self, is_interrupted: &dyn Fn() -> bool) -> Result<usize, ServiceError> {
        let now = Timestamp::now();
        for job in self.store.service_jobs()? {
            if job.task == ServiceTask::Attempt {
                self.order_end(&job, ServiceEnding::Quit, now)?;
            }
        }
        let deadline = Instant::now() + self.config().hooks.timeout + QUIT_GRACE;
        loop {
            self.collect(Timestamp::now())?;
            let jobs = self.store.service_jobs()?;
            let at_work = jobs.iter().filter(|job| job.task == ServiceTask::Attempt);
            let at_work = at_work.count();
            if at_work == 0 || is_interrupted() || Instant::now() >= deadline {
                return Ok(at_work);
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Looks at the workers only, and at the tracker for retries that are due.
    async fn look(
        &mut self,
        last_retry: &mut Option<Instant>,
        is_interrupted: &dyn Fn() -> bool,
    ) -> Result<(), ServiceError> {
        self.reload();
        let now = Timestamp::now();
        self.collect(now)?;
        self.end_stalled(now)?;
        self.remove_some()?;
        let longest = self
            .config()
            .agent
            .retry_backoff_max
            .max(CONTINUATION_DELAY);
        let retries = self.store.service_retries()?;
        let has_due = retries.iter().any(|retry| is_due(retry.due, now, longest));
        let is_allowed = last_retry.is_none_or(|last: Instant| last.elapsed() >= RETRY_PAUSE);
        if has_due && is_allowed {
            *last_retry = Some(Instant::now());
            tokio::select! {
                dispatched = self.dispatch() => dispatched?,
                () = until(is_interrupted) => {}
            }
        }
        Ok(())
    }

    /// Notes what went wrong in a look: a full disk, a database that is busy. The loop outlives it.
    fn survive(&mut self, about: &str, looked: Result<(), ServiceError>) {
        self.trouble(about, looked.err().map(|error| error.with_cause()));
    }

    fn publish(&mut self, board: &Board) {
        match self.snapshot(Timestamp::now()) {
            Ok(snapshot) => board.publish(snapshot),
            Err(error) => self.trouble(SHORT_LOOK, Some(error.with_cause())),
        }
    }

    fn runtime(&self) -> Result<tokio::runtime::Runtime, ServiceError> {
        let made = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        made.map_err(super::error::io_error(
            "start the runtime for",
            &self.place.workflow,
        ))
    }
}

/// Waits until an interruption.
async fn until(is_interrupted: &dyn Fn() -> bool) {
    while !is_interrupted() {
        tokio::time::sleep(LOOK).await;
    }
}
