//! What is being taken over from a tracker, noted before it is carried out: a death in between leaves the note.
//!
//! The note is in the base's column, beside the base: whatever writes a base ends it.

use symphony_core::id::IssueId;
use symphony_core::issue::CommentAuthor;
use symphony_core::log::TrackerEntry;
use symphony_tracker::taking::{Carried, Taking};

use super::link::{LinkId, TrackerLink};
use super::linked::last_entry;
use super::outbox::note_issue;
use super::record::TrackerId;
use crate::database::context::Context;
use crate::database::open::Store;
use crate::database::row::{json, to_json};
use crate::db::params;
use crate::error::StoreError;

impl Store {
    /// Appends entries about a tracker to an issue's log.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn note_tracker(
        &mut self,
        context: &Context,
        issue: &IssueId,
        entries: &[TrackerEntry],
    ) -> Result<(), StoreError> {
        self.write(context, |tx| note_issue(tx, context, issue, entries))
    }

    /// Notes which steps are about to be carried out, after entries for the issue's log that must be there before them.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn begin_taking(
        &mut self,
        context: &Context,
        (link, issue): (LinkId, &IssueId),
        taking: &Taking,
        entries: &[TrackerEntry],
    ) -> Result<(), StoreError> {
        self.write(context, |tx| {
            note_issue(tx, context, issue, entries)?;
            let taking = Taking {
                since: last_entry(tx, issue)?,
                ..taking.clone()
            };
            // The mark that finds links with open relations finds this one too.
            tx.execute(
                "UPDATE tracker_link SET base = json_set(base, '$.taking', json(?2)), is_waiting = 1 WHERE id = ?1",
                params![link.0, to_json(&taking)],
            )?;
            Ok(())
        })
    }

    /// Returns the links whose steps were begun and not ended, with what was begun.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn begun_takings(
        &self,
        tracker: TrackerId,
    ) -> Result<Vec<(TrackerLink, Taking)>, StoreError> {
        let mut statement = self.conn.prepare_cached(
            "SELECT id, base -> '$.taking' AS taking FROM tracker_link
             WHERE tracker = ?1 AND is_waiting = 1 AND base ->> '$.taking' IS NOT NULL ORDER BY id",
        )?;
        let mut rows = statement.query([tracker.0])?;
        let mut begun = Vec::new();
        while let Some(row) = &rows.next()? {
            let taking = json("steps of a link", &row.get::<_, String>("taking")?)?;
            begun.push((self.link(LinkId(row.get("id")?))?, taking));
        }
        Ok(begun)
    }

    /// Returns how many steps of a tracker's news the log of an issue has since an entry.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn carried_since(&self, issue: &IssueId, since: i64) -> Result<Carried, StoreError> {
        let (edits, moves): (i64, i64) = self
            .conn
            .prepare_cached(
                "SELECT coalesce(sum(kind = 'issue_edited'), 0), coalesce(sum(kind = 'issue_moved'), 0) FROM event
                 WHERE issue = ?1 AND id > ?2 AND actor = ?3",
            )?
            .query_row(
                params![issue.as_str(), since, CommentAuthor::Tracker.to_string()],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )?;
        let count = |number: i64| usize::try_from(number).unwrap_or(0);
        Ok(Carried {
            edits: count(edits),
            moves: count(moves),
        })
    }
}
