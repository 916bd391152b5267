//! Reading the event log.

use std::fmt::Write as _;

use crate::db::SqlValue;
use crate::db::{params, params_from_iter};
use symphony_core::id::{IssueId, PlanId, RunId};
use symphony_core::log::LogEvent;

use crate::database::event::{EVENT_COLUMNS, EventRecord, read_event};
use crate::database::open::Store;
use crate::error::StoreError;

/// Which entries of the log to return.
#[derive(Debug, Clone, Default)]
pub struct EventFilter {
    /// About this issue.
    pub issue: Option<IssueId>,
    /// About this run, or written in its name.
    pub run: Option<RunId>,
    /// About this plan.
    pub plan: Option<PlanId>,
    /// Only entries after the one with this number.
    pub after: i64,
    /// At most this many, the newest ones; `None` for all.
    pub limit: Option<u32>,
}

/// Entries of a kind that this version does not know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownKind {
    /// The kind.
    pub kind: String,
    /// How many entries there are.
    pub count: u64,
}

impl Store {
    /// Returns entries of the log, oldest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn events(&self, filter: &EventFilter) -> Result<Vec<EventRecord>, StoreError> {
        let (sql, values) = filter.sql();
        let mut statement = self.conn.prepare_cached(&sql)?;
        let mut rows = statement.query(params_from_iter(values))?;
        let mut events = Vec::new();
        while let Some(row) = &rows.next()? {
            events.push(read_event(row)?);
        }
        events.reverse();
        Ok(events)
    }

    /// Returns the first entries after the one with this number, oldest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn events_after(&self, after: i64, limit: u32) -> Result<Vec<EventRecord>, StoreError> {
        let mut statement = self.conn.prepare_cached(&format!(
            "SELECT {EVENT_COLUMNS} FROM event WHERE id > ?1 ORDER BY id LIMIT ?2"
        ))?;
        let mut rows = statement.query(params![after, limit])?;
        let mut events = Vec::new();
        while let Some(row) = &rows.next()? {
            events.push(read_event(row)?);
        }
        Ok(events)
    }

    /// Returns the kinds of entries that this version does not know, by name. A newer version wrote them.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn unknown_events(&self) -> Result<Vec<UnknownKind>, StoreError> {
        let mut statement = self
            .conn
            .prepare("SELECT kind, count(*) FROM event GROUP BY kind ORDER BY kind")?;
        let kinds = statement.query_map([], |row| {
            Ok(UnknownKind {
                kind: row.get(0)?,
                count: row.get::<_, i64>(1)?.unsigned_abs(),
            })
        })?;
        let mut unknown = Vec::new();
        for kind in kinds {
            let kind = kind?;
            if !LogEvent::KINDS.contains(&kind.kind.as_str()) {
                unknown.push(kind);
            }
        }
        Ok(unknown)
    }
}

impl EventFilter {
    /// Returns the query, newest first so that the limit keeps the newest ones.
    fn sql(&self) -> (String, Vec<SqlValue>) {
        let mut sql = format!("SELECT {EVENT_COLUMNS} FROM event WHERE id > ?");
        let mut values = vec![SqlValue::Integer(self.after)];
        let conditions = [
            ("issue", self.issue.as_ref().map(IssueId::as_str)),
            ("run", self.run.as_ref().map(RunId::as_str)),
            ("plan", self.plan.as_ref().map(PlanId::as_str)),
        ];
        for (column, value) in conditions {
            if let Some(value) = value {
                write!(sql, " AND {column} = ?").expect("writing to a string does not fail");
                values.push(SqlValue::Text(value.to_owned()));
            }
        }
        sql.push_str(" ORDER BY id DESC");
        if let Some(limit) = self.limit {
            write!(sql, " LIMIT {limit}").expect("writing to a string does not fail");
        }
        (sql, values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::query_plan::query_plan;

    #[test]
    fn a_history_is_read_by_an_index() {
        let store = Store::open_in_memory().unwrap();
        let filter = EventFilter {
            issue: Some(IssueId::parse("SYM-1").unwrap()),
            limit: Some(10),
            ..EventFilter::default()
        };
        let (sql, _) = filter.sql();
        assert_eq!(
            query_plan(&store.conn, &sql)[0],
            "SEARCH event USING INDEX event_issue (issue=? AND id>?)"
        );
    }
}
