//! What a pull request would bring into its base.

use symphony_core::id::PrId;
use symphony_core::pull_request::PullRequestOf;
use symphony_workspace::CommitId;

/// The head of a pull request, and the commit of the base that it would be merged into.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Incoming<'a> {
    /// The pull request.
    pub(crate) pr: PrId,
    /// What it finishes.
    pub(crate) of: &'a PullRequestOf,
    /// The base branch.
    pub(crate) branch: &'a str,
    /// The commit that the base is at.
    pub(crate) base: &'a CommitId,
    /// The head of the pull request.
    pub(crate) head: &'a CommitId,
}
