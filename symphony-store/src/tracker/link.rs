//! Links: which issue is which at a tracker, and what both sides last agreed on.

use symphony_core::Timestamp;
use symphony_core::id::{IssueId, ProjectId};
use symphony_core::log::{LogEvent, TrackerEntry};
use symphony_tracker::base::Base;
use symphony_tracker::milestone::Written;
use symphony_tracker::relations::waiting;
use symphony_tracker::remote::ExternalId;

use super::record::TrackerId;
use crate::database::context::Context;
use crate::database::event::{About, append};
use crate::database::open::Store;
use crate::database::row::{json, parsed_opt, time, to_json};
use crate::db::{OptionalExtension, Row, params};
use crate::error::StoreError;

/// The number of a link in the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LinkId(pub(crate) i64);

/// An issue and what it is at a tracker.
#[derive(Debug, Clone, PartialEq)]
pub struct TrackerLink {
    /// Its number.
    pub id: LinkId,
    /// The tracker.
    pub tracker: TrackerId,
    /// The issue's id there.
    pub external: ExternalId,
    /// What people call it there.
    pub key: String,
    /// Its page there.
    pub url: String,
    /// The issue here; `None` after it was deleted.
    pub issue: Option<IssueId>,
    /// What both sides last agreed on, as `symphony-tracker` writes it.
    pub base: Base,
    /// Which milestones were written there.
    pub written: Written,
    /// When the link was made.
    pub linked_at: Timestamp,
}

/// A link to be made.
#[derive(Debug, Clone, PartialEq)]
pub struct NewLink<'a> {
    /// The tracker, and its name in the configuration.
    pub tracker: (TrackerId, &'a str),
    /// The issue's id there.
    pub external: &'a ExternalId,
    /// What people call it there.
    pub key: &'a str,
    /// Its page there.
    pub url: &'a str,
    /// The issue here.
    pub issue: &'a IssueId,
    /// What both sides agree on.
    pub base: &'a Base,
}

fn from_row(row: &Row<'_>) -> Result<TrackerLink, StoreError> {
    Ok(TrackerLink {
        id: LinkId(row.get("id")?),
        tracker: TrackerId(row.get("tracker")?),
        external: ExternalId::new(row.get::<_, String>("external_id")?),
        key: row.get("key")?,
        url: row.get("url")?,
        issue: parsed_opt("issue", row.get("issue")?)?,
        base: json("base of a link", &row.get::<_, String>("base")?)?,
        written: json("milestones of a link", &row.get::<_, String>("written")?)?,
        linked_at: time(row.get("linked_at")?)?,
    })
}

