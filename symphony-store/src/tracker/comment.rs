//! Comments of a tracker: which were read, and what they became.

use std::collections::BTreeMap;

use symphony_core::Timestamp;
use symphony_core::id::{CommentId, IssueId};
use symphony_core::issue::check_required_text;
use symphony_core::user::{Source, UserName};
use symphony_tracker::change::ChangeId;
use symphony_tracker::comment::KnownComments;
use symphony_tracker::remote::ExternalId;

use super::link::LinkId;
use crate::database::context::Context;
use crate::database::open::Store;
use crate::database::row::time;
use crate::db::{OptionalExtension, params};
use crate::error::StoreError;
use crate::issue::note::add_comment_in;
use crate::issue::query::load_issue;

/// A comment of a tracker that is taken in.
#[derive(Debug, Clone, Copy)]
pub struct TakenComment<'a> {
    /// The link of its issue.
    pub link: LinkId,
    /// The issue here.
    pub issue: &'a IssueId,
    /// Its id there.
    pub external: &'a ExternalId,
    /// When it was last changed there.
    pub updated_at: Timestamp,
    /// Its text.
    pub content: &'a str,
}

impl Store {
    /// Returns the comments of a linked issue that are known: taken in with all that follows from them, or written by Symphony.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn known_comments(&self, link: LinkId) -> Result<KnownComments, StoreError> {
        let mut known = KnownComments::default();
        let mut taken = self.conn.prepare_cached(
            "SELECT external_id, updated_at FROM tracker_comment WHERE link = ?1 AND is_done = 1",
        )?;
        let mut rows = taken.query([link.0])?;
        while let Some(row) = &rows.next()? {
            let id = ExternalId::new(row.get::<_, String>(0)?);
            known.taken.insert(id, time(row.get(1)?)?);
        }
        let mut ours = self.conn.prepare_cached(
            "SELECT id, created FROM tracker_change WHERE link = ?1 AND covers ->> '$.covers' = 'comment'",
        )?;
        let mut rows = ours.query([link.0])?;
        let mut changes = BTreeMap::new();
        while let Some(row) = &rows.next()? {
            let id = ChangeId::new(row.get::<_, String>(0)?);
            let created: Option<String> = row.get(1)?;
            changes.insert(id, created.map(ExternalId::new));
        }
        known.ours = changes;
        Ok(known)
    }

    /// Takes a tracker's comment in: as a comment of the issue, once. With [`RemoteAct::Follows`], it is not known before
    /// [`Store::end_remote_act`].
    ///
    /// # Errors
    /// When the issue does not exist, the text is empty or too long, or the database cannot be written.
    pub fn take_comment(
        &mut self,
        context: &Context,
        taken: &TakenComment<'_>,
        act: RemoteAct,
    ) -> Result<Option<CommentId>, StoreError> {
        check_required_text("comment", taken.content)?;
        self.write(context, |tx| {
            load_issue(tx, taken.issue)?;
            let is_there: bool = tx.query_row(
                "SELECT EXISTS (SELECT 1 FROM tracker_comment WHERE link = ?1 AND external_id = ?2)",
                params![taken.link.0, taken.external.as_str()],
                |row| row.get(0),
            )?;
            if is_there {
                return Ok(None);
            }
            let id = add_comment_in(tx, context, taken.issue, taken.content)?;
            tx.execute(
                "INSERT INTO tracker_comment (link, external_id, updated_at, comment, begun_event, is_done)
                 VALUES (?1, ?2, ?3, ?4, (SELECT max(id) FROM event), ?5)",
                params![
                    taken.link.0,
                    taken.external.as_str(),
                    taken.updated_at.as_millisecond(),
                    id.get(),
                    act == RemoteAct::None,
                ],
            )?;
            Ok(Some(id))
        })
    }

    /// Returns whether what a comment asked for was done before a process died that could not record it: the log has an entry by this user of
    /// the tracker about the issue since then, beside the comment itself.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn has_acted(
        &self,
        link: LinkId,
        external: &ExternalId,
        by: &UserName,
    ) -> Result<bool, StoreError> {
        let has_acted: Option<bool> = self
            .conn
            .prepare_cached(
                "SELECT EXISTS (SELECT 1 FROM event e WHERE e.issue = l.issue AND e.id > c.begun_event
                                AND e.source = ?3 AND e.user = ?4 AND e.kind <> 'comment_added')
                 FROM tracker_comment c JOIN tracker_link l ON l.id = c.link WHERE c.link = ?1 AND c.external_id = ?2",
            )?
            .query_row(
                params![
                    link.0,
                    external.as_str(),
                    Source::Tracker.name(),
                    by.as_str()
                ],
                |row| row.get(0),
            )
            .optional()?;
        Ok(has_acted.unwrap_or(false))
    }

    /// Records that what a comment asked for was done, or refused.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn end_remote_act(
        &mut self,
        context: &Context,
        link: LinkId,
        external: &ExternalId,
    ) -> Result<(), StoreError> {
        self.write(context, |tx| {
            tx.execute(
                "UPDATE tracker_comment SET is_done = 1 WHERE link = ?1 AND external_id = ?2",
                params![link.0, external.as_str()],
            )?;
            Ok(())
        })
    }

    /// Records that a known comment was changed at its tracker.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn note_edited_comment(
        &mut self,
        context: &Context,
        link: LinkId,
        external: &ExternalId,
        updated_at: Timestamp,
    ) -> Result<(), StoreError> {
        self.write(context, |tx| {
            tx.execute(
                "UPDATE tracker_comment SET updated_at = ?3 WHERE link = ?1 AND external_id = ?2",
                params![link.0, external.as_str(), updated_at.as_millisecond()],
            )?;
            Ok(())
        })
    }
}

/// Whether a comment asks for something to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemoteAct {
    /// It does not.
    None,
    /// It does, and that follows.
    Follows,
}
