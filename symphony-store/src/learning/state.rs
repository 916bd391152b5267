//! The life of a learning: how it changes when its work ends, or when a person decides.
//!
//! `LearningState::settle` decides. This module reads the sources and writes the states, in the transaction that moves
//! the issue or the plan.

use symphony_core::id::{IssueId, LearningId, RunId};
use symphony_core::issue::IssueStatus;
use symphony_core::learning::{LearningSource, LearningState, SourceEnd};
use symphony_core::plan::state::PlanStatus;
use symphony_learning::Prepared;

use crate::database::context::{Actor, Context};
use crate::database::event::append;
use crate::database::open::Store;
use crate::database::row::{parsed, parsed_opt};
use crate::db::{Connection, Transaction, params};
use crate::error::StoreError;
use crate::learning::pack::unpack_learning;
use crate::learning::row::{LearningRecord, about, keep_prepared, load_learning};

/// Returns the work that a run is part of; `None` for a run on the project itself.
pub(crate) fn source_of_run(
    conn: &Connection,
    run: &RunId,
) -> Result<Option<LearningSource>, StoreError> {
    let mut statement = conn.prepare_cached("SELECT issue, plan FROM run WHERE id = ?1")?;
    let mut rows = statement.query([run.as_str()])?;
    let Some(row) = rows.next()? else {
        return Err(StoreError::not_found("run", run.as_str()));
    };
    let issue = parsed_opt("issue id", row.get(0)?)?.map(LearningSource::Issue);
    let plan = parsed_opt("plan id", row.get(1)?)?.map(LearningSource::Plan);
    Ok(issue.or(plan))
}

/// Adds a source to a learning, once; returns whether it is new.
pub(crate) fn add_source(
    tx: &Transaction<'_>,
    learning: &LearningId,
    source: &LearningSource,
    run: &RunId,
) -> Result<bool, StoreError> {
    let column = column(source);
    let added = tx
        .prepare_cached(&format!(
            "INSERT INTO learning_source (learning, {column}, run) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING"
        ))?
        .execute([learning.as_str(), id(source), run.as_str()])?;
    Ok(added > 0)
}

/// Settles every learning that comes from an issue or a plan, after that has moved.
pub(crate) fn settle_learnings_of(
    tx: &Transaction<'_>,
    context: &Context,
    source: &LearningSource,
) -> Result<(), StoreError> {
    for learning in learnings_of(tx, source)? {
        settle_learning(tx, context, &learning)?;
    }
    Ok(())
}

/// Removes a deleted issue from the sources, and settles what came from it.
pub(crate) fn remove_source(
    tx: &Transaction<'_>,
    context: &Context,
    issue: &IssueId,
) -> Result<(), StoreError> {
    let learnings = learnings_of(tx, &LearningSource::Issue(issue.clone()))?;
    tx.prepare_cached("DELETE FROM learning_source WHERE issue = ?1")?
        .execute([issue.as_str()])?;
    learnings
        .iter()
        .try_for_each(|learning| settle_learning(tx, context, learning))
}

/// Moves a learning to the state that its sources require.
pub(crate) fn settle_learning(
    tx: &Transaction<'_>,
    context: &Context,
    learning: &LearningId,
) -> Result<(), StoreError> {
    let record = load_learning(tx, learning.as_str())?;
    let ends = source_ends(tx, learning)?;
    let state = record.state.settle(ends);
    set_state(tx, context, record, state).map(|_| ())
}

/// Returns the learnings that come from an issue or a plan.
fn learnings_of(conn: &Connection, source: &LearningSource) -> Result<Vec<LearningId>, StoreError> {
    let column = column(source);
    let mut statement = conn.prepare_cached(&format!(
        "SELECT learning FROM learning_source WHERE {column} = ?1 ORDER BY id"
    ))?;
    let mut rows = statement.query([id(source)])?;
    let mut learnings = Vec::new();
    while let Some(row) = &rows.next()? {
        learnings.push(parsed("learning id", row.get(0)?)?);
    }
    Ok(learnings)
}

/// Returns the proposed learnings that come from an issue or a plan, which its own runs get.
pub(crate) fn proposed_by(
    conn: &Connection,
    source: &LearningSource,
) -> Result<Vec<LearningRecord>, StoreError> {
    let mut records = Vec::new();
    for learning in learnings_of(conn, source)? {
        let record = load_learning(conn, learning.as_str())?;
        if record.state == LearningState::Proposed {
            records.push(record);
        }
    }
    Ok(records)
}