impl Store {
    /// Returns the link of a tracker's issue.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn link_of_external(
        &self,
        tracker: TrackerId,
        external: &ExternalId,
    ) -> Result<Option<TrackerLink>, StoreError> {
        self.one_link(
            "SELECT * FROM tracker_link WHERE tracker = ?1 AND external_id = ?2",
            params![tracker.0, external.as_str()],
        )
    }

    /// Returns the link of an issue at a tracker.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn link_of_issue(
        &self,
        tracker: TrackerId,
        issue: &IssueId,
    ) -> Result<Option<TrackerLink>, StoreError> {
        self.one_link(
            "SELECT * FROM tracker_link WHERE tracker = ?1 AND issue = ?2",
            params![tracker.0, issue.as_str()],
        )
    }

    /// Returns the issue of a project that was imported under an external id.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn issue_of_external(
        &self,
        project: &ProjectId,
        external_id: &str,
    ) -> Result<Option<IssueId>, StoreError> {
        let id: Option<String> = self
            .conn
            .prepare_cached(
                "SELECT id FROM issue WHERE project = ?1 AND external_id = ?2 ORDER BY number LIMIT 1",
            )?
            .query_row(params![project.as_str(), external_id], |row| row.get(0))
            .optional()?;
        parsed_opt("issue", id)
    }

    /// Returns a link.
    ///
    /// # Errors
    /// When there is none, or the database cannot be read.
    pub fn link(&self, id: LinkId) -> Result<TrackerLink, StoreError> {
        self.one_link("SELECT * FROM tracker_link WHERE id = ?1", params![id.0])?
            .ok_or_else(|| StoreError::NotFound {
                what: "link to a tracker",
                id: id.0.to_string(),
            })
    }

    /// Returns all links of an issue, with the names of their trackers.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn links_of_issue(
        &self,
        issue: &IssueId,
    ) -> Result<Vec<(String, TrackerLink)>, StoreError> {
        let mut statement = self.conn.prepare_cached(
            "SELECT l.*, t.name AS name FROM tracker_link l JOIN tracker t ON t.id = l.tracker WHERE l.issue = ?1 ORDER BY t.name",
        )?;
        let mut rows = statement.query([issue.as_str()])?;
        let mut links = Vec::new();
        while let Some(row) = &rows.next()? {
            links.push((row.get("name")?, from_row(row)?));
        }
        Ok(links)
    }

    fn one_link(
        &self,
        sql: &str,
        params: impl crate::db::Params,
    ) -> Result<Option<TrackerLink>, StoreError> {
        self.conn
            .prepare_cached(sql)?
            .query_row(params, |row| Ok(from_row(row)))
            .optional()?
            .transpose()
    }

    /// Returns the links with relations whose other end was not linked when they were last looked at.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn waiting_links(&self, tracker: TrackerId) -> Result<Vec<TrackerLink>, StoreError> {
        let mut statement = self.conn.prepare_cached(
            "SELECT * FROM tracker_link WHERE tracker = ?1 AND is_waiting = 1 AND issue IS NOT NULL ORDER BY id",
        )?;
        let mut rows = statement.query([tracker.0])?;
        let mut links = Vec::new();
        while let Some(row) = &rows.next()? {
            links.push(from_row(row)?);
        }
        Ok(links)
    }

    /// Returns how many issues a tracker mirrors.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn links_count(&self, tracker: TrackerId) -> Result<u64, StoreError> {
        let count: i64 = self
            .conn
            .prepare_cached(
                "SELECT count(*) FROM tracker_link WHERE tracker = ?1 AND issue IS NOT NULL",
            )?
            .query_row([tracker.0], |row| row.get(0))?;
        Ok(u64::try_from(count).unwrap_or(0))
    }

    /// Ends the link of an issue that its tracker does not have any more: what waits for it is withdrawn, and the issue here stays. The
    /// row stays too, so that an issue that comes back is linked again ([`Store::relink_issue`]).
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn unlink_issue(
        &mut self,
        context: &Context,
        link: &TrackerLink,
        entry: &TrackerEntry,
    ) -> Result<(), StoreError> {
        self.write(context, |tx| {
            if let Some(issue) = &link.issue {
                let event = LogEvent::Tracker(entry.clone());
                append(tx, context, About::issue(issue), &event)?;
            }
            tx.execute(
                "UPDATE tracker_change SET state = 'withdrawn', ended_at = ?2 WHERE link = ?1 AND state = 'waiting'",
                params![link.id.0, context.now.as_millisecond()],
            )?;
            tx.execute(
                "UPDATE tracker_link SET issue = NULL WHERE id = ?1",
                [link.id.0],
            )?;
            Ok(())
        })
    }

    /// Links an issue that came back with the one here that it was linked with.
    ///
    /// # Errors
    /// When the issue is linked with another one of the tracker, or the database cannot be written.
    pub fn relink_issue(
        &mut self,
        context: &Context,
        link: LinkId,
        issue: &IssueId,
    ) -> Result<TrackerLink, StoreError> {
        self.write(context, |tx| {
            tx.execute(
                "UPDATE tracker_link SET issue = ?2 WHERE id = ?1",
                params![link.0, issue.as_str()],
            )?;
            Ok(())
        })?;
        self.link(link)
    }

    /// Returns the ids of the issues that a tracker mirrors.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn linked_externals(&self, tracker: TrackerId) -> Result<Vec<ExternalId>, StoreError> {
        let mut statement = self.conn.prepare_cached(
            "SELECT external_id FROM tracker_link WHERE tracker = ?1 AND issue IS NOT NULL ORDER BY id",
        )?;
        let mut rows = statement.query([tracker.0])?;
        let mut found = Vec::new();
        while let Some(row) = &rows.next()? {
            found.push(ExternalId::new(row.get::<_, String>(0)?));
        }
        Ok(found)
    }

    /// Makes a link, and records it in the issue's log. A link that is there stays as it is.
    ///
    /// # Errors
    /// When the issue is linked with another one of the tracker, or the database cannot be written.
    pub fn link_issue(
        &mut self,
        context: &Context,
        new: &NewLink<'_>,
    ) -> Result<TrackerLink, StoreError> {
        let (tracker, name) = new.tracker;
        self.write(context, |tx| {
            let made = tx.execute(
                "INSERT INTO tracker_link (tracker, external_id, key, url, issue, base, linked_at, is_waiting) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
                 ON CONFLICT (tracker, external_id) DO NOTHING",
                params![
                    tracker.0,
                    new.external.as_str(),
                    new.key,
                    new.url,
                    new.issue.as_str(),
                    to_json(new.base),
                    context.now.as_millisecond(),
                    !waiting(new.base).is_empty(),
                ],
            )?;
            if made == 1 {
                let entry = TrackerEntry::Linked {
                    tracker: name.to_owned(),
                    key: new.key.to_owned(),
                    url: new.url.to_owned(),
                };
                append(
                    tx,
                    context,
                    About::issue(new.issue),
                    &LogEvent::Tracker(entry),
                )?;
            }
            tx.query_row(
                "SELECT * FROM tracker_link WHERE tracker = ?1 AND external_id = ?2",
                params![tracker.0, new.external.as_str()],
                |row| Ok(from_row(row)),
            )?
        })
    }
}
