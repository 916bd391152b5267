//! Messages of people to agents: comments that wait until an agent has got them.

use symphony_core::id::{CommentId, IssueId, RunId};
use symphony_core::issue::{Comment, check_required_text};
use symphony_core::log::LogEvent;
use symphony_core::message::{Addressee, UNREAD_BYTES_MAX};

use crate::database::context::Context;
use crate::database::event::{About, append};
use crate::database::open::Store;
use crate::db::{Transaction, params};
use crate::error::StoreError;
use crate::issue::note::{add_comment_in, comment_of};
use crate::issue::query::load_issue;
use crate::issue::refusal::IssueRefusal;
use crate::run::row::load_run;

fn load_comment(tx: &Transaction<'_>, id: CommentId) -> Result<Comment, StoreError> {
    let mut statement = tx.prepare_cached("SELECT * FROM comment WHERE id = ?1")?;
    let mut rows = statement.query([id.get()])?;
    rows.next()?.map_or_else(
        || {
            Err(StoreError::NotFound {
                what: "comment",
                id: id.to_string(),
            })
        },
        |row| comment_of(&row),
    )
}

impl Store {
    /// Writes a message to the agents of an issue. It waits until [`messages_read`](Self::messages_read).
    ///
    /// # Errors
    /// When the issue does not exist or has ended, an agent asks, the text is empty or too long, or too much waits already.
    pub fn say(
        &mut self,
        context: &Context,
        issue: &IssueId,
        addressee: Addressee,
        text: &str,
    ) -> Result<Comment, StoreError> {
        check_required_text("text", text)?;
        if !context.actor.is_human() {
            return Err(StoreError::OnlyPeople("write messages to agents"));
        }
        self.write(context, |tx| {
            let found = load_issue(tx, issue)?;
            if found.state.status().is_terminal() {
                return Err(IssueRefusal::NoReader {
                    issue: issue.clone(),
                    status: found.state.status(),
                }
                .into());
            }
            let waiting: i64 = tx.query_row(
                "SELECT coalesce(sum(octet_length(content)), 0) FROM comment
                 WHERE issue = ?1 AND addressee = ?2 AND read_by IS NULL AND withdrawn_at IS NULL",
                params![issue.as_str(), addressee.name()],
                |row| row.get(0),
            )?;
            let waiting = usize::try_from(waiting).unwrap_or(usize::MAX);
            if waiting.saturating_add(text.len()) > UNREAD_BYTES_MAX {
                return Err(IssueRefusal::TooMuchUnread {
                    issue: issue.clone(),
                    addressee,
                    waiting,
                }
                .into());
            }
            let id = add_comment_in(tx, context, issue, text)?;
            tx.execute(
                "UPDATE comment SET addressee = ?2 WHERE id = ?1",
                params![id.get(), addressee.name()],
            )?;
            load_comment(tx, id)
        })
    }

    /// Withdraws a message that no agent has read. It stays in the history of its issue, and no agent is given it any more.
    /// To withdraw one again changes nothing.
    ///
    /// # Errors
    /// When there is no such message, an agent has read it, or an agent asks.
    pub fn withdraw_message(
        &mut self,
        context: &Context,
        message: CommentId,
    ) -> Result<Comment, StoreError> {
        if !context.actor.is_human() {
            return Err(StoreError::OnlyPeople("withdraw messages to agents"));
        }
        self.write(context, |tx| {
            let found = load_comment(tx, message)?;
            let Some(state) = &found.message else {
                return Err(IssueRefusal::NoMessage(message).into());
            };
            if let Some(read) = &state.read {
                let run = read.run.clone();
                return Err(IssueRefusal::MessageRead { message, run }.into());
            }
            if state.withdrawn.is_some() {
                return Ok(found);
            }
            tx.execute(
                "UPDATE comment SET withdrawn_at = ?2 WHERE id = ?1",
                params![message.get(), context.now.as_millisecond()],
            )?;
            let withdrawn = LogEvent::MessageWithdrawn { comment: message };
            append(tx, context, About::issue(&found.issue), &withdrawn)?;
            load_comment(tx, message)
        })
    }

    /// Returns all messages on an issue that no agent has read, oldest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn unread_messages(&self, issue: &IssueId) -> Result<Vec<Comment>, StoreError> {
        let mut unread = Vec::new();
        for addressee in Addressee::ALL {
            unread.extend(self.waiting_messages(issue, *addressee)?);
        }
        unread.sort_by_key(|message| message.id);
        Ok(unread)
    }

    /// Returns the messages that wait for an agent, oldest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn waiting_messages(
        &self,
        issue: &IssueId,
        addressee: Addressee,
    ) -> Result<Vec<Comment>, StoreError> {
        let mut statement = self.conn.prepare_cached(
            "SELECT * FROM comment WHERE issue = ?1 AND addressee = ?2 AND read_by IS NULL AND withdrawn_at IS NULL ORDER BY id",
        )?;
        let mut rows = statement.query(params![issue.as_str(), addressee.name()])?;
        let mut messages = Vec::new();
        while let Some(row) = &rows.next()? {
            messages.push(comment_of(row)?);
        }
        Ok(messages)
    }

    /// Records that the agent of a run got messages. Those that another run got first stay with that one.
    ///
    /// # Errors
    /// When the run does not exist, or was retired.
    pub fn messages_read(
        &mut self,
        context: &Context,
        run: &RunId,
        messages: &[CommentId],
    ) -> Result<(), StoreError> {
        self.write(context, |tx| {
            let found = load_run(tx, run)?;
            let Some(issue) = found.target.issue() else {
                return Ok(());
            };
            for message in messages {
                let changed = tx
                    .prepare_cached(
                        "UPDATE comment SET read_by = ?2, read_at = ?3
                         WHERE id = ?1 AND addressee IS NOT NULL AND read_by IS NULL AND issue = ?4",
                    )?
                    .execute(params![
                        message.get(),
                        run.as_str(),
                        context.now.as_millisecond(),
                        issue.as_str(),
                    ])?;
                if changed == 1 {
                    append(
                        tx,
                        context,
                        About {
                            run: Some(run),
                            ..About::issue(issue)
                        },
                        &LogEvent::MessageRead { comment: *message },
                    )?;
                }
            }
            Ok(())
        })
    }
}
