//! Sub-tasks of mirrored issues, which become sub-issues of the tracker.

use std::collections::BTreeMap;

use sha2::{Digest as _, Sha256};
use symphony_core::id::IssueId;
use symphony_tracker::change::ChangeId;
use symphony_tracker::linked::{Covers, Departing};
use uuid::{Builder, Uuid};

use super::link::LinkId;
use super::record::TrackerId;
use crate::database::open::Store;
use crate::database::row::parsed;
use crate::db::{Transaction, params};
use crate::error::StoreError;

impl Store {
    /// Returns the issues here that waiting changes make at a tracker, by the change.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn waiting_sub_issues(
        &self,
        tracker: TrackerId,
    ) -> Result<BTreeMap<ChangeId, IssueId>, StoreError> {
        let mut statement = self.conn.prepare_cached(
            "SELECT c.id AS id, c.covers ->> '$.issue' AS issue FROM tracker_change c JOIN tracker_link l ON l.id = c.link
             WHERE l.tracker = ?1 AND c.state = 'waiting' AND c.covers ->> '$.covers' = 'sub_issue'",
        )?;
        let mut rows = statement.query([tracker.0])?;
        let mut found = BTreeMap::new();
        while let Some(row) = &rows.next()? {
            let id = ChangeId::new(row.get::<_, String>("id")?);
            found.insert(id, parsed("issue", row.get("issue")?)?);
        }
        Ok(found)
    }

    /// Returns the parts of an issue that a tracker neither has nor is about to get.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn unmade_parts(
        &self,
        tracker: TrackerId,
        parent: &IssueId,
    ) -> Result<Vec<IssueId>, StoreError> {
        let mut statement = self.conn.prepare_cached(
            "SELECT i.id AS id FROM issue i WHERE i.parent = ?2
               AND NOT EXISTS (SELECT 1 FROM tracker_link l WHERE l.tracker = ?1 AND l.issue = i.id)
               AND NOT EXISTS (SELECT 1 FROM tracker_change c JOIN tracker_link l ON l.id = c.link
                               WHERE l.tracker = ?1 AND c.state = 'waiting' AND c.covers ->> '$.issue' = i.id)
             ORDER BY i.number",
        )?;
        let mut rows = statement.query(params![tracker.0, parent.as_str()])?;
        let mut parts = Vec::new();
        while let Some(row) = &rows.next()? {
            parts.push(parsed("issue", row.get("id")?)?);
        }
        Ok(parts)
    }
}

/// Returns the id of a new change: any UUID, but for a part always the same one. After a restore, a part that was made since the backup
/// is then found there by its id.
pub(super) fn id_of(
    tx: &Transaction<'_>,
    link: LinkId,
    departing: &Departing,
) -> Result<String, StoreError> {
    let Covers::SubIssue { issue, .. } = &departing.covers else {
        return Ok(Uuid::new_v4().to_string());
    };
    let (place, created_at): (String, i64) = tx
        .prepare_cached(
            "SELECT t.place, i.created_at FROM tracker_link l JOIN tracker t ON t.id = l.tracker, issue i
             WHERE l.id = ?1 AND i.id = ?2",
        )?
        .query_row(params![link.0, issue.as_str()], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
    // Another issue can get the number of one that was lost, but not its time.
    let digest = Sha256::digest(format!("part\n{place}\n{issue}\n{created_at}"));
    let mut bytes = [0; 16];
    for (byte, from) in bytes.iter_mut().zip(digest) {
        *byte = from;
    }
    // Linear takes UUIDs of version 4 only.
    Ok(Builder::from_random_bytes(bytes).into_uuid().to_string())
}
