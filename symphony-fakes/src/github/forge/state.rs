//! What exists at a forge.

use std::collections::{BTreeMap, BTreeSet};

use symphony_core::Timestamp;

use crate::git::{GitFault, GitStore};

/// How a pull request is merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MergeKind {
    /// By a commit with two parents.
    Merge,
    /// As one commit.
    Squash,
    /// By repeating its commits.
    Rebase,
}

/// How a pull request was merged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GithubMerge {
    /// The commit of the base.
    pub commit: String,
    /// Who did it.
    pub by: Option<u64>,
    /// When.
    pub at: Timestamp,
}

/// What a pull request has beside what an issue has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GithubPull {
    /// The number, which is the issue's.
    pub number: u64,
    /// The branch with the change.
    pub head_branch: String,
    /// The branch that it is to be merged into.
    pub base_branch: String,
    /// The commit of the head: of the branch as long as it is open.
    pub head: String,
    /// The commit of the base when it was opened, or when it was merged.
    pub base: String,
    /// Whether it is a draft.
    pub is_draft: bool,
    /// How it was merged.
    pub merged: Option<GithubMerge>,
}

/// A review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GithubReview {
    /// The id.
    pub id: u64,
    /// The number of its pull request.
    pub pull: u64,
    /// Who wrote it; missing for a deleted user.
    pub author: Option<u64>,
    /// `APPROVED`, `CHANGES_REQUESTED`, `COMMENTED`, `DISMISSED` or `PENDING`.
    pub state: String,
    /// The text.
    pub body: String,
    /// The commit that it is about.
    pub commit: String,
    /// When it was submitted.
    pub at: Timestamp,
}

/// A comment at a place of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GithubReviewComment {
    /// The id.
    pub id: u64,
    /// The number of its pull request.
    pub pull: u64,
    /// Its review.
    pub review: u64,
    /// The first comment of its thread, if that is another one.
    pub reply_to: Option<u64>,
    /// Who wrote it; missing for a deleted user.
    pub author: Option<u64>,
    /// The file.
    pub path: String,
    /// The first line, where it is about several.
    pub start_line: Option<u32>,
    /// The line; missing when it is outdated, or about the file.
    pub line: Option<u32>,
    /// The line that it was written at; missing where it is about the file.
    pub original_line: Option<u32>,
    /// Whether it is about lines that the change removes.
    pub is_on_removed: bool,
    /// The newest commit that has the line.
    pub commit: String,
    /// The commit that it was written at.
    pub original_commit: String,
    /// The text.
    pub body: String,
    /// When it was written.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// A run of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GithubCheckRun {
    /// The id, which is the job's too.
    pub id: u64,
    /// The commit.
    pub commit: String,
    /// The name.
    pub name: String,
    /// Whether it is a job of GitHub Actions; otherwise another app reports it.
    pub is_job: bool,
    /// `success`, `failure` …; missing until it has ended.
    pub conclusion: Option<String>,
    /// The title of its output.
    pub title: Option<String>,
    /// The summary of its output.
    pub summary: Option<String>,
    /// A file, a line, and what is wrong there.
    pub annotations: Vec<(String, u32, String)>,
    /// When it began.
    pub at: Timestamp,
}

/// A status that another program reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GithubStatus {
    /// The id.
    pub id: u64,
    /// The commit.
    pub commit: String,
    /// The name.
    pub context: String,
    /// `success`, `failure`, `error` or `pending`.
    pub state: String,
    /// A few words.
    pub description: Option<String>,
    /// When it was reported.
    pub at: Timestamp,
}

/// What a branch demands. A protected one takes no push.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Protection {
    /// Checks that have to pass before a merge.
    pub checks: BTreeSet<String>,
    /// Approvals that a merge needs, by users who may write.
    pub approvals: u64,
    /// Whether a ruleset says it; otherwise the older branch protection.
    pub is_ruleset: bool,
}

/// What exists at a forge.
#[derive(Debug)]
pub(in crate::github) struct Forge {
    pub(super) git: Option<GitStore>,
    /// The branches as they were last looked at.
    pub(super) branches: BTreeMap<String, String>,
    pub(super) pulls: BTreeMap<u64, GithubPull>,
    pub(super) reviews: BTreeMap<u64, GithubReview>,
    pub(super) review_comments: BTreeMap<u64, GithubReviewComment>,
    pub(super) check_runs: BTreeMap<u64, GithubCheckRun>,
    pub(super) statuses: BTreeMap<u64, GithubStatus>,
    pub(super) logs: BTreeMap<u64, String>,
    pub(super) protections: BTreeMap<String, Protection>,
    pub(super) methods: BTreeSet<MergeKind>,
    pub(super) reruns: Vec<u64>,
    /// Whether pushes to a base leave open what they merge.
    pub(super) is_slow: bool,
    /// What goes wrong with git, and how often.
    pub(super) git_fault: Option<(GitFault, usize)>,
}

impl Default for Forge {
    fn default() -> Self {
        Self {
            git: None,
            branches: BTreeMap::new(),
            pulls: BTreeMap::new(),
            reviews: BTreeMap::new(),
            review_comments: BTreeMap::new(),
            check_runs: BTreeMap::new(),
            statuses: BTreeMap::new(),
            logs: BTreeMap::new(),
            protections: BTreeMap::new(),
            methods: [MergeKind::Merge, MergeKind::Squash, MergeKind::Rebase].into(),
            reruns: Vec::new(),
            is_slow: false,
            git_fault: None,
        }
    }
}

impl Forge {
    /// Returns whether a repository allows a way of merging.
    pub(in crate::github) fn allows(&self, kind: MergeKind) -> bool {
        self.methods.contains(&kind)
    }
}
