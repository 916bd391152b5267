//! What every forge can be asked.

use symphony_forge::change::{MergeWish, NewPull, PullChange};
use symphony_forge::remote::{
    BranchRules, MergeAnswer, PullNumber, RemoteCheck, RemotePull, RemoteReview,
    RemoteReviewComment, RerunAnswer,
};
use symphony_tracker::remote::{ExternalId, RemoteComment, RemoteUser};

use crate::access::Access;
use crate::tracker::Answering;

/// A forge. Each method sends one request or a few, waits for each at most as long as [`crate::limits`] says, and repeats none.
pub trait Forge: Send + Sync + std::fmt::Debug {
    /// Asks who the token is and what it may do with pull requests, checks and their logs.
    fn check(&self) -> Answering<'_, Access>;

    /// Asks which repository it is: an id that no rename changes.
    fn repository(&self) -> Answering<'_, ExternalId>;

    /// Asks who the token acts as; `None` for one that acts as no user.
    fn user(&self) -> Answering<'_, Option<RemoteUser>>;

    /// Reads what is demanded of a branch. What the token may not see is missing in the answer.
    fn rules<'a>(&'a self, branch: &'a str) -> Answering<'a, BranchRules>;

    /// Finds the newest pull request from a branch of the repository itself into a base, whatever its state.
    fn find<'a>(
        &'a self,
        head_branch: &'a str,
        base_branch: &'a str,
    ) -> Answering<'a, Option<RemotePull>>;

    /// Reads one pull request as it is now.
    fn pull(&self, number: PullNumber) -> Answering<'_, RemotePull>;

    /// Opens a pull request. Where one is open for the branch already, the fault is [`Refused`](crate::Fault::Refused).
    fn open<'a>(&'a self, new: &'a NewPull) -> Answering<'a, RemotePull>;

    /// Changes a pull request.
    fn update<'a>(
        &'a self,
        number: PullNumber,
        change: &'a PullChange,
    ) -> Answering<'a, RemotePull>;

    /// Reads its submitted reviews, the oldest first.
    fn reviews(&self, number: PullNumber) -> Answering<'_, Vec<RemoteReview>>;

    /// Reads the comments at places of the change, the oldest first.
    fn review_comments(&self, number: PullNumber) -> Answering<'_, Vec<RemoteReviewComment>>;

    /// Reads the comments in its conversation, the oldest first.
    fn comments(&self, number: PullNumber) -> Answering<'_, Vec<RemoteComment>>;

    /// Writes a comment in its conversation, and returns its id.
    fn add_comment<'a>(&'a self, number: PullNumber, body: &'a str) -> Answering<'a, ExternalId>;

    /// Replies in the thread of a review comment, and returns the reply's id.
    fn reply<'a>(
        &'a self,
        number: PullNumber,
        thread: &'a ExternalId,
        body: &'a str,
    ) -> Answering<'a, ExternalId>;

    /// Reads the newest check of each name on a commit, by name.
    fn checks<'a>(&'a self, commit: &'a str) -> Answering<'a, Vec<RemoteCheck>>;

    /// Reads the end of a job's log, at most `bytes_max` bytes; `None` where it has none any more or the token may not read it.
    fn log_end<'a>(
        &'a self,
        run: &'a ExternalId,
        bytes_max: usize,
    ) -> Answering<'a, Option<String>>;

    /// Runs a job again. One that may never run again is a fault.
    fn run_again<'a>(&'a self, run: &'a ExternalId) -> Answering<'a, RerunAnswer>;

    /// Merges a pull request.
    fn merge<'a>(&'a self, number: PullNumber, wish: &'a MergeWish) -> Answering<'a, MergeAnswer>;
}
