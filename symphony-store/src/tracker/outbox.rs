//! The outbox: changes on their way to a tracker. A change is recorded when it is decided, so that no death between the decision
//! and the tracker's answer loses it.

use symphony_core::Timestamp;
use symphony_core::id::IssueId;
use symphony_core::log::{LogEvent, TrackerEntry};
use symphony_core::outbox::OutboxState;
use symphony_tracker::base::Base;
use symphony_tracker::change::{ChangeId, Outgoing};
use symphony_tracker::linked::{Covers, Departing};
use symphony_tracker::milestone::Written;
use symphony_tracker::relations::waiting;
use symphony_tracker::remote::ExternalId;

use super::link::LinkId;
use super::part::id_of;
use super::record::TrackerId;
use crate::database::context::Context;
use crate::database::event::{About, append};
use crate::database::open::Store;
use crate::database::row::{count32, json, parsed, parsed_opt, time, to_json};
use crate::db::{Row, Transaction, params};
use crate::error::StoreError;

/// A change in the outbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutboxChange {
    /// What is sent.
    pub outgoing: Outgoing,
    /// The link of its target.
    pub link: LinkId,
    /// What of ours it is about.
    pub covers: Covers,
    /// How far it came.
    pub state: OutboxState,
    /// How many attempts have failed.
    pub tries: u32,
    /// When it may be sent.
    pub due_at: Timestamp,
    /// What the last attempt came to.
    pub problem: Option<String>,
}

/// What came of sending a change.
#[derive(Debug, Clone, PartialEq)]
pub enum ChangeResult<'a> {
    /// The tracker has it.
    Applied {
        /// The id of what it created there.
        created: Option<&'a ExternalId>,
        /// What both sides agree on now.
        base: &'a Base,
    },
    /// It is to be sent again.
    PutOff {
        /// When.
        due_at: Timestamp,
        /// Why.
        problem: &'a str,
        /// Whether the attempt counts as a failed one.
        counts: bool,
    },
    /// The tracker refused it for good.
    Refused {
        /// The tracker's words.
        problem: &'a str,
        /// The base that does not ask for it again.
        base: &'a Base,
    },
}

/// What a decision about one issue changes.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkNews<'a> {
    /// The link.
    pub link: LinkId,
    /// What both sides agree on now, if that changed.
    pub base: Option<&'a Base>,
    /// Which milestones were written, if that changed.
    pub written: Option<&'a Written>,
    /// Waiting changes that are no longer wanted.
    pub withdraw: &'a [ChangeId],
    /// Waiting changes that the tracker turns out to have.
    pub settled: &'a [ChangeId],
    /// Waiting changes that were sent without an answer, and that the tracker turns out not to have.
    pub untried: &'a [ChangeId],
    /// New changes, in the order in which they are sent.
    pub send: &'a [Departing],
    /// What goes into the issue's log.
    pub entries: &'a [TrackerEntry],
}

impl LinkNews<'_> {
    /// Returns news that change nothing.
    pub const fn of(link: LinkId) -> Self {
        Self {
            link,
            base: None,
            written: None,
            withdraw: &[],
            settled: &[],
            untried: &[],
            send: &[],
            entries: &[],
        }
    }
}

fn from_row(row: &Row<'_>) -> Result<OutboxChange, StoreError> {
    let tried: Option<i64> = row.get("tried_at")?;
    Ok(OutboxChange {
        outgoing: Outgoing {
            id: ChangeId::new(row.get::<_, String>("id")?),
            target: ExternalId::new(row.get::<_, String>("external_id")?),
            change: json("change", &row.get::<_, String>("change")?)?,
            was_tried: tried.is_some(),
            made: None,
        },
        link: LinkId(row.get("link")?),
        covers: json("what a change is about", &row.get::<_, String>("covers")?)?,
        state: parsed("state of a change", row.get("state")?)?,
        tries: count32(row, "tries")?,
        due_at: time(row.get("due_at")?)?,
        problem: row.get("problem")?,
    })
}

const SELECT: &str =
    "SELECT c.*, l.external_id FROM tracker_change c JOIN tracker_link l ON l.id = c.link";