/// Returns how the sources of a learning ended.
fn source_ends(conn: &Connection, learning: &LearningId) -> Result<Vec<SourceEnd>, StoreError> {
    let mut statement = conn.prepare_cached(
        "SELECT i.status, p.status FROM learning_source s
         LEFT JOIN issue i ON i.id = s.issue LEFT JOIN plan p ON p.id = s.plan WHERE s.learning = ?1",
    )?;
    let mut rows = statement.query([learning.as_str()])?;
    let mut ends = Vec::new();
    while let Some(row) = &rows.next()? {
        let issue: Option<IssueStatus> = parsed_opt("issue status", row.get(0)?)?;
        let plan: Option<PlanStatus> = parsed_opt("plan status", row.get(1)?)?;
        ends.extend(issue.map(SourceEnd::from));
        ends.extend(plan.map(SourceEnd::from));
    }
    Ok(ends)
}

/// Writes a state and logs it, unless it is already in that state.
fn set_state(
    tx: &Transaction<'_>,
    context: &Context,
    mut record: LearningRecord,
    state: LearningState,
) -> Result<LearningRecord, StoreError> {
    let learning = &record.learning;
    let Some(event) = state.entered_from(record.state, &learning.id) else {
        return Ok(record);
    };
    // What ranking reads of an accepted learning may be in a pack, where triggers do not find it.
    if record.state == LearningState::Accepted {
        unpack_learning(tx, record.project.as_str(), learning.id.as_str())?;
    }
    let accepted_at = (state == LearningState::Accepted).then(|| context.now.as_millisecond());
    tx.prepare_cached(
        "UPDATE learning SET state = ?2, accepted_at = coalesce(accepted_at, ?3) WHERE id = ?1",
    )?
    .execute(params![learning.id.as_str(), state.name(), accepted_at])?;
    keep_prepared(
        tx,
        record.project.as_str(),
        learning.id.as_str(),
        &Prepared::new(learning),
    )?;
    append(tx, context, about(&record), &event)?;
    record.state = state;
    Ok(record)
}

const fn column(source: &LearningSource) -> &'static str {
    match source {
        LearningSource::Issue(_) => "issue",
        LearningSource::Plan(_) => "plan",
    }
}

fn id(source: &LearningSource) -> &str {
    match source {
        LearningSource::Issue(issue) => issue.as_str(),
        LearningSource::Plan(plan) => plan.as_str(),
    }
}

impl Store {
    /// Accepts learnings, whatever their state, so that prompts of all issues include them. Accepts all of them, or
    /// none if one does not exist.
    ///
    /// # Errors
    /// When one does not exist, or a run calls it, since only people accept learnings.
    pub fn accept_learnings(
        &mut self,
        context: &Context,
        ids: &[LearningId],
    ) -> Result<Vec<LearningRecord>, StoreError> {
        self.set_states(context, ids, LearningState::Accepted)
    }

    /// Retires learnings, so that no agent gets them any longer. Retires all of them, or none if one does not exist.
    ///
    /// # Errors
    /// As [`Store::accept_learnings`].
    pub fn retire_learnings(
        &mut self,
        context: &Context,
        ids: &[LearningId],
    ) -> Result<Vec<LearningRecord>, StoreError> {
        self.set_states(context, ids, LearningState::Retired)
    }

    fn set_states(
        &mut self,
        context: &Context,
        ids: &[LearningId],
        state: LearningState,
    ) -> Result<Vec<LearningRecord>, StoreError> {
        if matches!(context.actor, Actor::Run(_)) {
            return Err(StoreError::OnlyPeople("accept and retire learnings"));
        }
        self.write(context, |tx| {
            ids.iter()
                .map(|id| set_state(tx, context, load_learning(tx, id.as_str())?, state))
                .collect()
        })
    }

    /// Returns the work that a run is part of, as the source of its learnings; `None` for a run on the project itself.
    ///
    /// # Errors
    /// When there is no such run.
    pub fn learning_source_of(&self, run: &RunId) -> Result<Option<LearningSource>, StoreError> {
        source_of_run(&self.conn, run)
    }
}
