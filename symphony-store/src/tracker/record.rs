//! One tracker of a project: its place, the cursor, and whether it is held.

use symphony_core::Timestamp;
use symphony_core::id::ProjectId;
use symphony_tracker::fault::Fault;
use symphony_tracker::remote::{Cursor, ExternalId};

use crate::database::context::Context;
use crate::database::open::Store;
use crate::database::row::{count32, json, parsed, time, to_json};
use crate::db::{OptionalExtension, Row, params};
use crate::error::StoreError;

/// The number of a tracker in the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TrackerId(pub(crate) i64);

/// Why a tracker is not asked, and until when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrackerHold {
    /// Since when.
    pub since: Timestamp,
    /// When the tracker may be asked again.
    pub until: Timestamp,
    /// What the tracker answered.
    pub fault: Fault,
}

/// A tracker as the database knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrackerRecord {
    /// Its number.
    pub id: TrackerId,
    /// The project whose issues it mirrors.
    pub project: ProjectId,
    /// Its name in the configuration.
    pub name: String,
    /// Where its issues are, such as `github:acme/web`.
    pub place: String,
    /// Up to where it was read.
    pub cursor: Cursor,
    /// The last entry of the log that was turned into changes.
    pub seen_event: i64,
    /// The user that Symphony writes as there, as far as it is known.
    pub own_user: Option<ExternalId>,
    /// When everything was last read.
    pub looked_at: Option<Timestamp>,
    /// How many looks in a row have failed.
    pub tries: u32,
    /// Why it is not asked now.
    pub hold: Option<TrackerHold>,
}

/// Reads why a tracker or a forge is not asked.
pub(crate) fn hold_from(row: &Row<'_>) -> Result<Option<TrackerHold>, StoreError> {
    let until: Option<i64> = row.get("held_until")?;
    let fault: Option<String> = row.get("fault")?;
    let since: Option<i64> = row.get("held_since")?;
    until
        .zip(fault)
        .map(|(until, fault)| {
            Ok(TrackerHold {
                since: time(since.unwrap_or(until))?,
                until: time(until)?,
                fault: json("fault of a tracker or a forge", &fault)?,
            })
        })
        .transpose()
}

fn from_row(row: &Row<'_>) -> Result<TrackerRecord, StoreError> {
    let looked: Option<i64> = row.get("looked_at")?;
    Ok(TrackerRecord {
        id: TrackerId(row.get("id")?),
        project: parsed("project", row.get("project")?)?,
        name: row.get("name")?,
        place: row.get("place")?,
        cursor: Cursor::new(row.get::<_, String>("cursor")?),
        seen_event: row.get("seen_event")?,
        own_user: row
            .get::<_, Option<String>>("own_user")?
            .map(ExternalId::new),
        looked_at: looked.map(time).transpose()?,
        tries: count32(row, "tries")?,
        hold: hold_from(row)?,
    })
}