impl Store {
    /// Returns the changes of an issue that wait to be sent, oldest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn waiting_changes(&self, link: LinkId) -> Result<Vec<OutboxChange>, StoreError> {
        self.changes(
            &format!("{SELECT} WHERE c.link = ?1 AND c.state = 'waiting' ORDER BY c.number"),
            params![link.0],
        )
    }

    /// Returns a change of a tracker that waits to be sent.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn waiting_change(
        &self,
        tracker: TrackerId,
        id: &ChangeId,
    ) -> Result<Option<OutboxChange>, StoreError> {
        let found = self.changes(
            &format!("{SELECT} WHERE l.tracker = ?1 AND c.id = ?2 AND c.state = 'waiting'"),
            params![tracker.0, id.as_str()],
        )?;
        Ok(found.into_iter().next())
    }

    /// Returns the first change that waits of each issue of a tracker, oldest first, at most `limit`: a later one is not sent before
    /// an earlier one of the same issue.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn next_changes(
        &self,
        tracker: TrackerId,
        limit: u32,
    ) -> Result<Vec<OutboxChange>, StoreError> {
        self.changes(
            &format!(
                "{SELECT} WHERE l.tracker = ?1 AND c.number IN
                     (SELECT min(number) FROM tracker_change WHERE state = 'waiting' GROUP BY link)
                 ORDER BY c.number LIMIT ?2"
            ),
            params![tracker.0, limit],
        )
    }

    /// Returns the changes of a tracker in a state, oldest first, at most `limit`.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn changes_in(
        &self,
        tracker: TrackerId,
        state: OutboxState,
        limit: u32,
    ) -> Result<Vec<OutboxChange>, StoreError> {
        self.changes(&in_state_sql(state), params![tracker.0, limit])
    }

    fn changes(
        &self,
        sql: &str,
        params: impl crate::db::Params,
    ) -> Result<Vec<OutboxChange>, StoreError> {
        let mut statement = self.conn.prepare_cached(sql)?;
        let mut rows = statement.query(params)?;
        let mut changes = Vec::new();
        while let Some(row) = &rows.next()? {
            changes.push(from_row(row)?);
        }
        Ok(changes)
    }

    /// Writes what was decided about an issue: the base, and its changes.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn settle_link(
        &mut self,
        context: &Context,
        news: &LinkNews<'_>,
    ) -> Result<(), StoreError> {
        self.write(context, |tx| settle(tx, context, news))
    }

    /// Writes what was decided about several issues by the log, and up to where the log was read: all or nothing, so that no entry
    /// becomes two changes.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn settle_log(
        &mut self,
        context: &Context,
        tracker: TrackerId,
        news: &[LinkNews<'_>],
        seen_event: i64,
    ) -> Result<(), StoreError> {
        self.write(context, |tx| {
            for one in news {
                settle(tx, context, one)?;
            }
            tx.execute(
                "UPDATE tracker SET seen_event = max(seen_event, ?2) WHERE id = ?1",
                params![tracker.0, seen_event],
            )?;
            Ok(())
        })
    }

    /// Records that a change is about to be sent: from here on, its answer may be lost.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn begin_change(&mut self, context: &Context, id: &ChangeId) -> Result<(), StoreError> {
        self.write(context, |tx| {
            tx.execute(
                "UPDATE tracker_change SET tried_at = ?2 WHERE id = ?1 AND state = 'waiting'",
                params![id.as_str(), context.now.as_millisecond()],
            )?;
            Ok(())
        })
    }

    /// Records what came of a change.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn end_change(
        &mut self,
        context: &Context,
        change: &OutboxChange,
        result: &ChangeResult<'_>,
    ) -> Result<(), StoreError> {
        let id = change.outgoing.id.as_str();
        let now = context.now.as_millisecond();
        self.write(context, |tx| match result {
            ChangeResult::Applied { created, base } => {
                tx.execute(
                    "UPDATE tracker_change SET state = 'applied', ended_at = ?2, created = ?3, problem = NULL
                     WHERE id = ?1 AND state = 'waiting'",
                    params![id, now, created.map(ExternalId::as_str)],
                )?;
                set_base(tx, change.link, base)
            }
            ChangeResult::PutOff {
                due_at,
                problem,
                counts,
            } => {
                tx.execute(
                    "UPDATE tracker_change SET due_at = ?2, problem = ?3, tries = tries + ?4 WHERE id = ?1 AND state = 'waiting'",
                    params![id, due_at.as_millisecond(), problem, counts],
                )?;
                Ok(())
            }
            ChangeResult::Refused { problem, base } => {
                let ended = tx.execute(
                    "UPDATE tracker_change SET state = 'refused', ended_at = ?2, problem = ?3, tries = tries + 1
                     WHERE id = ?1 AND state = 'waiting'",
                    params![id, now, problem],
                )?;
                if ended == 1 {
                    set_base(tx, change.link, base)?;
                    note_refusal(tx, context, change, problem)?;
                }
                Ok(())
            }
        })
    }

    /// Records that the tracker has a comment whose answer was lost.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn settle_comment(
        &mut self,
        context: &Context,
        id: &ChangeId,
        created: &ExternalId,
    ) -> Result<(), StoreError> {
        self.write(context, |tx| {
            tx.execute(
                "UPDATE tracker_change SET state = 'applied', ended_at = ?2, created = ?3, problem = NULL
                 WHERE id = ?1 AND state = 'waiting'",
                params![id.as_str(), context.now.as_millisecond(), created.as_str()],
            )?;
            Ok(())
        })
    }
}

