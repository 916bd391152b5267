//! Refused calls of the tool that a run is for: kept with the run, so that its end names them and runs that end alike are seen.

use rusqlite::{Connection, Transaction, params};
use serde_json::{Map, Value};
use symphony_core::agent::AgentType;
use symphony_core::failure::ErrorClass;
use symphony_core::hand_in::{NOTHING_STOPS, RefusedCall, has_new_commits};
use symphony_core::id::{IssueId, RunId};
use symphony_core::idle::{
    IdleEnd, IdleFacts, IdleRow, LimitRow, RunLimit, idle_end, limited_stops, run_limit,
};
use symphony_core::issue::Issue;
use symphony_core::outcome::Evidence;
use symphony_core::pull_request::PullRequest;
use symphony_core::run::{Run, RunStatus, RunTarget};

use crate::database::context::{Actor, Context};
use crate::database::open::Store;
use crate::database::row::{json, to_json};
use crate::error::StoreError;
use crate::run::ending::RunFinish;

/// The detail of a run's metadata that holds its last refused call. Its name is from the time when only `create_pr` was kept;
/// databases have it.
const REFUSED_CALL: &str = "refused_create_pr";
/// The detail of a run that brought nothing new: how it ended.
pub(crate) const IDLE: &str = "idle";
/// The detail of a run that ended at a limit: which one.
const LIMIT: &str = "limit";
/// Runs that are looked at, since those that used no attempt are passed over.
const RUNS_MAX: u32 = 50;

impl Store {
    /// Keeps with a live run that a call of the tool that it is for was refused. A call by a person is not kept.
    ///
    /// # Errors
    /// When the run is over.
    pub fn record_refused_call(
        &mut self,
        context: &Context,
        refused: &RefusedCall,
    ) -> Result<(), StoreError> {
        let Actor::Run(key) = &context.actor else {
            return Ok(());
        };
        let run = key.run.clone();
        self.write(context, |tx| {
            tx.prepare_cached(
                "UPDATE run SET metadata = json_set(metadata, '$.' || ?2, json(?3)) WHERE id = ?1",
            )?
            .execute(params![run.as_str(), REFUSED_CALL, to_json(refused)])?;
            Ok(())
        })
    }
}

/// Returns the last refusal of a run, and how many runs on its issue before it ended with one like it, in a row.
pub(crate) fn refused_in_a_row(
    conn: &Connection,
    run: &Run,
) -> Result<Option<(RefusedCall, u32)>, StoreError> {
    let (Some(refused), Some(issue)) = (refused_call(&run.metadata), run.target.issue()) else {
        return Ok(None);
    };
    let before = in_a_row(conn, issue, run, NOTHING_STOPS, |metadata| {
        refused_call(metadata).filter(|before| before.is_like(&refused))
    })?;
    let count = u32::try_from(before.len()).unwrap_or(NOTHING_STOPS);
    Ok(Some((refused, count)))
}

/// What a run that is over brought, and at which limit it ended, with the runs before it that ended alike.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    pub(crate) idle: Option<IdleRow>,
    pub(crate) limited: Option<LimitRow>,
}

impl Rows {
    /// Adds what later runs count to the metadata of the run.
    pub(crate) fn note(&self, metadata: &mut Map<String, Value>) {
        if let Some(idle) = &self.idle {
            metadata.insert(IDLE.to_owned(), idle.end.name().into());
        }
        if let Some(limited) = &self.limited {
            metadata.insert(LIMIT.to_owned(), limited.limit.name().into());
        }
    }
}

/// Says what the run of an agent on an issue came to. Intake only sorts, and a pull request is a result.
pub(crate) fn rows_of(
    conn: &Connection,
    run: &Run,
    issue: &Issue,
    finish: &RunFinish,
    evidence: Evidence,
) -> Result<Rows, StoreError> {
    if !matches!(run.target, RunTarget::Issue(_)) || run.agent == AgentType::Intake {
        return Ok(Rows::default());
    }
    let metadata = Value::Object(finish.metadata_after(run));
    let facts = IdleFacts {
        status: finish.status,
        class: finish.error.as_ref().map(|error| error.class),
        cap: finish.cap.map(|cap| cap.scope),
        issue: issue.state.status(),
        moved_issue: run.moved_issue,
        brought_something: evidence == Evidence::Found
            || has_new_commits(&metadata)
            || has_answered_or_filed(conn, &run.id)?,
        is_refused: refused_call(&metadata).is_some(),
    };
    let idle = idle_end(&facts).map(|end| {
        let before = in_a_row(conn, &issue.id, run, NOTHING_STOPS, idle_in)?;
        Ok::<_, StoreError>(IdleRow { end, before })
    });
    let limited = run_limit(&facts).map(|limit| {
        let max = limited_stops(finish.limits.max_retries);
        let before = in_a_row(conn, &issue.id, run, max, limit_in)?;
        Ok::<_, StoreError>(LimitRow { limit, before })
    });
    Ok(Rows {
        idle: idle.transpose()?,
        limited: limited.transpose()?,
    })
}

