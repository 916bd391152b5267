//! What has not ended, as the database has it.

use crate::Timestamp;
use crate::id::{IssueId, PrId, ProjectId};
use crate::issue::BlockedBy;
use crate::publication::PublicationState;
use crate::pull_request::PullRequestOf;
use crate::tick::Candidate;

/// How long a started publication counts as a running command, in milliseconds: longer than its time limit.
pub const UNSEEN_PUBLICATION_MS: i64 = 15 * 60 * 1000;

/// Everything that has not ended; plans are in the snapshot.
#[derive(Debug, Clone, Default)]
pub struct OpenItems {
    /// Issues that are neither done nor cancelled.
    pub issues: Vec<OpenIssue>,
    /// Open and approved pull requests.
    pub pull_requests: Vec<OpenPullRequest>,
    /// Open pull requests whose last publication did not succeed.
    pub unpublished: Vec<UnpublishedPr>,
}

/// An issue that has not ended.
#[derive(Debug, Clone)]
pub struct OpenIssue {
    /// The issue.
    pub issue: IssueId,
    /// Its project.
    pub project: ProjectId,
    /// Its state.
    pub state: OpenState,
}

/// The state of an issue that has not ended.
#[derive(Debug, Clone)]
pub enum OpenState {
    /// In the backlog.
    Backlog(Parked),
    /// In `todo`, as a tick sees it, with the dependencies that are not done.
    Todo(Box<Candidate>),
    /// In progress.
    InProgress,
    /// In review.
    Review,
    /// Blocked.
    Blocked {
        /// By what.
        by: BlockedBy,
        /// Its sub-tasks that have not ended.
        open_subtasks: Vec<IssueId>,
    },
}

/// Who put an issue into the backlog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parked {
    /// A person.
    ByPerson,
    /// An agent made it there.
    Proposed,
    /// The circuit breaker.
    ByBreaker,
}

/// An open pull request.
#[derive(Debug, Clone)]
pub struct OpenPullRequest {
    /// The pull request.
    pub pr: PrId,
    /// What it finishes.
    pub of: PullRequestOf,
}

/// An open pull request whose last publication did not succeed.
#[derive(Debug, Clone)]
pub struct UnpublishedPr {
    /// The pull request.
    pub pr: PrId,
    /// What it finishes.
    pub of: PullRequestOf,
    /// How far its last publication came.
    pub state: PublicationState,
    /// When that began.
    pub started_at: Timestamp,
}
