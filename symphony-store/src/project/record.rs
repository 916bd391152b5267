//! Projects.

use std::path::{Path, PathBuf};

use serde_json::Value;
use symphony_core::Timestamp;
use symphony_core::id::{ProjectId, is_prefix};
use symphony_core::log::LogEvent;
use symphony_core::project::WizardState;

use crate::database::context::Context;
use crate::database::event::{About, append};
use crate::database::open::Store;
use crate::database::row::{int, json as from_json, parsed, time};
use crate::db::{Connection, OptionalExtension, Row, Transaction, params};
use crate::error::StoreError;
use crate::project::refusal::ProjectRefusal;

/// A repository whose backlog Symphony works on.
#[derive(Debug, Clone, PartialEq)]
pub struct Project {
    /// Its id.
    pub id: ProjectId,
    /// Its name.
    pub name: String,
    /// Its folder.
    pub root: PathBuf,
    /// The prefix of its issues' identifiers.
    pub prefix: String,
    /// How far its setup wizard has come.
    pub wizard: WizardState,
    /// The wizard's configuration. The configuration file takes precedence.
    pub settings: Value,
    /// When it was added.
    pub created_at: Timestamp,
}

/// A project to be added.
#[derive(Debug, Clone)]
pub struct NewProject {
    /// Its id.
    pub id: ProjectId,
    /// Its name.
    pub name: String,
    /// Its absolute folder.
    pub root: PathBuf,
    /// The prefix of its issues' identifiers.
    pub prefix: String,
}

/// How the issues of a project are numbered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IssueNumbers {
    /// How many issues it has.
    pub existing: u32,
    /// The number that its next issue gets.
    pub next: u32,
}

fn from_row(row: &Row<'_>) -> Result<Project, StoreError> {
    Ok(Project {
        id: parsed("project id", row.get("id")?)?,
        name: row.get("name")?,
        root: PathBuf::from(row.get::<_, String>("root")?),
        prefix: row.get("prefix")?,
        wizard: parsed("wizard state", row.get("wizard")?)?,
        settings: from_json("project settings", &row.get::<_, String>("settings")?)?,
        created_at: time(row.get("created_at")?)?,
    })
}

