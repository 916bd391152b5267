//! Taking an issue over, and giving it back: each one transaction.

use symphony_core::id::{IssueId, RunId};
use symphony_core::issue::{Issue, Review};
use symphony_core::log::LogEvent;
use symphony_core::run::{INTERACTIVE, Run};
use symphony_core::take_over::{TakeOverFacts, TakeOverRefusal, plan_release, plan_take_over};

use crate::database::context::Context;
use crate::database::event::{About, append};
use crate::database::home::taken_over;
use crate::database::open::Store;
use crate::database::row::parsed;
use crate::db::{OptionalExtension, Transaction};
use crate::error::StoreError;
use crate::issue::cascade::{load_facts, move_in};
use crate::issue::query::load_issue;
use crate::run::claim::{ClaimRequest, insert_run};
use crate::run::claim_refusal::ClaimRefusal;
use crate::run::row::load_run;

impl Store {
    /// Claims a run for a person's session on an issue, which no slot, hold or pause keeps from starting.
    ///
    /// # Errors
    /// When the request is about no issue, or the database cannot be written. The inner error is why the issue cannot be
    /// taken over now.
    pub fn take_over(
        &mut self,
        context: &Context,
        issue: &IssueId,
        request: &ClaimRequest,
    ) -> Result<Result<Run, TakeOverRefusal>, StoreError> {
        let home = self.home.clone();
        self.write(context, |tx| {
            if let Some(other) = taken_over(tx, home.as_deref())? {
                let refusal = ClaimRefusal::TakenOver(other);
                return Err(StoreError::refused(refusal.to_string()));
            }
            let events = match decide(tx, issue, plan_take_over)? {
                Ok(events) => events,
                Err(refusal) => return Ok(Err(refusal)),
            };
            // The run comes last: while one is live, the issue could not be moved.
            for event in &events {
                move_in(tx, context, issue, event)?;
            }
            insert_run(tx, context, request, None)?;
            tx.prepare_cached(
                "UPDATE run SET metadata = json_set(metadata, '$.' || ?2, json('true')) WHERE id = ?1",
            )?
            .execute([request.run.as_str(), INTERACTIVE])?;
            let about = About {
                project: Some(&request.start.project),
                issue: Some(issue),
                run: Some(&request.run),
                ..About::default()
            };
            let claimed = LogEvent::RunClaimed {
                agent: request.start.agent.clone(),
                attempt: request.start.attempt,
                interactive: true,
            };
            append(tx, context, about, &claimed)?;
            tx.prepare_cached("DELETE FROM retry WHERE issue = ?1")?
                .execute([issue.as_str()])?;
            Ok(Ok(load_run(tx, &request.run)?))
        })
    }

    /// Returns why an issue cannot be released now, if so. It may be decided otherwise by the time it is released.
    ///
    /// # Errors
    /// When there is no such issue, or the database cannot be read.
    pub fn release_refusal(
        &mut self,
        issue: &IssueId,
    ) -> Result<Option<TakeOverRefusal>, StoreError> {
        self.read(|tx| Ok(decide(tx, issue, plan_release)?.err()))
    }

    /// Gives an issue that a person has taken over back to agents. Its count of attempts starts again, as whenever a person
    /// puts an issue into `todo`.
    ///
    /// # Errors
    /// When there is no such issue, or the database cannot be written. The inner error is why it is not released.
    pub fn release(
        &mut self,
        context: &Context,
        issue: &IssueId,
    ) -> Result<Result<Issue, TakeOverRefusal>, StoreError> {
        self.write(context, |tx| {
            let event = match decide(tx, issue, plan_release)? {
                Ok(event) => event,
                Err(refusal) => return Ok(Err(refusal)),
            };
            move_in(tx, context, issue, &event)?;
            Ok(Ok(load_issue(tx, issue)?))
        })
    }
}

/// Reads the facts, in the transaction that acts on the decision: two people may ask at the same moment.
fn decide<T>(
    tx: &Transaction<'_>,
    issue: &IssueId,
    plan: impl Fn(&TakeOverFacts<'_>) -> Result<T, TakeOverRefusal>,
) -> Result<Result<T, TakeOverRefusal>, StoreError> {
    let state = load_issue(tx, issue)?.state;
    let facts = load_facts(tx, issue)?;
    let is_open = facts.pull_request.is_some() || facts.delivery.is_some();
    let live: Option<String> = tx
        .prepare_cached(
            "SELECT id FROM run WHERE issue = ?1 AND status IN ('starting', 'running')",
        )?
        .query_row([issue.as_str()], |row| row.get(0))
        .optional()?;
    let live: Option<RunId> = live.map(|id| parsed("run id", id)).transpose()?;
    let live = live.map(|id| load_run(tx, &id)).transpose()?;
    Ok(plan(&TakeOverFacts {
        issue,
        state: &state,
        review: if is_open { Review::Open } else { Review::None },
        live: live.as_ref().map(|run| (&run.id, run.is_interactive())),
    }))
}
