//! Comments and findings.

use serde::Serialize;
use symphony_core::Timestamp;
use symphony_core::asker::verification_note;
use symphony_core::id::{CommentId, FindingId, IssueId, RunId};
use symphony_core::issue::{Comment, CommentAuthor, Finding, FindingKind};

use crate::output::{Page, View, ago};

/// A comment.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct CommentView {
    pub(crate) id: CommentId,
    pub(crate) issue: IssueId,
    pub(crate) author: CommentAuthor,
    pub(crate) content: String,
    pub(crate) created_at: Timestamp,
    /// Why Symphony could not tell that a person wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) unverified: Option<String>,
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
        } = comment;
        Self {
            id,
            issue,
            author,
            content,
            created_at,
            unverified,
        }
    }
}

impl View for CommentView {
    fn write(&self, page: &mut Page) {
        page.line(&format!(
            "{}{} · {}",
            self.author,
            verification_note(self.unverified.as_deref()),
            ago(self.created_at, page.now())
        ));
        page.block(&self.content);
    }
}

/// A finding.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct FindingView {
    pub(crate) id: FindingId,
    pub(crate) kind: FindingKind,
    pub(crate) text: String,
    pub(crate) files: Vec<String>,
    pub(crate) author: CommentAuthor,
    pub(crate) run: Option<RunId>,
    pub(crate) created_at: Timestamp,
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