impl Store {
    /// Returns a tracker of a project; `None` before it was first asked.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn tracker(
        &self,
        project: &ProjectId,
        name: &str,
    ) -> Result<Option<TrackerRecord>, StoreError> {
        self.conn
            .prepare_cached("SELECT * FROM tracker WHERE project = ?1 AND name = ?2")?
            .query_row(params![project.as_str(), name], |row| Ok(from_row(row)))
            .optional()?
            .transpose()
    }

    /// Returns a tracker of a project by its name and place, and makes it when it was never asked. Of a new one, only later entries of
    /// the log are turned into changes. One of the same place whose name is none of `names` has been renamed: it keeps its links.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn ensure_tracker(
        &mut self,
        context: &Context,
        project: &ProjectId,
        (name, place): (&str, &str),
        names: &[String],
    ) -> Result<TrackerRecord, StoreError> {
        self.write(context, |tx| {
            let load = || {
                tx.prepare_cached("SELECT * FROM tracker WHERE project = ?1 AND name = ?2")?
                    .query_row(params![project.as_str(), name], |row| Ok(from_row(row)))
                    .optional()?
                    .transpose()
            };
            if let Some(known) = load()? {
                return Ok(known);
            }
            let old: Option<(i64, String)> = tx
                .prepare_cached(
                    "SELECT id, name FROM tracker WHERE project = ?1 AND place = ?2 ORDER BY id",
                )?
                .query_map(params![project.as_str(), place], |row| {
                    Ok((row.get(0)?, row.get(1)?))
                })?
                .filter_map(Result::ok)
                .find(|(_, old): &(i64, String)| !names.contains(old));
            match old {
                Some((id, _)) => tx.execute(
                    "UPDATE tracker SET name = ?2 WHERE id = ?1",
                    params![id, name],
                )?,
                None => tx.execute(
                    "INSERT INTO tracker (project, name, place, seen_event)
                     VALUES (?1, ?2, ?3, (SELECT coalesce(max(id), 0) FROM event))",
                    params![project.as_str(), name, place],
                )?,
            };
            load()?.ok_or_else(|| StoreError::NotFound {
                what: "tracker",
                id: name.to_owned(),
            })
        })
    }

    /// Records that the place of a tracker has another name now. What is linked stays linked.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn move_tracker(
        &mut self,
        context: &Context,
        id: TrackerId,
        place: &str,
    ) -> Result<(), StoreError> {
        self.write(context, |tx| {
            tx.execute(
                "UPDATE tracker SET place = ?2, held_since = NULL, held_until = NULL, fault = NULL, tries = 0 WHERE id = ?1",
                params![id.0, place],
            )?;
            Ok(())
        })
    }

    /// Ends the hold of a tracker.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn lift_tracker(&mut self, context: &Context, id: TrackerId) -> Result<(), StoreError> {
        self.write(context, |tx| {
            tx.execute(
                "UPDATE tracker SET held_since = NULL, held_until = NULL, fault = NULL, tries = 0 WHERE id = ?1",
                [id.0],
            )?;
            Ok(())
        })
    }

    /// Records up to where a tracker was read, and that it answered. `looked_at` is set once nothing more is waiting there.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn advance_tracker(
        &mut self,
        context: &Context,
        id: TrackerId,
        cursor: &Cursor,
        is_all_read: bool,
    ) -> Result<(), StoreError> {
        self.write(context, |tx| {
            tx.execute(
                "UPDATE tracker SET cursor = ?2, tries = 0, held_since = NULL, held_until = NULL, fault = NULL,
                     looked_at = CASE WHEN ?3 = 1 THEN ?4 ELSE looked_at END WHERE id = ?1",
                params![
                    id.0,
                    cursor.as_str(),
                    is_all_read,
                    context.now.as_millisecond()
                ],
            )?;
            Ok(())
        })
    }

    /// Returns whether a tracker has to hear something now: a change that is due, or entries of the log that were not looked at, about
    /// an issue that it mirrors or a part of one.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn tracker_has_news(
        &self,
        tracker: &TrackerRecord,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let has_news = self
            .conn
            .prepare_cached(
                "SELECT EXISTS (SELECT 1 FROM tracker_change c JOIN tracker_link l ON l.id = c.link
                                WHERE l.tracker = ?1 AND c.state = 'waiting' AND c.due_at <= ?3)
                     OR EXISTS (SELECT 1 FROM event e JOIN issue i ON i.id = e.issue
                                JOIN tracker_link l ON l.issue IN (i.id, i.parent)
                                WHERE e.id > ?2 AND l.tracker = ?1)",
            )?
            .query_row(
                params![tracker.id.0, tracker.seen_event, now.as_millisecond()],
                |row| row.get(0),
            )?;
        Ok(has_news)
    }

    /// Records who Symphony writes as at a tracker.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn note_own_user(
        &mut self,
        context: &Context,
        id: TrackerId,
        user: &ExternalId,
    ) -> Result<(), StoreError> {
        self.write(context, |tx| {
            tx.execute(
                "UPDATE tracker SET own_user = ?2 WHERE id = ?1",
                params![id.0, user.as_str()],
            )?;
            Ok(())
        })
    }

    /// Forgets up to where a tracker was read: the next look reads everything.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn rewind_tracker(&mut self, context: &Context, id: TrackerId) -> Result<(), StoreError> {
        self.write(context, |tx| {
            tx.execute("UPDATE tracker SET cursor = '' WHERE id = ?1", [id.0])?;
            Ok(())
        })
    }

    /// Holds a tracker until a moment.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn hold_tracker(
        &mut self,
        context: &Context,
        id: TrackerId,
        hold: &TrackerHold,
        tries: u32,
    ) -> Result<(), StoreError> {
        self.write(context, |tx| {
            tx.execute(
                "UPDATE tracker SET held_since = coalesce(held_since, ?5), held_until = ?2, fault = ?3, tries = ?4 WHERE id = ?1",
                params![
                    id.0,
                    hold.until.as_millisecond(),
                    to_json(&hold.fault),
                    tries,
                    hold.since.as_millisecond(),
                ],
            )?;
            Ok(())
        })
    }

    /// Returns the trackers of a project that were asked before, by name.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn trackers(&self, project: &ProjectId) -> Result<Vec<TrackerRecord>, StoreError> {
        let mut statement = self
            .conn
            .prepare_cached("SELECT * FROM tracker WHERE project = ?1 ORDER BY name")?;
        let mut rows = statement.query([project.as_str()])?;
        let mut trackers = Vec::new();
        while let Some(row) = &rows.next()? {
            trackers.push(from_row(row)?);
        }
        Ok(trackers)
    }
}
