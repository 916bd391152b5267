//! Learnings.

use rusqlite::{Row, params};
use serde_json::json;
use symphony_core::id::{IssueId, LearningId, ProjectId, RunId};
use symphony_core::issue::{CommentAuthor, check_paths, check_required_text};
use symphony_core::learning::{Learning, LearningType};

use crate::context::Context;
use crate::error::StoreError;
use crate::event::{About, append};
use crate::issue_query::load_issue;
use crate::note::check_run_limit;
use crate::open::Store;
use crate::row::{json as from_json, parsed, parsed_opt, time, to_json};

/// Learnings that one run may add: more is a loop.
const RUN_LEARNINGS_MAX: i64 = 50;

/// A learning to be added.
#[derive(Debug, Clone)]
pub struct NewLearning {
    /// Its id, made by the caller.
    pub id: LearningId,
    /// The project.
    pub project: ProjectId,
    /// The issue it came from.
    pub issue: Option<IssueId>,
    /// The commit it was learned at.
    pub commit: Option<String>,
    /// The text.
    pub pattern: String,
    /// What kind.
    pub learning_type: Option<LearningType>,
    /// Paths it applies to.
    pub applies_to: Vec<String>,
}

/// A learning with where it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LearningRecord {
    /// What ranking reads.
    pub learning: Learning,
    /// The project.
    pub project: ProjectId,
    /// The issue it came from.
    pub issue: Option<IssueId>,
    /// The run it came from.
    pub run: Option<RunId>,
    /// The commit it was learned at.
    pub commit: Option<String>,
    /// Who wrote it.
    pub author: CommentAuthor,
    /// Whether it is no longer given to agents.
    pub retired: bool,
}

fn from_row(row: &Row<'_>) -> Result<LearningRecord, StoreError> {
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
        retired: row.get("retired")?,
    })
}

impl Store {
    /// Adds a learning; it takes the labels of the issue it came from.
    ///
    /// # Errors
    /// When a field breaks a limit, the issue does not exist, or the run has added too many.
    pub fn add_learning(
        &mut self,
        context: &Context,
        new: &NewLearning,
    ) -> Result<LearningRecord, StoreError> {
        check_required_text("pattern", &new.pattern)?;
        check_paths("applies_to", &new.applies_to)?;
        self.write(context, |tx| {
            check_run_limit(tx, context, "learning", RUN_LEARNINGS_MAX)?;
            let labels = new.issue.as_ref().map(|id| load_issue(tx, id)).transpose()?.map(|issue| issue.labels);
            tx.execute(
                "INSERT INTO learning (id, project, issue, run, commit_id, author, pattern, learning_type, applies_to, labels, created_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
                params![
                    new.id.as_str(),
                    new.project.as_str(),
                    new.issue.as_ref().map(IssueId::as_str),
                    context.actor.run().map(RunId::as_str),
                    new.commit,
                    context.actor.author().name(),
                    new.pattern,
                    new.learning_type.map(LearningType::name),
                    to_json(&new.applies_to),
                    to_json(&labels.unwrap_or_default()),
                    context.now.as_millisecond(),
                ],
            )?;
            let about = About { project: Some(&new.project), issue: new.issue.as_ref(), run: None };
            append(tx, context, about, "learning_added", &json!({ "learning": new.id }))
        })?;
        self.learning(&new.id)
    }

    /// Returns a learning.
    ///
    /// # Errors
    /// When there is none of this id.
    pub fn learning(&self, id: &LearningId) -> Result<LearningRecord, StoreError> {
        let mut statement = self
            .conn
            .prepare_cached("SELECT * FROM learning WHERE id = ?1")?;
        let mut rows = statement.query([id.as_str()])?;
        rows.next()?
            .map_or_else(|| Err(StoreError::not_found("learning", id)), from_row)
    }

    /// Returns what may be given to an agent: the learnings of a project that are not retired and do not come from
    /// the issue itself. Without a project: those of the whole installation.
    ///
    /// # Errors
    /// When the database can not be read.
    pub fn learnings_for(
        &self,
        project: Option<&ProjectId>,
        except_issue: Option<&IssueId>,
    ) -> Result<Vec<LearningRecord>, StoreError> {
        let mut statement = self.conn.prepare_cached(
            "SELECT * FROM learning WHERE retired = 0 AND (?1 IS NULL OR project = ?1)
             AND (?2 IS NULL OR issue IS NULL OR issue <> ?2) ORDER BY created_at, id",
        )?;
        let mut rows = statement.query(params![
            project.map(ProjectId::as_str),
            except_issue.map(IssueId::as_str)
        ])?;
        let mut learnings = Vec::new();
        while let Some(row) = rows.next()? {
            learnings.push(from_row(row)?);
        }
        Ok(learnings)
    }
}
