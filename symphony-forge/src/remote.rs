//! What a forge says of a pull request, its reviews and its checks, in one form for all forges.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};
use symphony_core::Timestamp;
use symphony_tracker::remote::{ExternalId, RemoteUser};

/// The number of a pull request at its forge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PullNumber(u64);

impl PullNumber {
    /// Takes a number as the forge gave it.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// Returns the number.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for PullNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

/// Where a pull request is in its life.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum RemoteState {
    /// It can be reviewed and merged.
    Open,
    /// It was merged.
    Merged {
        /// The commit of the base that has the change: of the merge, or of the squash. Missing where the forge does not say.
        commit: Option<String>,
        /// Who merged it.
        by: Option<RemoteUser>,
    },
    /// It was closed without a merge.
    Closed,
}

/// A pull request at a forge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemotePull {
    /// Its number.
    pub number: PullNumber,
    /// Its page.
    pub url: String,
    /// Where it is in its life.
    pub state: RemoteState,
    /// The branch with the change.
    pub head_branch: String,
    /// The commit that the branch is at.
    pub head: String,
    /// The branch that it is to be merged into.
    pub base_branch: String,
    /// The title.
    pub title: String,
    /// The text, in Markdown, with `\n` as line end.
    pub body: String,
    /// The labels, as written there.
    pub labels: BTreeSet<String>,
    /// Whether it is a draft.
    pub is_draft: bool,
    /// When anything of it was last changed: comments and reviews count, checks do not.
    pub updated_at: Timestamp,
    /// The forge's time when it said this; missing where it does not say.
    pub answered_at: Option<Timestamp>,
}

/// What a review concludes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewVerdict {
    /// The change may be merged.
    Approved,
    /// The change may not be merged as it is.
    ChangesRequested,
    /// Remarks only.
    Commented,
    /// A person took the review back.
    Dismissed,
}

/// How close a user is to the repository, by the forge's own word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// Owner, member of its organisation, or invited to work on it.
    Member,
    /// Anyone else.
    Stranger,
}

/// A review that was submitted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemoteReview {
    /// Its id.
    pub id: ExternalId,
    /// Who wrote it; missing for a deleted user.
    pub author: Option<RemoteUser>,
    /// How close the author is to the repository.
    pub standing: Standing,
    /// What it concludes.
    pub verdict: ReviewVerdict,
    /// The commit that it is about; missing where the forge does not say.
    pub commit: Option<String>,
    /// The text, in Markdown, with `\n` as line end; empty where there are comments at lines alone.
    pub body: String,
    /// When it was submitted.
    pub at: Timestamp,
}

/// Lines of a file in the change's new version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemoteLines {
    /// The first one, from 1.
    pub first: u32,
    /// The last one.
    pub last: u32,
}

/// A comment at a place of the change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemoteReviewComment {
    /// Its id.
    pub id: ExternalId,
    /// The review that it belongs to.
    pub review: Option<ExternalId>,
    /// The comment that it replies to: the first one of its thread.
    pub reply_to: Option<ExternalId>,
    /// Who wrote it; missing for a deleted user.
    pub author: Option<RemoteUser>,
    /// How close the author is to the repository.
    pub standing: Standing,
    /// The file.
    pub path: String,
    /// The lines in the new version; missing for a comment on a file, on removed lines, or at a place that is gone.
    pub lines: Option<RemoteLines>,
    /// The commit that it is about.
    pub commit: Option<String>,
    /// The text, in Markdown, with `\n` as line end.
    pub body: String,
    /// When it was written.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// What became of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckResult {
    /// It has not ended.
    Waiting,
    /// It passed, or says that it does not matter (skipped, neutral).
    Passed,
    /// It failed, timed out, or was cancelled.
    Failed,
}

/// A check of a commit: a run of a workflow's job, or a status that another program reported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemoteCheck {
    /// Its name, by which a base branch requires it.
    pub name: String,
    /// The id of the run; missing for a status, which cannot be run again.
    pub run: Option<ExternalId>,
    /// Whether its log can be read and the job be run again by [`RemoteCheck::run`].
    pub is_job: bool,
    /// What became of it.
    pub result: CheckResult,
    /// What it says in its own words: a title, a summary, annotations. Cut to a few thousand characters.
    pub summary: String,
    /// Its page.
    pub url: Option<String>,
    /// When it began, or was reported.
    pub at: Option<Timestamp>,
}

/// What a forge answers to the wish to run a job again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RerunAnswer {
    /// It runs again.
    Started,
    /// Jobs that it belongs to are still running: it can be asked for later.
    Busy,
    /// It may not run again.
    Refused,
}

/// What a forge demands of a branch.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BranchRules {
    /// Whether a direct push to it is refused.
    pub is_protected: bool,
    /// The names of the checks that have to pass before a merge into it; missing where the token may not see them.
    pub required_checks: Option<BTreeSet<String>>,
}

/// How a pull request is merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MergeMethod {
    /// By a commit with two parents.
    Merge,
    /// As one commit.
    Squash,
    /// By repeating its commits on the base.
    Rebase,
}

/// What came of a wish to merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MergeAnswer {
    /// It is merged, as this commit.
    Merged {
        /// The commit of the base.
        commit: String,
    },
    /// The forge does not merge it now: checks, reviews or conflicts are in the way.
    NotMergeable {
        /// The forge's words.
        detail: String,
    },
    /// The branch is at another commit than the one that was to be merged.
    HeadMoved,
}
