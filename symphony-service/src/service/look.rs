//! Takes a snapshot of the service.

use std::collections::{BTreeMap, BTreeSet};

use symphony_core::Timestamp;
use symphony_store::{ServiceEnded, ServiceJob, ServiceTask};
use symphony_workflow::eligible::Waiting;

use super::core::Service;
use super::error::ServiceError;
use super::folder;
use super::snapshot::{
    Counts, KnownTicket, RetryRow, RunningRow, Snapshot, Tokens, Totals, WaitingRow,
};
use super::ticket::ticket_of;
use crate::attempt::Usage;

impl From<Usage> for Tokens {
    fn from(usage: Usage) -> Self {
        Self {
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            total_tokens: usage.total_tokens,
        }
    }
}

impl Service {
    /// Takes a snapshot.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn snapshot(&self, now: Timestamp) -> Result<Snapshot, ServiceError> {
        let jobs = self.store.service_jobs()?;
        let at_work: Vec<&ServiceJob> = jobs
            .iter()
            .filter(|job| job.task != ServiceTask::Remove)
            .collect();
        let ended = self.store.service_ended()?;
        let running: Vec<RunningRow> = at_work.iter().map(|job| self.row(job)).collect();
        let retrying: Vec<RetryRow> = self
            .store
            .service_retries()?
            .into_iter()
            .map(|retry| RetryRow {
                issue_id: retry.ticket,
                issue_identifier: retry.identifier,
                attempt: retry.attempt,
                due_at: retry.due,
                error: retry.error,
            })
            .collect();
        let totals = self.store.service_totals()?;
        let mut tokens = Tokens {
            input_tokens: totals.input_tokens,
            output_tokens: totals.output_tokens,
            total_tokens: totals.total_tokens,
        };
        let mut ms = i64::try_from(totals.ms).unwrap_or(i64::MAX);
        let mut limits = totals
            .rate_limits
            .and_then(|text| serde_json::from_str(&text).ok());
        for (job, row) in at_work.iter().zip(&running) {
            tokens.input_tokens += row.tokens.input_tokens;
            tokens.output_tokens += row.tokens.output_tokens;
            tokens.total_tokens += row.tokens.total_tokens;
            ms += (now.as_millisecond() - job.started_at.as_millisecond()).max(0);
            let newest = self
                .progress
                .get(&job.worker)
                .and_then(|known| known.rate_limits.clone());
            limits = newest.or(limits);
        }
        Ok(Snapshot {
            generated_at: now,
            counts: Counts {
                running: running.len(),
                retrying: retrying.len(),
            },
            known: self.known(&at_work, &ended),
            running,
            retrying,
            waiting: self.waiting_rows(),
            codex_totals: Totals {
                tokens,
                seconds_running: seconds(ms),
            },
            rate_limits: limits,
            problems: self.troubles(),
            workflow: self.place.workflow.clone(),
        })
    }

    fn row(&self, job: &ServiceJob) -> RunningRow {
        let progress = self.progress.get(&job.worker).cloned().unwrap_or_default();
        let newest = progress.recent.back();
        RunningRow {
            issue_id: job.ticket.clone(),
            issue_identifier: job.identifier.clone(),
            state: ticket_of(&job.snapshot, &job.ticket, &job.identifier).state,
            session_id: progress.session.clone(),
            turn_count: progress.turns,
            last_event: newest.map(|one| one.event.as_str()),
            last_message: newest.map(|one| one.message.clone()),
            started_at: job.started_at,
            last_event_at: progress.last_at,
            tokens: progress.usage.into(),
            attempt: job.attempt,
            ending: job.ending.map(|(ending, _)| ending.as_str()),
        }
    }

    fn waiting_rows(&self) -> Vec<WaitingRow> {
        let waiting = self.waiting.iter().filter_map(|(ticket, why)| {
            Some(WaitingRow {
                issue_identifier: ticket.identifier.clone(),
                reason: reason_of(why)?,
            })
        });
        waiting.collect()
    }

    /// Collects what is known of each ticket, newest attempt first.
    fn known(&self, at_work: &[&ServiceJob], ended: &[ServiceEnded]) -> Vec<KnownTicket> {
        let mut known: BTreeMap<&str, KnownTicket> = BTreeMap::new();
        // only the newest end of a ticket counts: an older error may be overcome
        let mut has_end: BTreeSet<&str> = BTreeSet::new();
        let root = &self.config().workspace.root;
        let workspace = |identifier: &str| {
            let found = folder::find(root, identifier).ok().flatten();
            found.map(|found| found.path)
        };
        for job in at_work {
            let progress = self.progress.get(&job.worker);
            let recent = progress.map(|progress| {
                let events = progress.recent.iter();
                events
                    .map(|one| (one.at, one.event.as_str(), one.message.clone()))
                    .collect()
            });
            known.insert(
                &job.identifier,
                KnownTicket {
                    id: job.ticket.clone(),
                    identifier: job.identifier.clone(),
                    workspace: workspace(&job.identifier),
                    attempts: 1,
                    events: self.place.worker(&job.worker).events(),
                    recent: recent.unwrap_or_default(),
                    last_error: None,
                },
            );
        }
        for one in ended {
            let entry = known.entry(&one.identifier).or_insert_with(|| KnownTicket {
                id: one.ticket.clone(),
                identifier: one.identifier.clone(),
                workspace: workspace(&one.identifier),
                attempts: 0,
                events: self.place.worker(&one.worker).events(),
                recent: Vec::new(),
                last_error: None,
            });
            if has_end.insert(&one.identifier) {
                entry.last_error.clone_from(&one.error);
            }
            entry.attempts += 1;
        }
        known.into_values().collect()
    }
}

fn seconds(ms: i64) -> f64 {
    let ms = u64::try_from(ms).unwrap_or(0);
    std::time::Duration::from_millis(ms).as_secs_f64()
}

/// Says why a ticket waits; `None` for those that are at work or not to be worked on.
fn reason_of(why: &Waiting) -> Option<String> {
    Some(match why {
        Waiting::Blocked { by: Some(by) } => format!("it is blocked by {by}"),
        Waiting::Blocked { by: None } => {
            "it is blocked by a ticket that the tracker does not show".to_owned()
        }
        Waiting::NoSlot => "every slot is taken".to_owned(),
        Waiting::NoSlotInState { state } => {
            format!("every slot for tickets in `{state}` is taken")
        }
        Waiting::Incomplete => {
            "the tracker sent it without an id, identifier, title or state".to_owned()
        }
        _ => return None,
    })
}
