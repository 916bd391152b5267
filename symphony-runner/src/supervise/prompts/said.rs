//! What people and agents said about an issue: the messages that wait for the agent, and the comments besides them.

use symphony_core::id::CommentId;
use symphony_core::issue::{Comment, Issue};
use symphony_core::message::{Addressee, message_text};
use symphony_prompt::CommentInput;
use symphony_store::Store;

use super::knowledge::READ_MAX;
use crate::error::RunnerError;
use crate::resume::News;

/// The comments of an issue, as an agent is given them.
#[derive(Debug)]
pub(super) struct Said {
    waiting: Vec<Comment>,
    others: Vec<Comment>,
}

impl Said {
    pub(super) fn load(
        issue: &Issue,
        addressee: Addressee,
        store: &Store,
    ) -> Result<Self, RunnerError> {
        let waiting = store.waiting_messages(&issue.id, addressee)?;
        let mut others = store.comments_for_agents(&issue.id, READ_MAX)?;
        others.retain(|comment| waiting.iter().all(|message| message.id != comment.id));
        Ok(Self { waiting, others })
    }

    /// Returns the messages that are in the prompt.
    pub(super) fn ids(&self) -> Vec<CommentId> {
        self.waiting.iter().map(|message| message.id).collect()
    }

    /// Returns the messages that wait for the agent.
    pub(super) fn messages(&self) -> Vec<CommentInput> {
        self.waiting.iter().map(message).collect()
    }

    /// Returns all other comments.
    pub(super) fn comments(&self) -> Vec<CommentInput> {
        self.others.iter().map(input).collect()
    }

    /// Returns those that a session does not know.
    pub(super) fn new_comments(&self, news: &News) -> Vec<CommentInput> {
        let others = self.others.iter();
        let is_new =
            |comment: &&Comment| comment.created_at >= news.since && !was_said(comment, news);
        others.filter(is_new).map(input).collect()
    }
}

/// Returns whether a comment came into the session as a message.
fn was_said(comment: &Comment, news: &News) -> bool {
    let message = comment.message.as_ref();
    let read = message.and_then(|message| message.read.as_ref());
    read.is_some_and(|read| news.runs.contains(&read.run))
}

/// Returns a message; one that an agent may have forged says so.
fn message(comment: &Comment) -> CommentInput {
    let mut message = input(comment);
    message.content = message_text(&comment.content, comment.unverified.as_deref());
    message
}

fn input(comment: &Comment) -> CommentInput {
    CommentInput {
        author: comment.author.clone(),
        content: comment.content.clone(),
        created_at: Some(comment.created_at),
    }
}