fn settle(tx: &Transaction<'_>, context: &Context, news: &LinkNews<'_>) -> Result<(), StoreError> {
    let now = context.now.as_millisecond();
    if let Some(base) = news.base {
        set_base(tx, news.link, base)?;
    }
    if let Some(written) = news.written {
        tx.execute(
            "UPDATE tracker_link SET written = ?2 WHERE id = ?1",
            params![news.link.0, to_json(written)],
        )?;
    }
    for (ids, state) in [
        (news.withdraw, OutboxState::Withdrawn),
        (news.settled, OutboxState::Applied),
    ] {
        for id in ids {
            tx.execute(
                "UPDATE tracker_change SET state = ?3, ended_at = ?2 WHERE id = ?1 AND state = 'waiting'",
                params![id.as_str(), now, state.name()],
            )?;
        }
    }
    for id in news.untried {
        tx.execute(
            "UPDATE tracker_change SET tried_at = NULL WHERE id = ?1 AND state = 'waiting'",
            [id.as_str()],
        )?;
    }
    for departing in news.send {
        tx.execute(
            // The id of a part is the same whenever it is decided, so that what was given up can be wanted again.
            "INSERT INTO tracker_change (id, link, change, covers, decided_at, due_at) VALUES (?1, ?2, ?3, ?4, ?5, ?5)
             ON CONFLICT (id) DO UPDATE SET link = excluded.link, change = excluded.change, covers = excluded.covers,
                 state = 'waiting', ended_at = NULL, tries = 0, due_at = excluded.due_at
             WHERE tracker_change.state IN ('refused', 'withdrawn')",
            params![
                id_of(tx, news.link, departing)?,
                news.link.0,
                to_json(&departing.change),
                to_json(&departing.covers),
                now,
            ],
        )?;
    }
    note(tx, context, news.link, news.entries)
}

/// Appends entries to the log of a link's issue.
fn note(
    tx: &Transaction<'_>,
    context: &Context,
    link: LinkId,
    entries: &[TrackerEntry],
) -> Result<(), StoreError> {
    if entries.is_empty() {
        return Ok(());
    }
    let issue: Option<String> = tx.query_row(
        "SELECT issue FROM tracker_link WHERE id = ?1",
        [link.0],
        |row| row.get(0),
    )?;
    let Some(issue) = parsed_opt::<IssueId>("issue", issue)? else {
        return Ok(());
    };
    note_issue(tx, context, &issue, entries)
}

/// Appends entries about a tracker to an issue's log.
pub(super) fn note_issue(
    tx: &Transaction<'_>,
    context: &Context,
    issue: &IssueId,
    entries: &[TrackerEntry],
) -> Result<(), StoreError> {
    for entry in entries {
        let event = LogEvent::Tracker(entry.clone());
        append(tx, context, About::issue(issue), &event)?;
    }
    Ok(())
}

fn set_base(tx: &Transaction<'_>, link: LinkId, base: &Base) -> Result<(), StoreError> {
    tx.execute(
        "UPDATE tracker_link SET base = ?2, is_waiting = ?3 WHERE id = ?1",
        params![link.0, to_json(base), !waiting(base).is_empty()],
    )?;
    Ok(())
}

/// Records a refusal in the issue's log, where a person looks for why the tracker does not show something.
fn note_refusal(
    tx: &Transaction<'_>,
    context: &Context,
    change: &OutboxChange,
    problem: &str,
) -> Result<(), StoreError> {
    let tracker: String = tx.query_row(
        "SELECT t.name FROM tracker_link l JOIN tracker t ON t.id = l.tracker WHERE l.id = ?1",
        [change.link.0],
        |row| row.get(0),
    )?;
    let entry = TrackerEntry::Refused {
        tracker,
        text: problem.to_owned(),
    };
    note(tx, context, change.link, &[entry])
}

/// The state is part of the text: as a parameter it would tell SQLite nothing about which index fits.
fn in_state_sql(state: OutboxState) -> String {
    let state = state.name();
    format!("{SELECT} WHERE l.tracker = ?1 AND c.state = '{state}' ORDER BY c.number LIMIT ?2")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::query_plan::query_plan;

    #[test]
    fn what_waits_and_what_was_refused_is_found_through_indexes() {
        let store = Store::open_in_memory().unwrap();
        for (state, index) in [
            (OutboxState::Waiting, "tracker_change_waiting"),
            (OutboxState::Refused, "tracker_change_refused"),
        ] {
            let plan = query_plan(&store.conn, &in_state_sql(state));
            let uses = |line: &String| line.contains(index);
            assert!(plan.iter().any(uses), "{plan:#?}");
        }
    }
}
