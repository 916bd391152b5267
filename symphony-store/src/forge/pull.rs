//! A branch and its pull request at the forge.

use symphony_core::Timestamp;
use symphony_core::id::{PrId, ProjectId};
use symphony_core::log::{LogEvent, TrackerEntry};
use symphony_core::pull_request::PullRequestOf;
use symphony_forge::check::SeenCheck;
use symphony_forge::remote::PullNumber;
use symphony_forge::text::Written;

use crate::database::context::Context;
use crate::database::event::{About, append};
use crate::database::open::Store;
use crate::database::row::{count32, json, parsed, time, to_json};
use crate::db::{OptionalExtension, Row, Transaction, params};
use crate::error::StoreError;
use crate::forge::ends::PullEnds;

/// The number of a mirrored pull request in the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ForgePullId(pub(crate) i64);

/// What is known of a branch's pull request at the forge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForgePull {
    /// Its number here.
    pub id: ForgePullId,
    /// The project.
    pub project: ProjectId,
    /// The branch.
    pub branch: String,
    /// The newest pull request here that it mirrors.
    pub pr: PrId,
    /// Its number there; `None` before it was opened.
    pub number: Option<PullNumber>,
    /// Its page there.
    pub url: Option<String>,
    /// Whether it is open there.
    pub is_open: bool,
    /// The commits that were pushed or about to be, oldest first.
    pub pushed: Vec<String>,
    /// The title and the text as they are Symphony's there: what it wrote last, and what it was about to write.
    pub written: Vec<Written>,
    /// The commit that the checks are of.
    pub checks_head: Option<String>,
    /// The required checks of that commit.
    pub checks: Vec<SeenCheck>,
    /// How many commits in a row had failed checks.
    pub red_heads: u32,
    /// The forge's time of the last change, once all that was written in its second was read.
    pub read_at: Option<Timestamp>,
    /// What is known of how it ends.
    pub ends: PullEnds,
    /// What keeps it from being mirrored.
    pub problem: Option<String>,
    /// What a person there demands that could not be taken in.
    pub objection: Option<String>,
}

impl ForgePull {
    /// Returns what a person has to look at.
    pub fn trouble(&self) -> Option<String> {
        let both = [&self.problem, &self.objection];
        let all: Vec<&str> = both.into_iter().flatten().map(String::as_str).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }

    /// Returns the required checks of a commit; none if they were not read yet.
    pub fn checks_of(&self, head: &str) -> Option<&[SeenCheck]> {
        (self.checks_head.as_deref() == Some(head)).then_some(self.checks.as_slice())
    }
}

pub(super) fn from_row(row: &Row<'_>) -> Result<ForgePull, StoreError> {
    let number: Option<i64> = row.get("number")?;
    let read: Option<i64> = row.get("read_at")?;
    Ok(ForgePull {
        id: ForgePullId(row.get("id")?),
        project: parsed("project", row.get("project")?)?,
        branch: row.get("branch")?,
        pr: PrId::new(row.get("pr")?),
        number: number.map(|number| PullNumber::new(number.unsigned_abs())),
        url: row.get("url")?,
        is_open: row.get("is_open")?,
        pushed: json("pushed commits", &row.get::<_, String>("pushed")?)?,
        written: json("text of a pull request", &row.get::<_, String>("written")?)?,
        checks_head: row.get("checks_head")?,
        checks: json("checks", &row.get::<_, String>("checks")?)?,
        red_heads: count32(row, "red_heads")?,
        read_at: read.map(time).transpose()?,
        ends: json("end of a pull request", &row.get::<_, String>("ends")?)?,
        problem: row.get("problem")?,
        objection: row.get("objection")?,
    })
}

/// Selects the rows of one pull request there, by one of them, `?1`: it may have been closed, and opened again for a later attempt.
pub(crate) const SAME_PULL: &str =
    "SELECT p.id FROM forge_pull p JOIN forge_pull mine ON mine.id = ?1
     WHERE p.project = mine.project AND (p.id = mine.id OR p.number = mine.number)";

