//! What every tracker can be asked.

use std::pin::Pin;

use symphony_tracker::change::{Applied, Outgoing};
use symphony_tracker::fault::Fault;
use symphony_tracker::remote::{Cursor, ExternalId, Page, RemoteComment, RemoteIssue};

use crate::access::Access;

/// An answer that is on its way.
pub type Answering<'a, T> = Pin<Box<dyn Future<Output = Result<T, Fault>> + Send + 'a>>;

/// A tracker. Each method sends one request or a few, waits for each at most as long as [`crate::limits`] says, and repeats
/// none: when to try again is the caller's decision.
pub trait Tracker: Send + Sync + std::fmt::Debug {
    /// Returns how far the tracker's clock is ahead of this machine's, in milliseconds, by its last answer: its times are compared with
    /// ours by this. It can be less by the time that the answer took, and by a second.
    fn clock_ahead_ms(&self) -> i64;

    /// Asks who the token is and what it may do here.
    fn check(&self) -> Answering<'_, Access>;

    /// Asks for a change that no tracker makes, to learn whether it refuses the change or the token; `None` if the answer says neither.
    fn may_write(&self) -> Answering<'_, Option<bool>>;

    /// Reads one page of what changed, from where a cursor points: issues and comments, pull requests left out.
    ///
    /// Nothing that changed is skipped, however many changes share a time stamp and whatever changes while pages are
    /// read; what was read before can come again. Within a page the oldest change comes first. A look at a tracker where
    /// nothing happened costs nothing of GitHub's limit, and one small query of Linear's.
    fn changed<'a>(&'a self, cursor: &'a Cursor) -> Answering<'a, Page>;

    /// Reads issues as they are now. Those that do not exist any more, cannot be seen, were moved elsewhere or are pull
    /// requests are left out of the answer.
    fn issues<'a>(&'a self, ids: &'a [ExternalId]) -> Answering<'a, Vec<RemoteIssue>>;

    /// Reads the comments of one issue as they are now, the oldest first: for an issue that is taken in after others wrote on
    /// it, since [`Tracker::changed`] had those comments before.
    fn comments<'a>(&'a self, issue: &'a ExternalId) -> Answering<'a, Vec<RemoteComment>>;

    /// Applies one change.
    ///
    /// No tracker has conditional writes: between the caller's last look at the issue ([`Tracker::issues`]) and this
    /// request, a person's edit of the same field is overwritten. The caller keeps that window short by looking right
    /// before it sends a text.
    ///
    /// A change that creates something and `was_tried` is first searched for, so that it is created once even if an
    /// earlier answer was lost.
    fn apply<'a>(&'a self, outgoing: &'a Outgoing) -> Answering<'a, Applied>;
}
