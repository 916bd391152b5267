//! What a database must learn when it replaces a newer one: which numbers are already used, and which effects may have
//! happened.

use std::collections::{BTreeMap, BTreeSet};

use symphony_core::id::{ProjectId, RunId};
use symphony_core::identity::{Mark, NUMBERS_AHEAD_MAX, RESTORES_AHEAD_MAX, Reach, Seen};
use symphony_core::log::LogEvent;

use crate::database::context::Context;
use crate::database::event::{About, append};
use crate::database::open::Store;
use crate::database::row::{int, parsed};
use crate::db::{Connection, OptionalExtension, Transaction, params};
use crate::error::StoreError;

/// The setting with the number below which a claim gives out no fencing number.
const FENCE_FLOOR: &str = "fence_floor";

/// The setting that counts restores.
const RESTORES: &str = "restores";

/// The output recorded for a publication whose outcome was lost with the newer database.
const UNKNOWN: &str =
    "Symphony cannot tell whether it was published: the database was restored from a backup";

/// What was changed in a restored database.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RestoreRecord {
    /// The number of the next issue of each project whose numbers were raised.
    pub next_numbers: BTreeMap<ProjectId, u64>,
    /// How many pull requests may have been published, which is unknown.
    pub unknown_publications: usize,
}

impl Store {
    /// Raises issue numbers and fencing numbers above everything that was seen outside the database, and marks
    /// publications as unknown: those that were running and, for projects that publish, those of heads that this
    /// database does not know to be published.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn record_restore(
        &mut self,
        context: &Context,
        seen: &Seen,
        publishing: &BTreeSet<ProjectId>,
    ) -> Result<RestoreRecord, StoreError> {
        self.write(context, |tx| {
            let next_numbers = raise_numbers(tx, seen)?;
            raise_fence(tx, seen)?;
            // Above every mark of the replaced database, since existing marks refuse only older copies.
            let known = restores_of(tx)?;
            let restores = believed(seen.restores, known, RESTORES_AHEAD_MAX).max(known) + 1;
            tx.execute(
                "INSERT INTO setting (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = ?2",
                params![RESTORES, restores.to_string()],
            )?;
            // The newer database may have sent them: what they create is searched for before it is created again.
            tx.execute(
                "UPDATE tracker_change SET tried_at = ?1 WHERE state = 'waiting' AND tried_at IS NULL",
                [context.now.as_millisecond()],
            )?;
            let mut unknown_publications = end_running(tx, context)?;
            for project in publishing {
                unknown_publications += doubt_unpublished(tx, context, project)?;
            }
            let event = LogEvent::DatabaseRestored {
                next_numbers: next_numbers.clone(),
                unknown_publications: u64::try_from(unknown_publications).unwrap_or(u64::MAX),
            };
            append(tx, context, About::default(), &event)?;
            Ok(RestoreRecord {
                next_numbers,
                unknown_publications,
            })
        })
    }
}

impl Store {
    /// Returns how far the database has come. SQLite shows a commit to readers only once it is on the disk, so a note
    /// of it is never ahead of what a power cut leaves.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn reach(&self) -> Result<Reach, StoreError> {
        Ok(Reach {
            restores: restores_of(&self.conn)?,
            position: self.log_position()?,
        })
    }

    /// Returns the current mark of the database; `None` before it has an installation id.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn mark(&mut self) -> Result<Option<Mark>, StoreError> {
        let Some(installation) = self.installation()? else {
            return Ok(None);
        };
        let reach = self.reach()?;
        self.read(|tx| {
            let mut next_numbers = BTreeMap::new();
            let mut statement = tx.prepare_cached("SELECT id, next_number FROM project")?;
            let mut rows = statement.query([])?;
            while let Some(row) = &rows.next()? {
                let next: i64 = row.get("next_number")?;
                next_numbers.insert(
                    parsed("project id", row.get("id")?)?,
                    u64::try_from(next).unwrap_or(0),
                );
            }
            Ok(Some(Mark {
                installation: installation.clone(),
                reach,
                fence: u64::try_from(highest_fence(tx)?).unwrap_or(0),
                next_numbers,
            }))
        })
    }
}

/// Returns a number that was seen outside of the database, if it is plausible. Agents can write branches and marks: one
/// that is taken over blindly would leave no number for later runs and issues.
fn believed(seen: u64, known: u64, ahead_max: u64) -> u64 {
    if seen <= known.saturating_add(ahead_max) {
        seen
    } else {
        tracing::warn!(
            seen,
            known,
            "a number that cannot come from the database is ignored"
        );
        known
    }
}

