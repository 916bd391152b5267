//! Issues: what they are, the states they pass through, and who may move them.

mod attributes;

pub use attributes::{CommentAuthor, FindingKind, IssueStatus, Priority, Size};
