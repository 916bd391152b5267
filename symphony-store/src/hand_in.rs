//! Refused calls of the tool that a run is for: kept with the run, so that its end names them and runs that end alike are seen.

use rusqlite::{Connection, params};
use serde_json::Value;
use symphony_core::agent::AgentType;
use symphony_core::failure::ErrorClass;
use symphony_core::hand_in::{NOTHING_STOPS, RefusedCall, has_new_commits};
use symphony_core::id::IssueId;
use symphony_core::issue::{Issue, IssueStatus};
use symphony_core::outcome::Evidence;
use symphony_core::run::{Run, RunStatus, RunTarget};

use crate::context::{Actor, Context};
use crate::error::StoreError;
use crate::finish::RunFinish;
use crate::open::Store;
use crate::row::{json, to_json};

/// The detail of a run's metadata that holds its last refused call. Its name is from the time when only `create_pr` was kept;
/// databases have it.
const REFUSED_CALL: &str = "refused_create_pr";
/// The detail of a run that came to nothing.
pub(crate) const IDLE: &str = "idle";
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
    let count = in_a_row(conn, (issue, run), |metadata| {
        refused_call(metadata).is_some_and(|before| before.is_like(&refused))
    })?;
    Ok(Some((refused, count)))
}

/// Says whether a run on an issue ended well and left nothing: no commit, no hand-in, no change of status. Intake only sorts.
pub(crate) fn came_to_nothing(
    (run, issue): (&Run, &Issue),
    finish: &RunFinish,
    evidence: Evidence,
) -> bool {
    matches!(run.target, RunTarget::Issue(_))
        && run.agent != AgentType::Intake
        && issue.state.status() == IssueStatus::InProgress
        && finish.status == RunStatus::Succeeded
        && evidence != Evidence::Found
        && !run.moved_issue
        && left_nothing(&Value::Object(finish.metadata_after(run)))
}

/// Says whether a run left nothing, as far as its metadata shows it when it ends: no commit, and its call was not refused.
fn left_nothing(metadata: &Value) -> bool {
    !has_new_commits(metadata) && refused_call(metadata).is_none()
}

/// Returns how many runs on the issue before this one came to nothing, in a row.
pub(crate) fn idle_in_a_row(
    conn: &Connection,
    issue: &IssueId,
    run: &Run,
) -> Result<u32, StoreError> {
    in_a_row(conn, (issue, run), |metadata| {
        metadata.get(IDLE).and_then(Value::as_bool) == Some(true)
    })
}

/// Counts the runs on an issue before this one that ended alike, newest first, as far as it matters. Those that used no attempt
/// say nothing, and are passed over.
fn in_a_row(
    conn: &Connection,
    (issue, run): (&IssueId, &Run),
    is_alike: impl Fn(&Value) -> bool,
) -> Result<u32, StoreError> {
    let mut statement = conn.prepare_cached(
        "SELECT status, error_class, metadata FROM run WHERE issue = ?1 AND agent <> 'gates' AND ended_at IS NOT NULL AND id <> ?2
         ORDER BY fence DESC LIMIT ?3",
    )?;
    let mut rows = statement.query(params![issue.as_str(), run.id.as_str(), RUNS_MAX])?;
    let mut count = 0;
    while let Some(row) = rows.next()?
        && count < NOTHING_STOPS
    {
        let metadata: Value = json("run metadata", &row.get::<_, String>("metadata")?)?;
        if is_alike(&metadata) {
            count += 1;
            continue;
        }
        let class: Option<String> = row.get("error_class")?;
        let class = class.and_then(|class| ErrorClass::parse(&class).ok());
        let status: String = row.get("status")?;
        let said_nothing =
            class.is_some_and(ErrorClass::uses_no_attempt) || status == RunStatus::Cancelled.name();
        if !said_nothing {
            break;
        }
    }
    Ok(count)
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