pub(crate) fn load(tx: &Transaction<'_>, id: ForgePullId) -> Result<ForgePull, StoreError> {
    tx.prepare_cached("SELECT * FROM forge_pull WHERE id = ?1")?
        .query_row([id.0], |row| Ok(from_row(row)))?
}

impl Store {
    /// Returns what is open at the forge of a project, oldest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn open_forge_pulls(&self, project: &ProjectId) -> Result<Vec<ForgePull>, StoreError> {
        let mut statement = self.conn.prepare_cached(
            "SELECT * FROM forge_pull WHERE project = ?1 AND is_open = 1 ORDER BY id",
        )?;
        let mut rows = statement.query([project.as_str()])?;
        let mut pulls = Vec::new();
        while let Some(row) = &rows.next()? {
            pulls.push(from_row(row)?);
        }
        Ok(pulls)
    }

    /// Returns the newest record of a pull request at the forge, open there or not.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn forge_pull_of(&self, pr: PrId) -> Result<Option<ForgePull>, StoreError> {
        self.conn
            .prepare_cached("SELECT * FROM forge_pull WHERE pr = ?1 ORDER BY id DESC LIMIT 1")?
            .query_row([pr.get()], |row| Ok(from_row(row)))
            .optional()?
            .transpose()
    }

    /// Returns the record of a branch, and makes it when it has none that is open there; `pr` is the newest pull request here.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn ensure_forge_pull(
        &mut self,
        context: &Context,
        project: &ProjectId,
        branch: &str,
        pr: PrId,
    ) -> Result<ForgePull, StoreError> {
        self.write(context, |tx| {
            let found: Option<i64> = tx
                .prepare_cached(
                    "SELECT id FROM forge_pull WHERE project = ?1 AND branch = ?2 AND is_open = 1",
                )?
                .query_row(params![project.as_str(), branch], |row| row.get(0))
                .optional()?;
            let id = if let Some(id) = found {
                tx.execute(
                    "UPDATE forge_pull SET pr = ?2 WHERE id = ?1 AND pr != ?2",
                    params![id, pr.get()],
                )?;
                id
            } else {
                // What was pushed for an earlier pull request of the branch is Symphony's still.
                tx.query_row(
                    "INSERT INTO forge_pull (project, branch, pr, pushed) VALUES (?1, ?2, ?3, coalesce(
                         (SELECT pushed FROM forge_pull WHERE project = ?1 AND branch = ?2 ORDER BY id DESC LIMIT 1), '[]')) RETURNING id",
                    params![project.as_str(), branch, pr.get()],
                    |row| row.get(0),
                )?
            };
            load(tx, ForgePullId(id))
        })
    }

    /// Writes what is known of a pull request at the forge, with entries for the log of its issue or plan.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn save_forge_pull(
        &mut self,
        context: &Context,
        of: &PullRequestOf,
        pull: &ForgePull,
        entries: &[TrackerEntry],
    ) -> Result<(), StoreError> {
        self.write(context, |tx| {
            let number = pull.number.map(|number| number.get().cast_signed());
            tx.execute(
                "UPDATE forge_pull SET number = ?2, url = ?3, is_open = ?4, pushed = ?5, written = ?6, checks_head = ?7,
                     checks = ?8, red_heads = ?9, read_at = ?10, problem = ?11, ends = ?12, objection = ?13 WHERE id = ?1",
                params![
                    pull.id.0,
                    number,
                    pull.url,
                    pull.is_open,
                    to_json(&pull.pushed),
                    to_json(&pull.written),
                    pull.checks_head,
                    to_json(&pull.checks),
                    pull.red_heads,
                    pull.read_at.map(Timestamp::as_millisecond),
                    pull.problem,
                    to_json(&pull.ends),
                    pull.objection,
                ],
            )?;
            write_entries(tx, context, of, entries)
        })
    }
}

/// Writes what happened at the forge into the log of an issue or a plan.
pub(crate) fn write_entries(
    tx: &Transaction<'_>,
    context: &Context,
    of: &PullRequestOf,
    entries: &[TrackerEntry],
) -> Result<(), StoreError> {
    for entry in entries {
        append(
            tx,
            context,
            About::of(of),
            &LogEvent::Tracker(entry.clone()),
        )?;
    }
    Ok(())
}
