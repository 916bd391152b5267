//! Comments and findings.

use symphony_core::id::{CommentId, FindingId, IssueId, ProjectId, RunId};
use symphony_core::issue::{Comment, Finding, FindingKind, check_paths, check_required_text};
use symphony_core::log::LogEvent;
use symphony_core::message::{Addressee, MessageRead, MessageState};

use crate::database::context::{Actor, Context};
use crate::database::event::{About, append};
use crate::database::open::Store;
use crate::database::row::{attribution, json as from_json, parsed, parsed_opt, time, to_json};
use crate::db::{Row, Transaction, params};
use crate::error::StoreError;
use crate::issue::query::load_issue;

/// How many comments one run may write. A run that writes more is looping.
const RUN_COMMENTS_MAX: i64 = 100;
/// How many findings one run may add. A run that adds more is looping.
const RUN_FINDINGS_MAX: i64 = 100;

/// A finding to be added.
#[derive(Debug, Clone)]
pub struct NewFinding {
    /// Its kind.
    pub kind: FindingKind,
    /// The text.
    pub text: String,
    /// The files that it is about.
    pub files: Vec<String>,
}

/// Refuses a write that exceeds a run's limit in a table.
pub(crate) fn check_run_limit(
    tx: &Transaction<'_>,
    context: &Context,
    table: &'static str,
    limit: i64,
) -> Result<(), StoreError> {
    let Actor::Run(key) = &context.actor else {
        return Ok(());
    };
    let written: i64 = tx.query_row(
        &format!("SELECT count(*) FROM {table} WHERE run = ?1"),
        [key.run.as_str()],
        |row| row.get(0),
    )?;
    if written >= limit {
        return Err(StoreError::RunLimit {
            kind: table,
            written,
            limit,
        });
    }
    Ok(())
}

/// Adds a comment inside a transaction.
pub(crate) fn add_comment_in(
    tx: &Transaction<'_>,
    context: &Context,
    issue: &IssueId,
    content: &str,
) -> Result<CommentId, StoreError> {
    let (source, user) = context.actor.attributed();
    let id = tx.query_row(
        "INSERT INTO comment (issue, author, run, content, created_at, unverified, source, user, login)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) RETURNING id",
        params![
            issue.as_str(),
            context.actor.author().name(),
            context.actor.run().map(RunId::as_str),
            content,
            context.now.as_millisecond(),
            context.actor.unverified(),
            source,
            user,
            context.actor.login(),
        ],
        |row| row.get(0),
    )?;
    let id = CommentId::new(id);
    append(
        tx,
        context,
        About::issue(issue),
        &LogEvent::CommentAdded { comment: id },
    )?;
    Ok(id)
}

/// Adds a comment inside a transaction, unless its run has written too many.
pub(crate) fn add_limited_comment(
    tx: &Transaction<'_>,
    context: &Context,
    issue: &IssueId,
    content: &str,
) -> Result<CommentId, StoreError> {
    check_run_limit(tx, context, "comment", RUN_COMMENTS_MAX)?;
    add_comment_in(tx, context, issue, content)
}

/// Adds a finding inside a transaction, unless its run has added too many.
pub(crate) fn add_limited_finding(
    tx: &Transaction<'_>,
    context: &Context,
    issue: &IssueId,
    new: &NewFinding,
) -> Result<FindingId, StoreError> {
    check_run_limit(tx, context, "finding", RUN_FINDINGS_MAX)?;
    add_finding_in(tx, context, issue, new)
}