/// Brings back the project that was removed from a folder, and returns its id.
fn bring_back(
    tx: &Transaction<'_>,
    context: &Context,
    root: &str,
) -> Result<Option<ProjectId>, StoreError> {
    let back: Option<(String, String)> = tx
        .query_row(
            "UPDATE project SET removed_at = NULL WHERE root = ?1 AND removed_at IS NOT NULL RETURNING id, prefix",
            [root],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .optional()?;
    let Some((id, prefix)) = back else {
        return Ok(None);
    };
    let id: ProjectId = parsed("project id", id)?;
    let about = About {
        project: Some(&id),
        ..About::default()
    };
    append(tx, context, about, &LogEvent::ProjectAdded { prefix })?;
    Ok(Some(id))
}

fn utf8_root(root: &Path) -> Result<&str, StoreError> {
    root.to_str().ok_or_else(|| {
        let root = root.to_owned();
        ProjectRefusal::NotUtf8(root).into()
    })
}

/// Refuses what another project already has.
pub(crate) fn refuse_taken(
    conn: &Connection,
    column: &str,
    value: &str,
    own: Option<&ProjectId>,
) -> Result<(), StoreError> {
    let taken: Option<(String, String)> = conn
        .query_row(
            &format!("SELECT id, root FROM project WHERE {column} = ?1"),
            [value],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .optional()?;
    match taken {
        Some((id, root)) if own.is_none_or(|own| own.as_str() != id) => {
            Err(ProjectRefusal::Taken {
                what: column.to_owned(),
                value: value.to_owned(),
                root,
            }
            .into())
        }
        _ => Ok(()),
    }
}

/// Reads one project, inside or outside a transaction.
pub(crate) fn load_project(conn: &Connection, id: &ProjectId) -> Result<Project, StoreError> {
    conn.prepare_cached("SELECT * FROM project WHERE id = ?1")?
        .query_row([id.as_str()], |row| Ok(from_row(row)))
        .optional()?
        .ok_or_else(|| StoreError::not_found("project", id))?
}

impl Store {
    /// Sets the number of the first issue of a project, so that a repetition of an issue keeps its identifier.
    ///
    /// # Errors
    /// When the project has already given out a number.
    pub fn number_issues_from(
        &mut self,
        context: &Context,
        project: &ProjectId,
        number: u64,
    ) -> Result<(), StoreError> {
        self.write(context, |tx| {
            let changed = tx.execute(
                "UPDATE project SET next_number = ?2 WHERE id = ?1 AND next_number = 1",
                params![project.as_str(), int(number)],
            )?;
            if changed == 0 {
                let project = project.clone();
                return Err(ProjectRefusal::Numbered(project).into());
            }
            Ok(())
        })
    }

    /// Adds a project. A removed one returns with its id, its prefix and its issues.
    ///
    /// # Errors
    /// When its id, folder or prefix is taken, its folder is not UTF-8, or its prefix is malformed.
    pub fn add_project(
        &mut self,
        context: &Context,
        new: &NewProject,
    ) -> Result<Project, StoreError> {
        if !is_prefix(&new.prefix) {
            let prefix = new.prefix.clone();
            return Err(ProjectRefusal::BadPrefix(prefix).into());
        }
        let root = utf8_root(&new.root)?;
        let id = self.write(context, |tx| {
            if let Some(id) = bring_back(tx, context, root)? {
                return Ok(id);
            }
            refuse_used(tx, &new.prefix, None)?;
            for (column, value) in [("id", new.id.as_str()), ("prefix", &new.prefix), ("root", root)] {
                refuse_taken(tx, column, value, None)?;
            }
            tx.execute(
                "INSERT INTO project (id, name, root, prefix, created_at) VALUES (?1, ?2, ?3, ?4, ?5)",
                params![new.id.as_str(), new.name, root, new.prefix, context.now.as_millisecond()],
            )?;
            let about = About { project: Some(&new.id), ..About::default() };
            append(tx, context, about, &LogEvent::ProjectAdded { prefix: new.prefix.clone() })?;
            Ok(new.id.clone())
        })?;
        self.project(&id)
    }

    /// Records that a project is in another folder now.
    ///
    /// # Errors
    /// When there is no project with this id, the folder belongs to another project, or is not UTF-8.
    pub fn move_project(
        &mut self,
        context: &Context,
        id: &ProjectId,
        to: &Path,
    ) -> Result<Project, StoreError> {
        let root = utf8_root(to)?;
        self.write(context, |tx| {
            let before = load_project(tx, id)?;
            refuse_taken(tx, "root", root, Some(id))?;
            tx.execute(
                "UPDATE project SET root = ?2 WHERE id = ?1",
                [id.as_str(), root],
            )?;
            let about = About {
                project: Some(id),
                ..About::default()
            };
            let event = LogEvent::ProjectMoved {
                from: before.root.display().to_string(),
                to: root.to_owned(),
            };
            append(tx, context, about, &event)
        })?;
        self.project(id)
    }

    /// Returns a project.
    ///
    /// # Errors
    /// When there is no project with this id.
    pub fn project(&self, id: &ProjectId) -> Result<Project, StoreError> {
        load_project(&self.conn, id)
    }

    /// Returns how many issues a project has, and the number that its next issue gets.
    ///
    /// # Errors
    /// When the database cannot be read, or there is no project with this id.
    pub fn issue_numbers(&self, id: &ProjectId) -> Result<IssueNumbers, StoreError> {
        self.conn
            .prepare_cached(
                "SELECT next_number, (SELECT count(*) FROM issue WHERE issue.project = project.id) AS existing
                 FROM project WHERE id = ?1",
            )?
            .query_row([id.as_str()], |row| {
                Ok(IssueNumbers {
                    existing: row.get("existing")?,
                    next: row.get("next_number")?,
                })
            })
            .optional()?
            .ok_or_else(|| StoreError::not_found("project", id))
    }

    /// Returns all projects, ordered by id, without removed ones.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn projects(&self) -> Result<Vec<Project>, StoreError> {
        let mut statement = self
            .conn
            .prepare_cached("SELECT * FROM project WHERE removed_at IS NULL ORDER BY id")?;
        let mut rows = statement.query([])?;
        let mut projects = Vec::new();
        while let Some(row) = &rows.next()? {
            projects.push(from_row(row)?);
        }
        Ok(projects)
    }

    /// Returns the project in a folder.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn project_at(&self, root: &Path) -> Result<Option<Project>, StoreError> {
        let Some(root) = root.to_str() else {
            return Ok(None);
        };
        self.conn
            .prepare_cached("SELECT * FROM project WHERE root = ?1 AND removed_at IS NULL")?
            .query_row([root], |row| Ok(from_row(row)))
            .optional()?
            .transpose()
    }
}

/// Refuses a prefix that issues of another project have from before its prefix was renamed.
pub(crate) fn refuse_used(
    conn: &Connection,
    prefix: &str,
    own: Option<&ProjectId>,
) -> Result<(), StoreError> {
    let by: Option<String> = conn
        .query_row(
            // `.` comes after `-`
            "SELECT project FROM issue WHERE id > ?1 || '-' AND id < ?1 || '.' AND project <> ?2 LIMIT 1",
            params![prefix, own.map_or("", ProjectId::as_str)],
            |row| row.get(0),
        )
        .optional()?;
    match by {
        Some(project) => {
            let prefix = prefix.to_owned();
            Err(ProjectRefusal::PrefixUsed { project, prefix }.into())
        }
        None => Ok(()),
    }
}
