//! Replies to comments at a forge: one for each answer to a point that came from there.

use sha2::{Digest as _, Sha256};
use symphony_core::review_point::PointNumber;
use symphony_tracker::change::ChangeId;
use symphony_tracker::remote::ExternalId;
use uuid::Builder;

use super::pull::{ForgePullId, SAME_PULL};
use crate::database::context::Context;
use crate::database::open::Store;
use crate::db::params;
use crate::error::StoreError;

/// A reply that waits to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForgeReply {
    /// Its id, which it carries there.
    pub id: ChangeId,
    /// The first comment of the thread.
    pub thread: ExternalId,
    /// Its text, without a marker.
    pub body: String,
}

impl Store {
    /// Puts a reply into the outbox: the `answer`-th answer to a point, from 0. One that is there already stays as it is.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn add_forge_reply(
        &mut self,
        context: &Context,
        pull: ForgePullId,
        thread: &ExternalId,
        (point, answer): (PointNumber, usize),
        body: &str,
    ) -> Result<(), StoreError> {
        self.write(context, |tx| {
            tx.execute(
                "INSERT INTO forge_reply (id, pull, thread, point, answer, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                 ON CONFLICT DO NOTHING",
                params![
                    reply_id(thread, point, answer, body),
                    pull.0,
                    thread.as_str(),
                    point.get(),
                    i64::try_from(answer).unwrap_or(i64::MAX),
                    body
                ],
            )?;
            Ok(())
        })
    }

    /// Returns which answers have a reply, sent or not.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn replied_answers(
        &self,
        pull: ForgePullId,
    ) -> Result<Vec<(PointNumber, usize)>, StoreError> {
        let mut statement = self.conn.prepare_cached(&format!(
            "SELECT point, answer FROM forge_reply WHERE pull IN ({SAME_PULL})"
        ))?;
        let mut rows = statement.query([pull.0])?;
        let mut found = Vec::new();
        while let Some(row) = &rows.next()? {
            let answer: i64 = row.get(1)?;
            found.push((
                PointNumber::new(row.get(0)?),
                usize::try_from(answer).unwrap_or(usize::MAX),
            ));
        }
        Ok(found)
    }

    /// Returns the replies that wait, by point and answer.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn waiting_replies(&self, pull: ForgePullId) -> Result<Vec<ForgeReply>, StoreError> {
        let mut statement = self.conn.prepare_cached(&format!(
            "SELECT * FROM forge_reply WHERE pull IN ({SAME_PULL}) AND state = 'waiting' ORDER BY point, answer",
        ))?;
        let mut rows = statement.query([pull.0])?;
        let mut replies = Vec::new();
        while let Some(row) = &rows.next()? {
            replies.push(ForgeReply {
                id: ChangeId::new(row.get::<_, String>("id")?),
                thread: ExternalId::new(row.get::<_, String>("thread")?),
                body: row.get("body")?,
            });
        }
        Ok(replies)
    }

    /// Records that a reply is about to be sent.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn begin_forge_reply(
        &mut self,
        context: &Context,
        reply: &ChangeId,
    ) -> Result<(), StoreError> {
        self.write(context, |tx| {
            tx.execute(
                "UPDATE forge_reply SET tried_at = ?2 WHERE id = ?1",
                params![reply.as_str(), context.now.as_millisecond()],
            )?;
            Ok(())
        })
    }

    /// Records that the forge has a reply, or refused it for good, with its words.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn end_forge_reply(
        &mut self,
        context: &Context,
        reply: &ChangeId,
        refused: Option<&str>,
    ) -> Result<(), StoreError> {
        self.write(context, |tx| {
            let state = if refused.is_some() {
                "refused"
            } else {
                "applied"
            };
            tx.execute(
                "UPDATE forge_reply SET state = ?2, problem = ?3 WHERE id = ?1",
                params![reply.as_str(), state, refused],
            )?;
            Ok(())
        })
    }
}

/// Makes the id of a reply out of what it is: a database that was restored decides on the same reply again, and finds it there.
fn reply_id(thread: &ExternalId, point: PointNumber, answer: usize, body: &str) -> String {
    let digest = Sha256::digest(format!("reply\n{thread}\n{point}\n{answer}\n{body}"));
    let mut bytes = [0; 16];
    for (byte, from) in bytes.iter_mut().zip(digest) {
        *byte = from;
    }
    Builder::from_random_bytes(bytes).into_uuid().to_string()
}