/// The subject of a finding.
#[derive(Debug, Clone, Copy)]
enum FindingOn<'a> {
    Issue(&'a IssueId),
    Project(&'a ProjectId),
}

/// Adds a finding inside a transaction.
pub(crate) fn add_finding_in(
    tx: &Transaction<'_>,
    context: &Context,
    issue: &IssueId,
    new: &NewFinding,
) -> Result<FindingId, StoreError> {
    insert_finding(tx, context, FindingOn::Issue(issue), new)
}

fn insert_finding(
    tx: &Transaction<'_>,
    context: &Context,
    on: FindingOn<'_>,
    new: &NewFinding,
) -> Result<FindingId, StoreError> {
    let (about, issue, project) = match on {
        FindingOn::Issue(issue) => (About::issue(issue), Some(issue.as_str()), None),
        FindingOn::Project(project) => (
            About::of_or_project(None, project),
            None,
            Some(project.as_str()),
        ),
    };
    let id = tx.query_row(
        "INSERT INTO finding (issue, project, kind, text, files, author, run, created_at)
         VALUES (?1, coalesce(?2, (SELECT project FROM issue WHERE id = ?1)), ?3, ?4, ?5, ?6, ?7, ?8) RETURNING id",
        params![
            issue,
            project,
            new.kind.name(),
            new.text,
            to_json(&new.files),
            context.actor.author().name(),
            context.actor.run().map(RunId::as_str),
            context.now.as_millisecond(),
        ],
        |row| row.get(0),
    )?;
    let id = FindingId::new(id);
    append(
        tx,
        context,
        about,
        &LogEvent::FindingAdded {
            finding: id,
            kind: new.kind,
        },
    )?;
    Ok(id)
}

impl Store {
    /// Adds a comment to an issue.
    ///
    /// # Errors
    /// When the issue does not exist, the text is empty or too long, or the run has written too many.
    pub fn add_comment(
        &mut self,
        context: &Context,
        issue: &IssueId,
        content: &str,
    ) -> Result<Comment, StoreError> {
        check_required_text("content", content)?;
        let id = self.write(context, |tx| {
            load_issue(tx, issue)?;
            add_limited_comment(tx, context, issue, content)
        })?;
        Ok(Comment {
            id,
            issue: issue.clone(),
            author: context.actor.author(),
            content: content.to_owned(),
            created_at: context.now,
            unverified: context.actor.unverified().map(str::to_owned),
            attribution: context.actor.attribution(),
            login: context.actor.login().map(str::to_owned),
            message: None,
        })
    }

    /// Adds a finding to an issue.
    ///
    /// # Errors
    /// When the issue does not exist, a field breaks a limit, or the run has added too many.
    pub fn add_finding(
        &mut self,
        context: &Context,
        issue: &IssueId,
        new: &NewFinding,
    ) -> Result<Finding, StoreError> {
        check_required_text("text", &new.text)?;
        check_paths("files", &new.files)?;
        let id = self.write(context, |tx| {
            load_issue(tx, issue)?;
            add_limited_finding(tx, context, issue, new)
        })?;
        Ok(added(context, id, new))
    }

    /// Adds a finding about a whole project, for an agent without an issue.
    ///
    /// # Errors
    /// When the project does not exist, a field breaks a limit, or the run has added too many.
    pub fn add_project_finding(
        &mut self,
        context: &Context,
        project: &ProjectId,
        new: &NewFinding,
    ) -> Result<Finding, StoreError> {
        check_required_text("text", &new.text)?;
        check_paths("files", &new.files)?;
        let id = self.write(context, |tx| {
            check_run_limit(tx, context, "finding", RUN_FINDINGS_MAX)?;
            insert_finding(tx, context, FindingOn::Project(project), new)
        })?;
        Ok(added(context, id, new))
    }

    /// Returns the last comments of an issue, oldest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn comments(&self, issue: &IssueId, limit: u32) -> Result<Vec<Comment>, StoreError> {
        let mut statement = self.conn.prepare_cached(
            "SELECT * FROM (SELECT * FROM comment WHERE issue = ?1 ORDER BY id DESC LIMIT ?2) AS newest ORDER BY id",
        )?;
        let mut rows = statement.query(params![issue.as_str(), limit])?;
        let mut comments = Vec::new();
        while let Some(row) = &rows.next()? {
            comments.push(comment_of(row)?);
        }
        Ok(comments)
    }

    /// Returns the last comments of an issue that its agents are given, oldest first: all but withdrawn messages.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn comments_for_agents(
        &self,
        issue: &IssueId,
        limit: u32,
    ) -> Result<Vec<Comment>, StoreError> {
        let mut comments = self.comments(issue, limit)?;
        comments.retain(|comment| {
            let message = comment.message.as_ref();
            message.is_none_or(|message| message.withdrawn.is_none() || message.read.is_some())
        });
        Ok(comments)
    }

    /// Returns the last findings of an issue, oldest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn findings(&self, issue: &IssueId, limit: u32) -> Result<Vec<Finding>, StoreError> {
        self.read_findings(
            "SELECT * FROM (SELECT * FROM finding WHERE issue = ?1 ORDER BY id DESC LIMIT ?2) AS newest ORDER BY id",
            issue.as_str(),
            limit,
        )
    }

    /// Returns the last findings about a whole project, oldest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn project_findings(
        &self,
        project: &ProjectId,
        limit: u32,
    ) -> Result<Vec<Finding>, StoreError> {
        self.read_findings(
            "SELECT * FROM (SELECT * FROM finding WHERE project = ?1 AND issue IS NULL ORDER BY id DESC LIMIT ?2) AS newest ORDER BY id",
            project.as_str(),
            limit,
        )
    }

    fn read_findings(&self, sql: &str, of: &str, limit: u32) -> Result<Vec<Finding>, StoreError> {
        let mut statement = self.conn.prepare_cached(sql)?;
        let mut rows = statement.query(params![of, limit])?;
        let mut findings = Vec::new();
        while let Some(row) = &rows.next()? {
            findings.push(Finding {
                id: FindingId::new(row.get("id")?),
                kind: parsed("finding kind", row.get("kind")?)?,
                text: row.get("text")?,
                files: from_json("files", &row.get::<_, String>("files")?)?,
                author: parsed("author", row.get("author")?)?,
                run: parsed_opt("run", row.get("run")?)?,
                created_at: time(row.get("created_at")?)?,
            });
        }
        Ok(findings)
    }
}

