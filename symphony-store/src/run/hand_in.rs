//! Refused calls of the tool that a run exists for. They are kept with the run, so that its end can name them and runs
//! that end alike are noticed.

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
use crate::db::{Connection, Transaction, params};
use crate::error::StoreError;
use crate::run::ending::RunFinish;

/// The key in a run's metadata for its last refused call. The name is from when only `create_pr` was kept, and existing
/// databases use it.
const REFUSED_CALL: &str = "refused_create_pr";
/// The key in the metadata of a run that brought nothing new: how it ended.
pub(crate) const IDLE: &str = "idle";
/// The key in the metadata of a run that ended at a limit: which limit.
const LIMIT: &str = "limit";
/// How many runs are read at most, since those that used no attempt are skipped.
const RUNS_MAX: u32 = 50;

impl Store {
    /// Records that a live run's call of the tool that it exists for was refused. A person's call is not recorded.
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

/// Returns the last refusal of a run, and how many runs in a row before it on its issue ended with a similar one.
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

/// What an ended run brought and which limit ended it, with the runs before it that ended alike.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    pub(crate) idle: Option<IdleRow>,
    pub(crate) limited: Option<LimitRow>,
}

impl Rows {
    /// Adds to the run's metadata what later runs count.
    pub(crate) fn note(&self, metadata: &mut Map<String, Value>) {
        if let Some(idle) = &self.idle {
            metadata.insert(IDLE.to_owned(), idle.end.name().into());
        }
        if let Some(limited) = &self.limited {
            metadata.insert(LIMIT.to_owned(), limited.limit.name().into());
        }
    }
}

/// Returns what an agent's run on an issue brought. Intake only sorts, and a pull request is a result, so neither is
/// counted.
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

/// Returns whether a run answered a review point or filed an issue.
fn has_answered_or_filed(conn: &Connection, run: &RunId) -> Result<bool, StoreError> {
    Ok(conn
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM event WHERE run = ?1 AND kind IN ('issue_added', 'review_point_answered'))",
        )?
        .query_row([run.as_str()], |row| row.get(0))?)
}

/// Returns how a run that brought nothing ended. Older records only say that it had no result.
fn idle_in(metadata: &Value) -> Option<IdleEnd> {
    match metadata.get(IDLE)? {
        Value::Bool(true) => Some(IdleEnd::Silent),
        found => IdleEnd::parse(found.as_str()?),
    }
}

fn limit_in(metadata: &Value) -> Option<RunLimit> {
    RunLimit::parse(metadata.get(LIMIT)?.as_str()?)
}

/// Returns what earlier runs on the issue have in common with this one, newest first, at most `max`. Runs that used no
/// attempt are skipped, and so are judges of a proposal that nothing is left to do, since its author's run is marked.
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
    while let Some(row) = &rows.next()?
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
        // A cap of the issue or the project ended this run, not one of its own.
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

/// Counts how many runs in a row before this one brought nothing to the issue.
pub(crate) fn idle_before(
    conn: &Connection,
    issue: &IssueId,
    run: &Run,
) -> Result<u32, StoreError> {
    let before = in_a_row(conn, issue, run, NOTHING_STOPS, idle_in)?;
    Ok(u32::try_from(before.len()).unwrap_or(NOTHING_STOPS))
}

/// Forgets a refused call, because a later call of the same run succeeded.
pub(crate) fn forget_refused_call(conn: &Connection, context: &Context) -> Result<(), StoreError> {
    if let Actor::Run(key) = &context.actor {
        conn.prepare_cached(
            "UPDATE run SET metadata = json_remove(metadata, '$.' || ?2) WHERE id = ?1",
        )?
        .execute(params![key.run.as_str(), REFUSED_CALL])?;
    }
    Ok(())
}

/// Returns why a run's last call of the tool that it exists for was refused, from the run's metadata; `None` when the
/// call succeeded or was never made.
pub fn refused_call(metadata: &Value) -> Option<RefusedCall> {
    let found = metadata.get(REFUSED_CALL)?;
    serde_json::from_value(found.clone()).ok()
}

/// Marks the run of a rejected proposal as one that brought nothing, so that it counts with the others in a row
/// (`docs/design/0023`).
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
