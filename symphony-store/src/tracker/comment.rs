//! Comments of a tracker: which were read, and what they became.

use std::collections::BTreeSet;

use rusqlite::{OptionalExtension, params};
use symphony_core::Timestamp;
use symphony_core::id::{CommentId, IssueId};
use symphony_core::issue::check_required_text;
use symphony_tracker::remote::ExternalId;

use super::link::LinkId;
use crate::database::context::Context;
use crate::database::open::Store;
use crate::database::row::time;
use crate::error::StoreError;
use crate::issue::note::add_comment_in;
use crate::issue::query::load_issue;

impl Store {
    /// Returns when a comment that was read was last changed at its tracker; `None` for one that was not read.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn remote_comment_seen(
        &self,
        link: LinkId,
        external: &ExternalId,
    ) -> Result<Option<Timestamp>, StoreError> {
        let at: Option<i64> = self
            .conn
            .prepare_cached(
                "SELECT updated_at FROM tracker_comment WHERE link = ?1 AND external_id = ?2",
            )?
            .query_row(params![link.0, external.as_str()], |row| row.get(0))
            .optional()?;
        at.map(time).transpose()
    }

    /// Returns the ids of everything that changes of Symphony created for an issue at its tracker.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn created_there(&self, link: LinkId) -> Result<BTreeSet<ExternalId>, StoreError> {
        let mut statement = self.conn.prepare_cached(
            "SELECT created FROM tracker_change WHERE link = ?1 AND created IS NOT NULL",
        )?;
        let ids = statement.query_map([link.0], |row| row.get::<_, String>(0))?;
        ids.map(|id| Ok(ExternalId::new(id?))).collect()
    }

    /// Takes a tracker's comment in: as a comment of the issue, once.
    ///
    /// # Errors
    /// When the issue does not exist, the text is empty or too long, or the database cannot be written.
    pub fn keep_remote_comment(
        &mut self,
        context: &Context,
        link: LinkId,
        issue: &IssueId,
        comment: (&ExternalId, Timestamp),
        content: &str,
    ) -> Result<Option<CommentId>, StoreError> {
        check_required_text("comment", content)?;
        let (external, updated_at) = comment;
        self.write(context, |tx| {
            load_issue(tx, issue)?;
            let is_known: bool = tx.query_row(
                "SELECT EXISTS (SELECT 1 FROM tracker_comment WHERE link = ?1 AND external_id = ?2)",
                params![link.0, external.as_str()],
                |row| row.get(0),
            )?;
            if is_known {
                return Ok(None);
            }
            let id = add_comment_in(tx, context, issue, content)?;
            tx.execute(
                "INSERT INTO tracker_comment (link, external_id, updated_at, comment) VALUES (?1, ?2, ?3, ?4)",
                params![link.0, external.as_str(), updated_at.as_millisecond(), id.get()],
            )?;
            Ok(Some(id))
        })
    }

    /// Records that a tracker's comment was read, whatever it came to.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn note_remote_comment(
        &mut self,
        context: &Context,
        link: LinkId,
        external: &ExternalId,
        updated_at: Timestamp,
    ) -> Result<(), StoreError> {
        self.write(context, |tx| {
            tx.execute(
                "INSERT INTO tracker_comment (link, external_id, updated_at) VALUES (?1, ?2, ?3)
                 ON CONFLICT (link, external_id) DO UPDATE SET updated_at = excluded.updated_at",
                params![link.0, external.as_str(), updated_at.as_millisecond()],
            )?;
            Ok(())
        })
    }
}