/// Returns the comment of a row.
pub(crate) fn comment_of(row: &Row<'_>) -> Result<Comment, StoreError> {
    Ok(Comment {
        id: CommentId::new(row.get("id")?),
        issue: parsed("issue", row.get("issue")?)?,
        author: parsed("author", row.get("author")?)?,
        content: row.get("content")?,
        created_at: time(row.get("created_at")?)?,
        unverified: row.get("unverified")?,
        attribution: attribution(row)?,
        login: row.get("login")?,
        message: message_state(row)?,
    })
}

/// Returns the columns that make a comment a message.
fn message_state(row: &Row<'_>) -> Result<Option<MessageState>, StoreError> {
    let addressee: Option<Addressee> = parsed_opt("addressee", row.get("addressee")?)?;
    let Some(addressee) = addressee else {
        return Ok(None);
    };
    let run: Option<RunId> = parsed_opt("run", row.get("read_by")?)?;
    let at: Option<i64> = row.get("read_at")?;
    let read = run
        .zip(at)
        .map(|(run, at)| Ok::<_, StoreError>(MessageRead { run, at: time(at)? }));
    let withdrawn: Option<i64> = row.get("withdrawn_at")?;
    Ok(Some(MessageState {
        addressee,
        read: read.transpose()?,
        withdrawn: withdrawn.map(time).transpose()?,
    }))
}

/// Returns a finding as it was just written.
fn added(context: &Context, id: FindingId, new: &NewFinding) -> Finding {
    Finding {
        id,
        kind: new.kind,
        text: new.text.clone(),
        files: new.files.clone(),
        author: context.actor.author(),
        run: context.actor.run().cloned(),
        created_at: context.now,
    }
}
