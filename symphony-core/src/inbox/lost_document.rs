//! Accepted documents that are no longer in the repository: agents get neither them nor their acceptance criteria.

use super::InboxKind;
use super::item::InboxItem;
use crate::Timestamp;
use crate::command_line::shell_quoted;
use crate::id::{IssueId, PhaseName, ProjectId};

/// Characters of a commit that a text shows.
const COMMIT_CHARS: usize = 12;

/// A document that was accepted, and is now neither in its commit nor on the base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostDocument {
    /// The project.
    pub project: ProjectId,
    /// The issue.
    pub issue: IssueId,
    /// The phase.
    pub phase: PhaseName,
    /// Where it was.
    pub path: String,
    /// The commit that had it.
    pub commit: String,
    /// The base branch.
    pub base: String,
    /// When it was claimed.
    pub since: Timestamp,
}

impl LostDocument {
    /// Describes what is lost, the consequences, and what to do.
    pub fn text(&self) -> String {
        let commit = self.commit.get(..COMMIT_CHARS).unwrap_or(&self.commit);
        format!(
            "the accepted document {} of the phase {} is lost: its commit {commit} is no longer in the repository. \
             Agents get neither the document nor its acceptance criteria. Fetch the commit from a clone that has it, \
             or commit the document again on {}",
            self.path, self.phase, self.base
        )
    }
}

impl From<&LostDocument> for InboxItem {
    fn from(lost: &LostDocument) -> Self {
        Self {
            project: Some(lost.project.clone()),
            issue: Some(lost.issue.clone()),
            text: lost.text(),
            answers: vec![
                format!("git log --all --oneline -- {}", shell_quoted(&lost.path)),
                format!("symphony issue show {}", lost.issue),
            ],
            ..InboxItem::new(
                InboxKind::Document,
                lost.since,
                format!("document:{}:{}", lost.issue, lost.phase),
            )
        }
    }
}
