//! Learnings: adding and reading them.
//!
//! A learning is never changed or removed; it is retired and restored (`learning_use`). What ranking reads of it lies
//! in a table of its own, made here when it is recorded (`learning_rank`).

use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};
use symphony_core::id::{IssueId, LearningId, ProjectId, RunId};
use symphony_core::issue::{
    CommentAuthor, FieldError, check_labels, check_paths, check_required_text,
};
use symphony_core::learning::{Learning, LearningType};
use symphony_core::log::LogEvent;
use symphony_learning::{Prepared, normalise};

use crate::context::Context;
use crate::error::StoreError;
use crate::event::{About, append};
use crate::issue_query::load_issue;
use crate::learning_pack::pack_rows;
use crate::note::check_run_limit;
use crate::open::Store;
use crate::row::{json as from_json, parsed, parsed_opt, time, to_json};
use crate::run::several_fit;

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

/// Whether retired learnings are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Retired {
    /// They are left out.
    #[default]
    Without,
    /// They are among the others.
    With,
    /// Nothing else is listed.
    Only,
}

/// Which learnings to list, newest first.
#[derive(Debug, Clone, Default)]
pub struct LearningFilter {
    /// Of this project.
    pub project: Option<ProjectId>,
    /// Of this kind.
    pub learning_type: Option<LearningType>,
    /// Whether retired ones are listed.
    pub retired: Retired,
    /// Not those that come from this issue.
    pub except_issue: Option<IssueId>,
    /// At most so many.
    pub limit: Option<u32>,
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

/// Reads one learning, inside or outside a transaction.
pub(crate) fn load_learning(conn: &Connection, id: &str) -> Result<LearningRecord, StoreError> {
    let mut statement = conn.prepare_cached("SELECT * FROM learning WHERE id = ?1")?;
    let mut rows = statement.query([id])?;
    rows.next()?
        .map_or_else(|| Err(StoreError::not_found("learning", id)), from_row)
}

/// Inserts a learning, and what ranking reads of it.
pub(crate) fn insert_learning(
    tx: &Transaction<'_>,
    record: &LearningRecord,
) -> Result<(), StoreError> {
    let learning = &record.learning;
    tx.prepare_cached(
        "INSERT INTO learning (id, project, issue, run, commit_id, author, retired, pattern, learning_type, applies_to, labels, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
    )?
    .execute(params![
        learning.id.as_str(),
        record.project.as_str(),
        record.issue.as_ref().map(IssueId::as_str),
        record.run.as_ref().map(RunId::as_str),
        record.commit,
        record.author.name(),
        record.retired,
        learning.pattern,
        learning.learning_type.map(LearningType::name),
        to_json(&learning.applies_to),
        to_json(&learning.labels),
        learning.created_at.as_millisecond(),
    ])?;
    keep_prepared(
        tx,
        record.project.as_str(),
        learning.id.as_str(),
        &Prepared::new(learning),
    )
}

/// Keeps what ranking reads of a learning that has a row of its own; nothing happens when it is retired.
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

impl Store {
    /// Adds a learning; it takes the labels of the issue it came from.
    ///
    /// # Errors
    /// When a field breaks a limit, the text has no letter and no digit, the issue does not exist, or the run has added too
    /// many.
    pub fn add_learning(
        &mut self,
        context: &Context,
        new: &NewLearning,
    ) -> Result<LearningRecord, StoreError> {
        let mut record = LearningRecord {
            learning: Learning {
                id: new.id.clone(),
                pattern: new.pattern.clone(),
                learning_type: new.learning_type,
                applies_to: new.applies_to.clone(),
                labels: Vec::new(),
                created_at: context.now,
            },
            project: new.project.clone(),
            issue: new.issue.clone(),
            run: context.actor.run().cloned(),
            commit: new.commit.clone(),
            author: context.actor.author(),
            retired: false,
        };
        record.check()?;
        // what is empty when it is normalised would be given to nobody
        if normalise(&new.pattern).is_empty() {
            return Err(FieldError::NoWord { field: "pattern" }.into());
        }
        self.write(context, |tx| {
            check_run_limit(tx, context, "learning", RUN_LEARNINGS_MAX)?;
            if let Some(issue) = &new.issue {
                record.learning.labels = load_issue(tx, issue)?.labels;
            }
            insert_learning(tx, &record)?;
            pack_rows(tx, new.project.as_str())?;
            let about = About {
                project: Some(&new.project),
                issue: new.issue.as_ref(),
                plan: None,
                run: None,
            };
            let learning = new.id.clone();
            append(tx, context, about, &LogEvent::LearningAdded { learning })?;
            load_learning(tx, new.id.as_str())
        })
    }

    /// Returns the learning of a project that says exactly this, spaces at its ends apart.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn same_learning(
        &self,
        project: &ProjectId,
        pattern: &str,
    ) -> Result<Option<LearningRecord>, StoreError> {
        let id: Option<String> = self
            .conn
            .prepare_cached(
                "SELECT id FROM learning WHERE project = ?1 AND trim(pattern) = trim(?2)
                 ORDER BY retired, created_at LIMIT 1",
            )?
            .query_row([project.as_str(), pattern], |row| row.get(0))
            .optional()?;
        id.map(|id| load_learning(&self.conn, &id)).transpose()
    }

    /// Returns a learning.
    ///
    /// # Errors
    /// When there is none of this id.
    pub fn learning(&self, id: &LearningId) -> Result<LearningRecord, StoreError> {
        load_learning(&self.conn, id.as_str())
    }

    /// Finds a learning by the beginning or the end of its id.
    ///
    /// # Errors
    /// When none fits, or several do.
    pub fn find_learning(&self, text: &str) -> Result<LearningRecord, StoreError> {
        if LearningId::parse(text).is_err() {
            return Err(StoreError::not_found("learning", text));
        }
        // compared byte by byte: an id may hold what is a wildcard elsewhere
        let mut statement = self.conn.prepare_cached(
            "SELECT id FROM learning WHERE substr(id, 1, length(?1)) = ?1 OR substr(id, -length(?1)) = ?1
             ORDER BY id <> ?1, id LIMIT 6",
        )?;
        let found: Vec<String> = statement
            .query_map([text], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        match found.as_slice() {
            [] => Err(StoreError::not_found("learning", text)),
            [one, ..] if one == text => load_learning(&self.conn, one),
            [one] => load_learning(&self.conn, one),
            several => Err(several_fit(("learnings", text), several)),
        }
    }

    /// Lists learnings, newest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn learnings(&self, filter: &LearningFilter) -> Result<Vec<LearningRecord>, StoreError> {
        let scope = if filter.project.is_some() {
            "project = ?1"
        } else {
            "?1 IS NULL"
        };
        let retired = match filter.retired {
            Retired::Without => "retired = 0",
            Retired::With => "1",
            Retired::Only => "retired = 1",
        };
        let mut statement = self.conn.prepare_cached(&format!(
            "SELECT * FROM learning WHERE {scope} AND {retired} AND (?2 IS NULL OR learning_type = ?2)
             AND (?3 IS NULL OR issue IS NULL OR issue <> ?3) ORDER BY created_at DESC, id DESC LIMIT ?4",
        ))?;
        let mut rows = statement.query(params![
            filter.project.as_ref().map(ProjectId::as_str),
            filter.learning_type.map(LearningType::name),
            filter.except_issue.as_ref().map(IssueId::as_str),
            filter.limit.map_or(-1, i64::from),
        ])?;
        let mut learnings = Vec::new();
        while let Some(row) = rows.next()? {
            learnings.push(from_row(row)?);
        }
        Ok(learnings)
    }
}
