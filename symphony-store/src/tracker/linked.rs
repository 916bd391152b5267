//! Symphony's side of a linked issue, in one consistent look.

use symphony_core::Timestamp;
use symphony_core::id::IssueId;
use symphony_core::issue::{Issue, Review};
use symphony_tracker::linked::{Activity, Attempt, LinkedIssue, LocalIssue, Pending, TextBy};

use super::link::TrackerLink;
use super::outbox::OutboxChange;
use crate::database::open::Store;
use crate::database::row::time;
use crate::db::{Connection, params};
use crate::error::StoreError;
use crate::issue::query::load_issue;
use crate::review::delivery_query::load_open_delivery;
use crate::review::pull_request_query::open_pr_id;

impl Store {
    /// Returns an issue as the decisions about its tracker see it, and its number in the log at that moment: whoever acts on it checks
    /// with [`Store::last_entry_of`] that nothing happened in between.
    ///
    /// # Errors
    /// When there is no such issue, or the database cannot be read.
    pub fn linked_issue(
        &mut self,
        link: &TrackerLink,
        issue: &IssueId,
    ) -> Result<(LinkedIssue, i64), StoreError> {
        let pending = self.waiting_changes(link.id)?;
        self.read(|tx| {
            let ours = load_issue(tx, issue)?;
            let linked = LinkedIssue {
                review: review(tx, issue)?,
                activity: activity(tx, &ours)?,
                text_by: text_by(tx, issue)?,
                ours: LocalIssue::from(&ours),
                base: link.base.clone(),
                pending: pending.iter().cloned().map(pending_of).collect(),
            };
            Ok((linked, last_entry(tx, issue)?))
        })
    }

    /// Returns an issue that is not linked as the decisions about sub-issues see it.
    ///
    /// # Errors
    /// When there is no such issue, or the database cannot be read.
    pub fn unlinked_issue(&self, issue: &IssueId) -> Result<(Issue, TextBy), StoreError> {
        Ok((load_issue(&self.conn, issue)?, text_by(&self.conn, issue)?))
    }

    /// Returns since when an issue is in its state.
    ///
    /// # Errors
    /// When there is no such issue, or the database cannot be read.
    pub fn state_since(&self, issue: &IssueId) -> Result<Timestamp, StoreError> {
        let at: i64 = self
            .conn
            .prepare_cached(
                "SELECT coalesce((SELECT at FROM event WHERE issue = ?1 AND kind IN ('issue_moved', 'issue_added') ORDER BY id DESC LIMIT 1),
                                 (SELECT created_at FROM issue WHERE id = ?1))",
            )?
            .query_row([issue.as_str()], |row| row.get(0))?;
        time(at)
    }

    /// Returns the number of the last entry about an issue in the log.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn last_entry_of(&self, issue: &IssueId) -> Result<i64, StoreError> {
        last_entry(&self.conn, issue)
    }
}

fn pending_of(change: OutboxChange) -> Pending {
    Pending {
        id: change.outgoing.id,
        change: change.outgoing.change,
        covers: change.covers,
        attempt: if change.outgoing.was_tried {
            Attempt::Unanswered
        } else {
            Attempt::Untried
        },
    }
}

pub(super) fn last_entry(conn: &Connection, issue: &IssueId) -> Result<i64, StoreError> {
    Ok(conn
        .prepare_cached("SELECT coalesce(max(id), 0) FROM event WHERE issue = ?1")?
        .query_row([issue.as_str()], |row| row.get(0))?)
}

fn review(conn: &Connection, issue: &IssueId) -> Result<Review, StoreError> {
    let is_open = open_pr_id(conn, issue)?.is_some() || load_open_delivery(conn, issue)?.is_some();
    Ok(if is_open { Review::Open } else { Review::None })
}

fn activity(conn: &Connection, issue: &Issue) -> Result<Activity, StoreError> {
    let id = issue.id.as_str();
    let (is_live, has_run, is_merging): (bool, bool, bool) = conn
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM run WHERE issue = ?1 AND status IN ('starting', 'running')),
                    EXISTS (SELECT 1 FROM run WHERE issue = ?1),
                    EXISTS (SELECT 1 FROM pull_request WHERE issue = ?1 AND merge_intent IS NOT NULL)",
        )?
        .query_row([id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    Ok(match (is_merging, is_live, has_run) {
        (true, _, _) => Activity::Merge,
        (false, true, _) => Activity::Run,
        (false, false, true) => Activity::Idle,
        (false, false, false) => Activity::NotBegun,
    })
}

/// An issue whose text an agent wrote or edited has an agent's text, whoever edited it since: a person rarely reads all of it.
fn text_by(conn: &Connection, issue: &IssueId) -> Result<TextBy, StoreError> {
    let is_agents: bool = conn
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM event WHERE issue = ?1 AND kind IN ('issue_added', 'issue_edited') AND run IS NOT NULL)",
        )?
        .query_row(params![issue.as_str()], |row| row.get(0))?;
    Ok(if is_agents {
        TextBy::Agent
    } else {
        TextBy::Person
    })
}
