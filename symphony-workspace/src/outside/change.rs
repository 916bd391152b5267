//! Whether a base has the whole change of a head, however it got there.

use symphony_core::outside::Evidence;

use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::git::Git;
use crate::merge::merge_trees;
use crate::repository::{BranchName, Repository, tree_of};

/// Paths by which commits are found that touch a change; a whole merge touches all of them, so that a few are enough.
const PATHS_MAX: usize = 100;
/// Commits on the first-parent line of which the files are compared: each costs a merge of trees.
const CANDIDATES_MAX: &str = "16";
/// Commits on the first-parent line that are searched for a merge of the head itself.
const LINE_MAX: &str = "1000";
/// Commits of the base whose patches are compared: more would take seconds in a large repository.
const PATCHES_MAX: usize = 500;

/// Asks whether a base has a change.
#[derive(Debug, Clone)]
pub struct ChangeQuery<'a> {
    /// The base branch.
    pub branch: &'a BranchName,
    /// Its head.
    pub base: &'a CommitId,
    /// Where the base was at the last look, or where the change began.
    pub since: &'a CommitId,
    /// The head of the change.
    pub head: &'a CommitId,
    /// The files that the change touches.
    pub files: &'a [&'a str],
}

/// A change that the base has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundChange {
    /// The first commit of the base, since the last look, that has all of it.
    pub commit: CommitId,
    /// How the base shows it.
    pub evidence: Evidence,
    /// Who put it there, if git says so.
    pub by: Option<String>,
}

impl Repository {
    /// Finds out whether a base has the whole change of a head: its commits, the same files, or the same patches. A
    /// part of it, or an edited version, is not the change.
    ///
    /// # Errors
    /// When git fails, or one of the commits is not here.
    pub fn find_change(
        &self,
        query: &ChangeQuery<'_>,
    ) -> Result<Option<FoundChange>, WorkspaceError> {
        let found = match self.in_history(query)? {
            Some(commit) => Some((commit, Evidence::History)),
            None => self.in_files(query)?,
        };
        let Some((commit, evidence)) = found else {
            return Ok(None);
        };
        Ok(Some(FoundChange {
            by: self.merger_of(&commit, query)?,
            commit,
            evidence,
        }))
    }

    /// Returns the first commit on the base's first-parent line that has the head in its history.
    fn in_history(&self, query: &ChangeQuery<'_>) -> Result<Option<CommitId>, WorkspaceError> {
        if !self.is_merged(query.head, query.base)? {
            return Ok(None);
        }
        let line = first_parents(&self.git, query, LINE_MAX, &[])?;
        // On this line, a commit contains the head if its predecessor does, so a binary search works.
        let (mut from, mut to) = (0, line.len());
        while from < to {
            let middle = usize::midpoint(from, to);
            let has_it = match line.get(middle) {
                Some(commit) => self.is_merged(query.head, commit)?,
                None => true,
            };
            if has_it {
                to = middle;
            } else {
                from = middle + 1;
            }
        }
        Ok(Some(line.get(from).unwrap_or(query.base).clone()))
    }

    /// Compares files, and then patches, of the commits that touch the change.
    fn in_files(
        &self,
        query: &ChangeQuery<'_>,
    ) -> Result<Option<(CommitId, Evidence)>, WorkspaceError> {
        if query.since == query.base {
            return Ok(None);
        }
        let files = query.files.get(..PATHS_MAX).unwrap_or(query.files);
        let candidates = first_parents(&self.git, query, CANDIDATES_MAX, files)?;
        for commit in &candidates {
            // What merging would not change is there already. That the head changes nothing at all is ruled out: a
            // pull request has files.
            let merged = merge_trees(&self.git, commit, query.head)?;
            if merged.is_ok_and(|tree| tree_of(&self.git, commit).is_ok_and(|own| own == tree)) {
                return Ok(Some((commit.clone(), Evidence::Tree)));
            }
        }
        if candidates.is_empty() || self.commits_ahead(query.since, query.base)? > PATCHES_MAX {
            return Ok(None);
        }
        Ok(self
            .in_patches(query)?
            .map(|commit| (commit, Evidence::Patch)))
    }

    /// Returns the newest of the base's commits that have the patches of the branch, where each patch has one. A branch
    /// with merge commits has changes that no patch shows.
    fn in_patches(&self, query: &ChangeQuery<'_>) -> Result<Option<CommitId>, WorkspaceError> {
        let merges = self
            .git
            .command("rev-list")
            .args(["--merges", "--max-count=1"])
            .args([query.head.as_str(), &format!("^{}", query.base)])
            .slow()
            .run()?;
        if !merges.is_empty() {
            return Ok(None);
        }
        let marked = self
            .git
            .command("rev-list")
            .args(["--no-merges", "--left-right", "--cherry-mark"])
            .arg(format!("{}...{}", query.base, query.head))
            .arg(format!("^{}", query.since))
            .slow()
            .run()?;
        let text = String::from_utf8_lossy(&marked);
        if text.lines().any(|line| line.starts_with('>')) {
            return Ok(None);
        }
        for line in text.lines() {
            let Some(commit) = line.strip_prefix('=') else {
                continue;
            };
            let Ok(commit) = CommitId::parse(commit) else {
                continue;
            };
            if self.is_merged(&commit, query.base)? {
                return Ok(Some(commit));
            }
        }
        Ok(None)
    }
}

/// Returns the commits on the first-parent line since the last look, oldest first: those that touch `files`, where some
/// are named, and of more than `max` the newest.
fn first_parents(
    git: &Git,
    query: &ChangeQuery<'_>,
    max: &str,
    files: &[&str],
) -> Result<Vec<CommitId>, WorkspaceError> {
    let list = git
        .command("rev-list")
        .args(["--first-parent", "--max-count", max])
        .args([query.base.as_str(), &format!("^{}", query.since), "--"])
        .args(files)
        .slow()
        .run()?;
    let text = String::from_utf8_lossy(&list);
    let commits = text.lines().rev();
    Ok(commits
        .filter_map(|line| CommitId::parse(line).ok())
        .collect())
}
