//! Notifications: a tick queues them, and one process at a time sends each once.

use symphony_core::Timestamp;
use symphony_core::id::ProjectId;
use symphony_core::inbox::InboxItem;

use crate::database::context::Context;
use crate::database::open::Store;
use crate::database::row::{json, parsed, time, to_json};
use crate::db::{OptionalExtension, params};
use crate::error::StoreError;

/// A notification that is being sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notification {
    /// The project whose command sends it.
    pub project: ProjectId,
    /// The item that needs a person.
    pub item: InboxItem,
}

impl Store {
    /// Queues items that a project's people have not been notified of. Returns how many are new.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn queue_notifications(
        &mut self,
        context: &Context,
        project: &ProjectId,
        items: &[&InboxItem],
    ) -> Result<usize, StoreError> {
        if items.is_empty() {
            return Ok(0);
        }
        self.write(context, |tx| {
            let mut insert = tx.prepare_cached(
                "INSERT INTO notification (project, key, item, state, created_at, updated_at)
                 VALUES (?1, ?2, ?3, 'queued', ?4, ?4) ON CONFLICT DO NOTHING",
            )?;
            let mut queued = 0;
            for item in items {
                let now = context.now.as_millisecond();
                queued +=
                    insert.execute(params![project.as_str(), item.key, to_json(item), now])?;
            }
            Ok(queued)
        })
    }

    /// Returns whether any notification is waiting to be sent.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn has_queued_notifications(&self) -> Result<bool, StoreError> {
        Ok(self
            .conn
            .prepare_cached("SELECT EXISTS (SELECT 1 FROM notification WHERE state = 'queued')")?
            .query_row([], |row| row.get(0))?)
    }

    /// Returns what went wrong with the last notification of a project, and when; `None` when it was sent, or there was
    /// none.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn notification_problem(
        &self,
        project: &ProjectId,
    ) -> Result<Option<(String, Timestamp)>, StoreError> {
        let last: Option<(Option<String>, i64)> = self
            .conn
            .prepare_cached(
                "SELECT problem, updated_at FROM notification WHERE project = ?1 AND state IN ('sent', 'failed')
                 ORDER BY updated_at DESC, key DESC LIMIT 1",
            )?
            .query_row([project.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        match last {
            Some((Some(problem), at)) => Ok(Some((problem, time(at)?))),
            Some((None, _)) | None => Ok(None),
        }
    }

    /// Takes the oldest waiting notification. It is never taken again, so people are notified at most once.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn take_notification(
        &mut self,
        context: &Context,
    ) -> Result<Option<Notification>, StoreError> {
        self.write(context, |tx| {
            let found: Option<(String, String, String)> = tx
                .prepare_cached(
                    "SELECT project, key, item FROM notification WHERE state = 'queued' ORDER BY created_at, key LIMIT 1",
                )?
                .query_row([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
                .optional()?;
            let Some((project, key, item)) = found else {
                return Ok(None);
            };
            tx.execute(
                "UPDATE notification SET state = 'sending', updated_at = ?3 WHERE project = ?1 AND key = ?2",
                params![project, key, context.now.as_millisecond()],
            )?;
            Ok(Some(Notification {
                project: parsed("project id", project)?,
                item: json("inbox item", &item)?,
            }))
        })
    }

    /// Records the result of a notification: a problem, or `None` when it was sent.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn record_notification(
        &mut self,
        context: &Context,
        notification: &Notification,
        problem: Option<&str>,
    ) -> Result<(), StoreError> {
        self.write(context, |tx| {
            let state = if problem.is_some() { "failed" } else { "sent" };
            tx.execute(
                "UPDATE notification SET state = ?3, problem = ?4, updated_at = ?5 WHERE project = ?1 AND key = ?2",
                params![
                    notification.project.as_str(),
                    notification.item.key,
                    state,
                    problem,
                    context.now.as_millisecond()
                ],
            )?;
            Ok(())
        })
    }
}