/// Says whether a run answered a review point or filed an issue.
fn has_answered_or_filed(conn: &Connection, run: &RunId) -> Result<bool, StoreError> {
    Ok(conn
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM event WHERE run = ?1 AND kind IN ('issue_added', 'review_point_answered'))",
        )?
        .query_row([run.as_str()], |row| row.get(0))?)
}

/// How a run that brought nothing ended; older records say only that it ended without a result.
fn idle_in(metadata: &Value) -> Option<IdleEnd> {
    match metadata.get(IDLE)? {
        Value::Bool(true) => Some(IdleEnd::Silent),
        found => IdleEnd::parse(found.as_str()?),
    }
}

fn limit_in(metadata: &Value) -> Option<RunLimit> {
    RunLimit::parse(metadata.get(LIMIT)?.as_str()?)
}

/// Returns what the runs on an issue before this one have in common with it, newest first, at most `max` of them. Those that used
/// no attempt say nothing, and are passed over; so are judges of a proposal that nothing is left to do, whose author is marked.
fn in_a_row<T>(
    conn: &Connection,
    issue: &IssueId,
    run: &Run,
    max: u32,
    alike: impl Fn(&Value) -> Option<T>,
) -> Result<Vec<T>, StoreError> {
    let mut statement = conn.prepare_cached(
        "SELECT status, error_class, metadata FROM run WHERE issue = ?1 AND agent <> 'gates' AND ended_at IS NOT NULL AND id <> ?2
         AND NOT EXISTS (SELECT 1 FROM pull_request p WHERE p.id = run.pull_request AND p.proposal IS NOT NULL)
         ORDER BY fence DESC LIMIT ?3",
    )?;
    let mut rows = statement.query(params![issue.as_str(), run.id.as_str(), RUNS_MAX])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()?
        && found.len() < usize::try_from(max).unwrap_or(usize::MAX)
    {
        let metadata: Value = json("run metadata", &row.get::<_, String>("metadata")?)?;
        if let Some(one) = alike(&metadata) {
            found.push(one);
            continue;
        }
        let class: Option<String> = row.get("error_class")?;
        let class = class.and_then(|class| ErrorClass::parse(&class).ok());
        let status: String = row.get("status")?;
        // a cap of the issue or the project ended it, not one of its own
        let is_capped = class == Some(ErrorClass::BudgetExhausted) && metadata.get(LIMIT).is_none();
        let said_nothing = is_capped
            || class.is_some_and(ErrorClass::uses_no_attempt)
            || status == RunStatus::Cancelled.name();
        if !said_nothing {
            break;
        }
    }
    Ok(found)
}

/// Counts the runs on the issue before this one that brought nothing, in a row.
pub(crate) fn idle_before(
    conn: &Connection,
    issue: &IssueId,
    run: &Run,
) -> Result<u32, StoreError> {
    let before = in_a_row(conn, issue, run, NOTHING_STOPS, idle_in)?;
    Ok(u32::try_from(before.len()).unwrap_or(NOTHING_STOPS))
}

/// Forgets that a call was refused: a later one of the same run did what it is for.
pub(crate) fn forget_refused_call(conn: &Connection, context: &Context) -> Result<(), StoreError> {
    if let Actor::Run(key) = &context.actor {
        conn.prepare_cached(
            "UPDATE run SET metadata = json_remove(metadata, '$.' || ?2) WHERE id = ?1",
        )?
        .execute(params![key.run.as_str(), REFUSED_CALL])?;
    }
    Ok(())
}

/// Returns why a run's last call of the tool that it is for was refused, from the run's metadata; none when it succeeded, or
/// was not called.
pub fn refused_call(metadata: &Value) -> Option<RefusedCall> {
    let found = metadata.get(REFUSED_CALL)?;
    serde_json::from_value(found.clone()).ok()
}

/// The run of a rejected proposal came to nothing: those in a row are counted with the others (`docs/design/0023`).
pub(crate) fn count_rejected_proposal(
    tx: &Transaction<'_>,
    proposal: &PullRequest,
) -> Result<(), StoreError> {
    if let Some(run) = proposal
        .run
        .as_ref()
        .filter(|_| proposal.proposal.is_some())
    {
        tx.prepare_cached(
            "UPDATE run SET metadata = json_set(metadata, '$.' || ?2, json('true')) WHERE id = ?1",
        )?
        .execute(params![RunId::as_str(run), IDLE])?;
    }
    Ok(())
}
