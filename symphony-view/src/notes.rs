//! Comments and findings.

use serde::Serialize;
use symphony_core::Timestamp;
use symphony_core::asker::verification_note;
use symphony_core::id::{CommentId, FindingId, IssueId, RunId};
use symphony_core::issue::{Comment, CommentAuthor, Finding, FindingKind};
use symphony_core::message::{Addressee, MessageState};
use symphony_core::user::Attribution;

use crate::text::{Page, View, ago};

/// A comment.
#[derive(Debug, Clone, Serialize)]
pub struct CommentView {
    /// Its id.
    pub id: CommentId,
    /// The issue it is on.
    pub issue: IssueId,
    /// Who wrote it.
    pub author: CommentAuthor,
    /// The text, in Markdown.
    pub content: String,
    /// When it was created.
    pub created_at: Timestamp,
    /// Why Symphony could not tell that a person wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unverified: Option<String>,
    /// The source that it was written with, and the user of the page.
    #[serde(flatten)]
    pub attribution: Attribution,
    /// The login of the tracker's user who wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub login: Option<String>,
    /// Who it is a message to, and the run whose agent has received it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<MessageState>,
}

impl From<Comment> for CommentView {
    fn from(comment: Comment) -> Self {
        let Comment {
            id,
            issue,
            author,
            content,
            created_at,
            unverified,
            attribution,
            login,
            message,
        } = comment;
        Self {
            id,
            issue,
            author,
            content,
            created_at,
            unverified,
            attribution,
            login,
            message,
        }
    }
}

impl CommentView {
    /// Returns what happened to it as a message; nothing for a plain comment.
    pub fn delivery(&self) -> Option<String> {
        let message = self.message.as_ref()?;
        let who = match message.addressee {
            Addressee::Author => "the agent",
            Addressee::Judge => "the judge",
        };
        let id = self.id;
        Some(match (&message.read, message.withdrawn) {
            (Some(read), _) => format!("message {id} to {who}, read in run {}", read.run),
            (None, Some(_)) => format!("message {id} to {who}, withdrawn"),
            (None, None) => format!("message {id} to {who}, not read yet"),
        })
    }

    /// Returns whether it is a message that waits for an agent.
    pub fn is_unread(&self) -> bool {
        self.message.as_ref().is_some_and(MessageState::is_unread)
    }

    /// Returns who wrote it: the user of the page or of the tracker by name, else the kind of author. A login is never
    /// shown alone: a tracker has users who are called `human` or `symphony`.
    pub fn by(&self) -> String {
        match (&self.author, &self.login) {
            (CommentAuthor::Tracker, Some(login)) => format!("{login} (on the tracker)"),
            (CommentAuthor::Tracker, None) => "a user of the tracker".to_owned(),
            (author, _) => self.attribution.name_or(author.name()).to_owned(),
        }
    }
}

impl View for CommentView {
    fn write(&self, page: &mut Page) {
        let delivery = self.delivery().map(|how| format!(" · {how}"));
        page.line(&format!(
            "{}{} · {}{}",
            self.by(),
            verification_note(self.unverified.as_deref()),
            ago(self.created_at, page.now()),
            delivery.unwrap_or_default()
        ));
        page.block(&self.content);
    }
}

/// A finding.
#[derive(Debug, Clone, Serialize)]
pub struct FindingView {
    pub id: FindingId,
    pub kind: FindingKind,
    pub text: String,
    pub files: Vec<String>,
    pub author: CommentAuthor,
    pub run: Option<RunId>,
    pub created_at: Timestamp,
}

impl From<Finding> for FindingView {
    fn from(finding: Finding) -> Self {
        Self {
            id: finding.id,
            kind: finding.kind,
            text: finding.text,
            files: finding.files,
            author: finding.author,
            run: finding.run,
            created_at: finding.created_at,
        }
    }
}

impl View for FindingView {
    fn write(&self, page: &mut Page) {
        let age = ago(self.created_at, page.now());
        page.line(&format!("{} · {} · {age}", self.kind, self.author));
        page.block(&self.text);
        if !self.files.is_empty() {
            page.line(&format!("  files: {}", self.files.join(", ")));
        }
    }
}