fn raise_numbers(
    tx: &Transaction<'_>,
    seen: &Seen,
) -> Result<BTreeMap<ProjectId, u64>, StoreError> {
    let mut raised = BTreeMap::new();
    for (prefix, highest) in &seen.issues {
        let next = highest.saturating_add(1);
        let project: Option<String> = tx
            .query_row(
                // A project may have had another prefix when the issue was created. `.` comes after `-`.
                "UPDATE project SET next_number = ?2 WHERE next_number < ?2 AND ?2 <= next_number + ?3
                   AND (prefix = ?1 OR id = (SELECT project FROM issue WHERE id > ?1 || '-' AND id < ?1 || '.' LIMIT 1)) RETURNING id",
                params![prefix, int(next), int(NUMBERS_AHEAD_MAX)],
                |row| row.get(0),
            )
            .optional()?;
        if let Some(project) = project {
            raised.insert(parsed("project id", project)?, next);
        }
    }
    for (project, next) in &seen.next_numbers {
        let changed = tx.execute(
            "UPDATE project SET next_number = ?2 WHERE id = ?1 AND next_number < ?2 AND ?2 <= next_number + ?3",
            params![project.as_str(), int(*next), int(NUMBERS_AHEAD_MAX)],
        )?;
        if changed > 0 {
            raised.insert(project.clone(), *next);
        }
    }
    Ok(raised)
}

/// Returns how often the database was restored.
fn restores_of(conn: &Connection) -> Result<u64, StoreError> {
    let text: Option<String> = conn
        .prepare_cached("SELECT value FROM setting WHERE key = ?1")?
        .query_row([RESTORES], |row| row.get(0))
        .optional()?;
    Ok(text.and_then(|text| text.parse().ok()).unwrap_or(0))
}

/// Each run that the database lacks had a higher fencing number than all that it knows.
fn raise_fence(tx: &Transaction<'_>, seen: &Seen) -> Result<(), StoreError> {
    let known = highest_fence(tx)?;
    let mut unknown = 0_i64;
    for run in &seen.runs {
        let is_known: bool = tx
            .prepare_cached("SELECT EXISTS (SELECT 1 FROM run WHERE id = ?1)")?
            .query_row([RunId::as_str(run)], |row| row.get(0))?;
        unknown += i64::from(!is_known);
    }
    let noted = believed(
        seen.fence,
        u64::try_from(known).unwrap_or(0),
        NUMBERS_AHEAD_MAX,
    );
    let floor = known.max(int(noted)).saturating_add(unknown);
    tx.execute(
        "INSERT INTO setting (key, value) VALUES (?1, ?2)
         ON CONFLICT (key) DO UPDATE SET value = max(CAST(setting.value AS BIGINT), CAST(excluded.value AS BIGINT))",
        params![FENCE_FLOOR, floor.to_string()],
    )?;
    Ok(())
}

/// Returns the highest fencing number that was given out.
fn highest_fence(conn: &Connection) -> Result<i64, StoreError> {
    Ok(conn
        .prepare_cached(
            "SELECT max(coalesce((SELECT max(fence) FROM run), 0),
                        coalesce((SELECT CAST(value AS INTEGER) FROM setting WHERE key = ?1), 0))",
        )?
        .query_row([FENCE_FLOOR], |row| row.get(0))?)
}

fn end_running(tx: &Transaction<'_>, context: &Context) -> Result<usize, StoreError> {
    Ok(tx.execute(
        "UPDATE publication SET state = 'failed', ended_at = ?1, output = ?2 WHERE state = 'running'",
        params![context.now.as_millisecond(), UNKNOWN],
    )?)
}

/// Records an attempt with an unknown outcome for each open pull request whose head has none, so that Symphony does not
/// publish it again on its own.
fn doubt_unpublished(
    tx: &Transaction<'_>,
    context: &Context,
    project: &ProjectId,
) -> Result<usize, StoreError> {
    Ok(tx.execute(
        "INSERT INTO publication (pull_request, commit_id, state, output, started_at, ended_at)
         SELECT p.id, p.head_commit, 'failed', ?2, ?3, ?3 FROM pull_request p
         WHERE p.project = ?1 AND p.state IN ('open', 'approved')
           AND NOT EXISTS (SELECT 1 FROM publication n WHERE n.pull_request = p.id AND n.commit_id = p.head_commit)",
        params![project.as_str(), UNKNOWN, context.now.as_millisecond()],
    )?)
}
