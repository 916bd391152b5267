//! What a database has to learn when it takes the place of one that knew more: which numbers are used up, and which effects
//! may have happened.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{OptionalExtension, Transaction, params};
use symphony_core::id::{ProjectId, RunId};
use symphony_core::identity::Seen;
use symphony_core::log::LogEvent;

use crate::context::Context;
use crate::error::StoreError;
use crate::event::{About, append};
use crate::open::Store;
use crate::row::{int, parsed};

/// The setting below which a claim gives out no fencing number.
const FENCE_FLOOR: &str = "fence_floor";

/// What is said of a publication whose outcome was lost with the newer database.
const UNKNOWN: &str =
    "it is unknown whether it was published: the database was restored from a backup";

/// What was changed in a restored database.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RestoreRecord {
    /// The number of the next issue, of each project whose numbers were raised.
    pub next_numbers: BTreeMap<ProjectId, u64>,
    /// Pull requests of which it is unknown whether they were published.
    pub unknown_publications: usize,
}

impl Store {
    /// Raises issue numbers and fencing numbers above everything that was seen outside the database, and marks publications
    /// as unknown: those that were running, and, of the projects that publish, those of heads that this database does not
    /// know to be published.
    ///
    /// # Errors
    /// When the database can not be written.
    pub fn record_restore(
        &mut self,
        context: &Context,
        seen: &Seen,
        publishing: &BTreeSet<ProjectId>,
    ) -> Result<RestoreRecord, StoreError> {
        self.write(context, |tx| {
            let next_numbers = raise_numbers(tx, seen)?;
            raise_fence(tx, seen)?;
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

fn raise_numbers(
    tx: &Transaction<'_>,
    seen: &Seen,
) -> Result<BTreeMap<ProjectId, u64>, StoreError> {
    let mut raised = BTreeMap::new();
    for (prefix, highest) in &seen.issues {
        let next = highest.saturating_add(1);
        let project: Option<String> = tx
            .query_row(
                // a project may have had another prefix when the issue was made
                "UPDATE project SET next_number = ?2 WHERE next_number < ?2
                   AND (prefix = ?1 OR id = (SELECT project FROM issue WHERE id GLOB ?3 LIMIT 1)) RETURNING id",
                params![prefix, int(next), format!("{prefix}-*")],
                |row| row.get(0),
            )
            .optional()?;
        if let Some(project) = project {
            raised.insert(parsed("project id", project)?, next);
        }
    }
    Ok(raised)
}

/// Each run that the database lacks had a fencing number above all that it knows.
fn raise_fence(tx: &Transaction<'_>, seen: &Seen) -> Result<(), StoreError> {
    let known: i64 = tx.query_row(
        "SELECT max(coalesce((SELECT max(fence) FROM run), 0),
                    coalesce((SELECT CAST(value AS INTEGER) FROM setting WHERE key = ?1), 0))",
        [FENCE_FLOOR],
        |row| row.get(0),
    )?;
    let mut unknown = 0_i64;
    for run in &seen.runs {
        let is_known: bool = tx
            .prepare_cached("SELECT EXISTS (SELECT 1 FROM run WHERE id = ?1)")?
            .query_row([RunId::as_str(run)], |row| row.get(0))?;
        unknown += i64::from(!is_known);
    }
    let floor = known.max(int(seen.fence)).saturating_add(unknown);
    tx.execute(
        "INSERT INTO setting (key, value) VALUES (?1, ?2)
         ON CONFLICT (key) DO UPDATE SET value = max(CAST(value AS INTEGER), CAST(excluded.value AS INTEGER))",
        params![FENCE_FLOOR, floor.to_string()],
    )?;
    Ok(())
}

fn end_running(tx: &Transaction<'_>, context: &Context) -> Result<usize, StoreError> {
    Ok(tx.execute(
        "UPDATE publication SET state = 'failed', ended_at = ?1, output = ?2 WHERE state = 'running'",
        params![context.now.as_millisecond(), UNKNOWN],
    )?)
}

/// Records an attempt of unknown outcome for each open pull request whose head has none, so that Symphony does not publish
/// it a second time by itself.
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
