//! Issues: what they are, the states they pass through, and who may move them.

mod attributes;
mod dependents;
mod near_title;
mod record;
#[cfg(test)]
pub(crate) mod samples;
mod state;
mod transfer;

pub use attributes::{
    CommentAuthor, FindingKind, IssueStatus, Priority, Resolution, Size, TriageOutcome,
};
pub use dependents::{Dependency, DependentEffect, DependentsFate, settle_dependents};
pub use near_title::is_near_title;
pub use record::{
    AttemptCounts, Comment, FieldError, Finding, Issue, LABEL_CHARS_MAX, LABELS_MAX,
    NEEDS_PLANNING_LABEL, PATHS_MAX, PHASE_LABEL_PREFIX, TEXT_BYTES_MAX, TITLE_CHARS_MAX,
    check_labels, check_line, check_paths, check_required_text, check_text, check_title, phase_of,
};
pub use state::{
    Block, BlockedBy, BreakerTarget, IssueEvent, IssueState, NextPhase, Review, TransitionError,
    allowed_moves, apply, human_move,
};
pub use transfer::{
    IMPORT_ISSUES_MAX, ImportPlan, IssueLine, IssueRef, KnownIssue, PlannedIssue, TransferProblem,
    plan_import, read_json_lines, read_markdown, write_json_lines, write_markdown,
};
