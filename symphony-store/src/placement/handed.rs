//! What the control hands to workers of a project: its configuration, and where its hub is.

use serde_json::Value;
use symphony_core::Timestamp;
use symphony_core::id::ProjectId;

use crate::database::context::Context;
use crate::database::open::Store;
use crate::database::row::{count, int, json, to_json};
use crate::db::{OptionalExtension, params};
use crate::error::StoreError;

/// What workers know of a project beside its row.
#[derive(Debug, Clone, PartialEq)]
pub struct HandedProject {
    /// How often the configuration was changed, from 1.
    pub revision: u64,
    /// The configuration: a list of documents as in a project's own file, the weakest first.
    pub layers: Value,
    /// The address of the git repository that hosts share; `None` if the control has named none.
    pub hub: Option<String>,
}

impl Store {
    /// Hands a project to workers; returns the revision of its configuration, which grows only with a change.
    ///
    /// # Errors
    /// When there is no such project, or the database cannot be written.
    pub fn hand_project(
        &mut self,
        project: &ProjectId,
        layers: &Value,
        hub: Option<&str>,
    ) -> Result<u64, StoreError> {
        let text = to_json(layers);
        let context = Context::system(Timestamp::UNIX_EPOCH);
        self.write(&context, |tx| {
            let known = tx
                .prepare_cached("SELECT hub IS NOT DISTINCT FROM ?2 FROM project WHERE id = ?1")?
                .query_row(params![project.as_str(), hub], |row| row.get(0))
                .optional()?;
            let is_same: bool = known.ok_or_else(|| StoreError::not_found("project", project))?;
            // Written only when it changed: each tick comes by here.
            if !is_same {
                tx.prepare_cached("UPDATE project SET hub = ?2 WHERE id = ?1")?
                    .execute(params![project.as_str(), hub])?;
            }
            let before: Option<(u64, String)> = tx
                .prepare_cached("SELECT revision, layers FROM project_config WHERE project = ?1")?
                .query_row([project.as_str()], |row| {
                    Ok((count(row, "revision"), row.get("layers")?))
                })
                .optional()?
                .map(|(revision, layers)| Ok::<_, StoreError>((revision?, layers)))
                .transpose()?;
            let revision = match before {
                Some((revision, layers)) if layers == text => return Ok(revision),
                Some((revision, _)) => revision + 1,
                None => 1,
            };
            tx.prepare_cached(
                "INSERT INTO project_config (project, revision, layers) VALUES (?1, ?2, ?3)
                 ON CONFLICT (project) DO UPDATE SET revision = excluded.revision, layers = excluded.layers",
            )?
            .execute(params![project.as_str(), int(revision), text])?;
            Ok(revision)
        })
    }

    /// Returns what was handed to workers of a project; `None` if nothing was.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn handed_project(&self, project: &ProjectId) -> Result<Option<HandedProject>, StoreError> {
        let mut statement = self.conn.prepare_cached(
            "SELECT c.revision, c.layers, p.hub FROM project_config c JOIN project p ON p.id = c.project WHERE c.project = ?1",
        )?;
        let mut rows = statement.query([project.as_str()])?;
        let Some(row) = rows.next()? else {
            return Ok(None);
        };
        Ok(Some(HandedProject {
            revision: count(&row, "revision")?,
            layers: json("a handed configuration", &row.get::<_, String>("layers")?)?,
            hub: row.get("hub")?,
        }))
    }
}
