//! The forge of a project: its place, and whether it is held.

use std::collections::BTreeMap;

use symphony_core::Timestamp;
use symphony_core::id::ProjectId;
use symphony_forge::remote::BranchRules;
use symphony_tracker::remote::ExternalId;

use crate::database::context::Context;
use crate::database::open::Store;
use crate::database::row::{count32, json, parsed, time, to_json};
use crate::db::{OptionalExtension, Row, params};
use crate::error::StoreError;
use crate::tracker::record::{TrackerHold, hold_from};

/// A forge as the database knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForgeRecord {
    /// The project.
    pub project: ProjectId,
    /// Where its pull requests are, such as `github:acme/web`.
    pub place: String,
    /// The id of the repository there; `None` before it was asked.
    pub repository: Option<ExternalId>,
    /// What is demanded of base branches, by name, as it was last read.
    pub rules: BTreeMap<String, BranchRules>,
    /// The commits that base branches had there when they were last looked at, by name.
    pub bases: BTreeMap<String, String>,
    /// The last entry of the log before the last look.
    pub seen_event: i64,
    /// When everything was last read.
    pub looked_at: Option<Timestamp>,
    /// How many looks in a row have failed.
    pub tries: u32,
    /// Why it is not asked now.
    pub hold: Option<TrackerHold>,
    /// Why the base here is not as it is there.
    pub problem: Option<String>,
}

fn from_row(row: &Row<'_>) -> Result<ForgeRecord, StoreError> {
    let looked: Option<i64> = row.get("looked_at")?;
    let repository: Option<String> = row.get("repository")?;
    Ok(ForgeRecord {
        project: parsed("project", row.get("project")?)?,
        place: row.get("place")?,
        repository: repository.map(ExternalId::new),
        rules: json("rules of branches", &row.get::<_, String>("rules")?)?,
        bases: json("commits of branches", &row.get::<_, String>("bases")?)?,
        seen_event: row.get("seen_event")?,
        looked_at: looked.map(time).transpose()?,
        tries: count32(row, "tries")?,
        hold: hold_from(row)?,
        problem: row.get("problem")?,
    })
}

impl Store {
    /// Returns the forge of a project; `None` before it was first asked.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn forge(&self, project: &ProjectId) -> Result<Option<ForgeRecord>, StoreError> {
        self.conn
            .prepare_cached("SELECT * FROM forge WHERE project = ?1")?
            .query_row([project.as_str()], |row| Ok(from_row(row)))
            .optional()?
            .transpose()
    }

    /// Returns the forge of a project as it was last asked, and makes it when it was never asked.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn ensure_forge(
        &mut self,
        context: &Context,
        project: &ProjectId,
        place: &str,
    ) -> Result<ForgeRecord, StoreError> {
        if let Some(known) = self.forge(project)? {
            return Ok(known);
        }
        self.write(context, |tx| {
            tx.execute(
                "INSERT INTO forge (project, place) VALUES (?1, ?2)",
                params![project.as_str(), place],
            )?;
            Ok(())
        })?;
        self.require_forge(project, place)
    }

    /// Records the place of a forge, with the id of the repository there. A repository that is only called differently keeps
    /// everything. For another one the forge is begun again: what was mirrored with the old one stays recorded there, and is not
    /// looked at any more.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn place_forge(
        &mut self,
        context: &Context,
        project: &ProjectId,
        place: &str,
        repository: &ExternalId,
    ) -> Result<ForgeRecord, StoreError> {
        let known = self.require_forge(project, place)?;
        let is_other = known.repository.is_some_and(|known| known != *repository);
        self.write(context, |tx| {
            if is_other {
                tx.execute(
                    "UPDATE forge_pull SET is_open = 0, ends = '{}' WHERE project = ?1",
                    [project.as_str()],
                )?;
                // a number means another pull request in another repository
                tx.execute(
                    "DELETE FROM forge_left WHERE project = ?1",
                    [project.as_str()],
                )?;
                tx.execute(
                    "UPDATE forge SET rules = '{}', bases = '{}', looked_at = NULL, tries = 0, held_since = NULL, held_until = NULL, fault = NULL,
                         problem = NULL WHERE project = ?1",
                    [project.as_str()],
                )?;
            }
            tx.execute(
                "UPDATE forge SET place = ?2, repository = ?3 WHERE project = ?1",
                params![project.as_str(), place, repository.as_str()],
            )?;
            Ok(())
        })?;
        self.require_forge(project, place)
    }

    fn require_forge(&self, project: &ProjectId, place: &str) -> Result<ForgeRecord, StoreError> {
        self.forge(project)?
            .ok_or_else(|| StoreError::not_found("forge", place))
    }

    /// Returns whether something happened to a pull request of a project since the last look at its forge, and the last entry of
    /// the log.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn forge_news(&self, record: &ForgeRecord) -> Result<(bool, i64), StoreError> {
        let found = self
            .conn
            .prepare_cached(
                "SELECT EXISTS (SELECT 1 FROM event WHERE id > ?2 AND project = ?1
                     AND kind IN ('pr_created', 'pr_state', 'gates_verified', 'pr_merged_outside', 'review_point_answered')),
                     (SELECT coalesce(max(id), 0) FROM event)",
            )?
            .query_row(params![record.project.as_str(), record.seen_event], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?;
        Ok(found)
    }

    /// Records that a forge answered all that was asked, what it demands of base branches, and whether the base here follows.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn note_forge_look(
        &mut self,
        context: &Context,
        record: &ForgeRecord,
    ) -> Result<(), StoreError> {
        self.write(context, |tx| {
            tx.execute(
                "UPDATE forge SET rules = ?2, problem = ?3, looked_at = ?4, seen_event = ?5, tries = 0,
                     held_since = NULL, held_until = NULL, fault = NULL WHERE project = ?1",
                params![
                    record.project.as_str(),
                    to_json(&record.rules),
                    record.problem,
                    context.now.as_millisecond(),
                    record.seen_event,
                ],
            )?;
            Ok(())
        })
    }

    /// Holds a forge until a moment.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn hold_forge(
        &mut self,
        context: &Context,
        project: &ProjectId,
        hold: &TrackerHold,
        tries: u32,
    ) -> Result<(), StoreError> {
        self.write(context, |tx| {
            tx.execute(
                "UPDATE forge SET held_since = coalesce(held_since, ?5), held_until = ?2, fault = ?3, tries = ?4 WHERE project = ?1",
                params![
                    project.as_str(),
                    hold.until.as_millisecond(),
                    to_json(&hold.fault),
                    tries,
                    hold.since.as_millisecond(),
                ],
            )?;
            Ok(())
        })
    }

    /// Ends the hold of a forge.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn lift_forge(&mut self, context: &Context, project: &ProjectId) -> Result<(), StoreError> {
        self.write(context, |tx| {
            tx.execute(
                "UPDATE forge SET held_since = NULL, held_until = NULL, fault = NULL, tries = 0 WHERE project = ?1",
                [project.as_str()],
            )?;
            Ok(())
        })
    }
}
