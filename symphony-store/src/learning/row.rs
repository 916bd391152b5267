//! Reading learnings from their rows, and writing them.

use symphony_core::id::{IssueId, ProjectId, RunId};
use symphony_core::issue::{
    CommentAuthor, FieldError, check_labels, check_paths, check_required_text,
};
use symphony_core::learning::{Learning, LearningSource, LearningState, LearningType};
use symphony_learning::Prepared;

use crate::database::context::Context;
use crate::database::event::About;
use crate::database::row::{json as from_json, parsed, parsed_opt, time, to_json};
use crate::db::{Connection, Row, Transaction, params};
use crate::error::StoreError;

/// A learning with its origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LearningRecord {
    /// What ranking reads.
    pub learning: Learning,
    /// The project.
    pub project: ProjectId,
    /// The issue that it came from.
    pub issue: Option<IssueId>,
    /// The run that it came from.
    pub run: Option<RunId>,
    /// The commit that it was learned at.
    pub commit: Option<String>,
    /// Who wrote it.
    pub author: CommentAuthor,
    /// Its state.
    pub state: LearningState,
    /// The work that it comes from, in order, if a run recorded it. The end of that work decides on a proposal.
    pub sources: Vec<LearningSource>,
}

impl LearningRecord {
    /// Checks its texts against the limits of their fields.
    ///
    /// # Errors
    /// Names the first field that breaks a limit.
    pub fn check(&self) -> Result<(), FieldError> {
        check_required_text("pattern", &self.learning.pattern)?;
        check_paths("applies_to", &self.learning.applies_to)?;
        check_labels(&self.learning.labels)?;
        self.commit
            .as_ref()
            .map_or(Ok(()), |commit| check_required_text("commit", commit))
    }
}

pub(crate) fn from_row(row: &Row<'_>) -> Result<LearningRecord, StoreError> {
    Ok(LearningRecord {
        learning: Learning {
            id: parsed("learning id", row.get("id")?)?,
            pattern: row.get("pattern")?,
            learning_type: parsed_opt("learning type", row.get("learning_type")?)?,
            applies_to: from_json("applies_to", &row.get::<_, String>("applies_to")?)?,
            labels: from_json("labels", &row.get::<_, String>("labels")?)?,
            created_at: time(row.get("created_at")?)?,
        },
        project: parsed("project id", row.get("project")?)?,
        issue: parsed_opt("issue id", row.get("issue")?)?,
        run: parsed_opt("run id", row.get("run")?)?,
        commit: row.get("commit_id")?,
        author: parsed("author", row.get("author")?)?,
        state: parsed("learning state", row.get("state")?)?,
        sources: from_json("sources", &row.get::<_, String>("sources")?)?,
    })
}

/// Reads one learning, inside or outside a transaction.
pub(crate) fn load_learning(conn: &Connection, id: &str) -> Result<LearningRecord, StoreError> {
    let mut statement =
        conn.prepare_cached(&format!("SELECT {COLUMNS} FROM learning l WHERE id = ?1"))?;
    let mut rows = statement.query([id])?;
    rows.next()?.map_or_else(
        || Err(StoreError::not_found("learning", id)),
        |row| from_row(&row),
    )
}

/// Inserts a learning, with what ranking reads of it.
pub(crate) fn insert_learning(
    tx: &Transaction<'_>,
    context: &Context,
    record: &LearningRecord,
) -> Result<(), StoreError> {
    let learning = &record.learning;
    let accepted_at =
        (record.state == LearningState::Accepted).then(|| context.now.as_millisecond());
    tx.prepare_cached(
        "INSERT INTO learning (id, project, issue, run, commit_id, author, state, pattern, learning_type, applies_to, labels, created_at, accepted_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
    )?
    .execute(params![
        learning.id.as_str(),
        record.project.as_str(),
        record.issue.as_ref().map(IssueId::as_str),
        record.run.as_ref().map(RunId::as_str),
        record.commit,
        record.author.name(),
        record.state.name(),
        learning.pattern,
        learning.learning_type.map(LearningType::name),
        to_json(&learning.applies_to),
        to_json(&learning.labels),
        learning.created_at.as_millisecond(),
        accepted_at,
    ])?;
    keep_prepared(
        tx,
        record.project.as_str(),
        learning.id.as_str(),
        &Prepared::new(learning),
    )
}

/// Stores what ranking reads of a learning that has a separate row. Does nothing when it is not accepted.
pub(crate) fn keep_prepared(
    tx: &Transaction<'_>,
    project: &str,
    learning: &str,
    prepared: &Prepared,
) -> Result<(), StoreError> {
    tx.prepare_cached(
        "UPDATE learning_prepared SET prepared = ?3 WHERE project = ?1 AND learning = ?2",
    )?
    .execute(params![project, learning, prepared.as_bytes()])?;
    Ok(())
}

/// Returns the subject of a log entry about a learning.
pub(crate) fn about(record: &LearningRecord) -> About<'_> {
    About {
        project: Some(&record.project),
        issue: record.issue.as_ref(),
        ..About::default()
    }
}

/// The columns of a learning, including its sources.
pub(crate) const COLUMNS: &str = "l.*, (SELECT json_group_array(json(CASE WHEN s.issue IS NULL THEN json_object('plan', s.plan)
        ELSE json_object('issue', s.issue) END) ORDER BY s.id) FROM learning_source s WHERE s.learning = l.id) AS sources";
