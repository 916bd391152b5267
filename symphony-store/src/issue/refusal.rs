//! Why an issue is not added, changed or deleted. Agents read these texts, so they say what to do.

use symphony_core::id::{CommentId, IdError, IssueId, PrId, RunId};
use symphony_core::issue::IssueStatus;
use symphony_core::log::PersonsChoice;
use symphony_core::message::{Addressee, UNREAD_BYTES_MAX};

/// How many issues one run may add (spec: mcp, "Limits").
pub(crate) const RUN_ISSUES_MAX: i64 = 20;
/// How many issues one issue may depend on; beyond that, it is a plan.
pub(crate) const DEPENDENCIES_MAX: usize = 100;
/// How many levels of sub-tasks an issue may have: planners that keep splitting what planners split would never end.
pub(crate) const LEVELS_MAX: i64 = 3;

/// What is refused about an issue.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "each text shows what its fields are")]
#[non_exhaustive]
pub enum IssueRefusal {
    /// New issues begin in two statuses only.
    #[error("a new issue cannot be `{0}`: use `backlog` or `todo`")]
    BeginsIn(IssueStatus),
    /// The numbers of the project make no identifier.
    #[error(transparent)]
    NoId(#[from] IdError),
    /// A run has added as many as it may.
    #[error("a run may add at most {RUN_ISSUES_MAX} issues; put the rest into a finding")]
    TooManyOfRun,
    /// An open issue has the same title.
    #[error("{0} is open and has the same title: add a comment or a finding there instead")]
    SameTitle(String),
    /// An open issue has nearly the same title.
    #[error(
        "{issue} is open and has nearly the same title (\"{title}\"): add a comment or a finding there instead, or say in the title what is different"
    )]
    NearTitle { issue: String, title: String },
    /// It would have a parent in another project.
    #[error("{0} belongs to another project: it cannot be the parent")]
    ParentElsewhere(IssueId),
    /// The parent cannot wait for sub-tasks now.
    #[error(
        "{parent} is `{status}`: sub-tasks can be added while it is `todo`, `in_progress` or waits for its sub-tasks"
    )]
    NoSubtasksNow {
        parent: IssueId,
        status: IssueStatus,
    },
    /// Sub-tasks of sub-tasks go so deep only.
    #[error("{0} is itself a sub-task, {LEVELS_MAX} levels deep, and cannot be split further")]
    TooDeep(IssueId),
    /// Its sub-tasks are not done.
    #[error("{issue} waits for its sub-tasks: {open} open, {done} done")]
    SubtasksOpen {
        issue: IssueId,
        open: i64,
        done: i64,
    },
    /// A message would find no reader.
    #[error("{issue} is `{status}`: no agent will read a message")]
    NoReader { issue: IssueId, status: IssueStatus },
    /// More than an agent should have to read waits for it.
    #[error(
        "{waiting} bytes of messages to the {addressee} of {issue} are unread; with this one, the limit of {UNREAD_BYTES_MAX} would be exceeded"
    )]
    TooMuchUnread {
        issue: IssueId,
        addressee: Addressee,
        waiting: usize,
    },
    /// Only messages are withdrawn.
    #[error("comment {0} is not a message to an agent")]
    NoMessage(CommentId),
    /// It is too late.
    #[error("the agent of run {run} has read message {message}")]
    MessageRead { message: CommentId, run: RunId },
    /// It would depend on too many.
    #[error("{issue} would depend on {count} issues; the limit is {DEPENDENCIES_MAX}")]
    TooManyDependencies { issue: IssueId, count: usize },
    /// It would wait for itself.
    #[error("{0} cannot depend on itself")]
    DependsOnItself(IssueId),
    /// Both would wait for each other.
    #[error(
        "{issue} cannot depend on {dependency}: {dependency} waits for {issue}, by its dependencies or its sub-tasks"
    )]
    DependsInCircle { issue: IssueId, dependency: IssueId },
    /// A sub-task would wait for what waits for its parent.
    #[error("a sub-task of {parent} cannot depend on {dependency}: it would wait for itself")]
    SubtaskInCircle {
        parent: IssueId,
        dependency: IssueId,
    },
    /// It would depend on an issue of another project.
    #[error("{0} belongs to another project")]
    DependencyElsewhere(IssueId),
    /// It would wait for ever.
    #[error("a sub-task cannot depend on {0}: it is cancelled and will never be done")]
    DependencyCancelled(IssueId),
    /// An agent would undo what a person has set.
    #[error("{0}")]
    SetByPerson(PersonsChoice),
    /// It is not deleted.
    #[error("{issue} cannot be deleted: {why}")]
    Kept { issue: IssueId, why: KeptFor },
}

/// What keeps an issue from being deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeptFor {
    /// Work of it was merged.
    #[error("its pull request {0} was merged, and its record shows where that work came from")]
    Merged(PrId),
    /// Other issues depend on it, or are its sub-tasks.
    #[error("other issues refer to it")]
    Links,
    /// A run is at work on it.
    #[error("a run is live on it")]
    Run,
    /// It is still to be done.
    #[error("it has not ended")]
    Work,
    /// Its worktree may have work.
    #[error("its worktree still exists")]
    Worktree,
}
