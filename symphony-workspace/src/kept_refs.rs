//! Deleted or rewritten branches and dropped stash entries that lose nothing, and so are not reported: a merged branch
//! that was deleted, a rebase, an entry that was popped.

use std::collections::BTreeSet;
use std::path::Path;

use symphony_core::shared_refs::{ChangedRef, SharedRefs};

use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::git::fields;
use crate::identity::is_own_branch;
use crate::repository::Repository;

/// How many commits of a rewritten branch are compared by their changes. A person rebases fewer.
const REWRITTEN_MAX: usize = 200;
/// The prefix of the full name of a branch.
const BRANCHES: &str = "refs/heads/";

impl Repository {
    /// Returns the commits that a branch or a tag has now, in one call of git. Symphony's own branches do not count,
    /// since they are removed with their issues.
    ///
    /// # Errors
    /// When git fails.
    pub(crate) fn reachable_now(
        &self,
        commits: &BTreeSet<&String>,
        now: &SharedRefs,
    ) -> Result<BTreeSet<String>, WorkspaceError> {
        let is_own = |name: &str| name.strip_prefix(BRANCHES).is_some_and(is_own_branch);
        let lasting = now.refs.iter().filter(|(name, _)| !is_own(name));
        let mut input = String::new();
        for commit in commits {
            input.extend([commit.as_str(), "\n"]);
        }
        for (_, object) in lasting {
            input.extend(["^", object, "\n"]);
        }
        let listed = self
            .git
            .command("rev-list")
            .args(["--stdin"])
            .stdin(input.into_bytes())
            .run()?;
        let listed = String::from_utf8_lossy(&listed).into_owned();
        let lost: BTreeSet<&str> = listed.lines().collect();
        let kept = commits
            .iter()
            .filter(|commit| !lost.contains(commit.as_str()));
        Ok(kept.map(|commit| (*commit).clone()).collect())
    }

    /// Returns whether a moved branch has the same changes in other commits, as after a rebase or a new message. False
    /// if git cannot tell.
    pub(crate) fn is_rewritten_alike(&self, changed: &ChangedRef) -> bool {
        let commits = changed.now.as_deref().map(CommitId::parse);
        let (Ok(was), Some(Ok(now))) = (CommitId::parse(&changed.was), commits) else {
            return false;
        };
        self.has_same_changes(&was, &now).unwrap_or(false)
    }

    fn has_same_changes(&self, was: &CommitId, now: &CommitId) -> Result<bool, WorkspaceError> {
        if self.commits_ahead(now, was)? > REWRITTEN_MAX {
            return Ok(false);
        }
        let merges = self
            .git
            .command("rev-list")
            .args([
                "--merges",
                "--max-count=1",
                was.as_str(),
                &format!("^{now}"),
            ])
            .run()?;
        // The changes that a merge commit makes itself are not compared.
        if !merges.is_empty() {
            return Ok(false);
        }
        let compared = self
            .git
            .command("cherry")
            .args([now.as_str(), was.as_str()])
            .run()?;
        let compared = String::from_utf8_lossy(&compared).into_owned();
        Ok(compared.lines().all(|line| line.starts_with("- ")))
    }

    /// Returns whether the project's own checkout has everything that a dropped stash entry has, as after
    /// `git stash pop`. False if git cannot tell.
    pub(crate) fn is_stash_applied(&self, entry: &str) -> bool {
        CommitId::parse(entry).is_ok_and(|entry| self.has_files_of(&entry).unwrap_or(false))
    }

    fn has_files_of(&self, entry: &CommitId) -> Result<bool, WorkspaceError> {
        let parents = self
            .git
            .command("rev-list")
            .args(["--parents", "--max-count=1", entry.as_str()])
            .line()?;
        let mut parents = parents.split(' ').skip(1);
        let (Some(before), untracked) = (parents.next(), parents.nth(1)) else {
            return Ok(false);
        };
        let changed = self
            .git
            .command("diff-tree")
            .args(["-r", "-z", "--no-renames", before, entry.as_str()])
            .run()?;
        let mut files = Vec::new();
        let mut parts = fields(&changed);
        while let (Some(about), Some(path)) = (parts.next(), parts.next()) {
            files.push((about.to_vec(), path.to_vec()));
        }
        if let Some(untracked) = untracked {
            let listed = self
                .git
                .command("ls-tree")
                .args([
                    "-r",
                    "-z",
                    "--format=: %(objectmode) - %(objectname) A%x00%(path)",
                    untracked,
                ])
                .run()?;
            let mut parts = fields(&listed);
            while let (Some(about), Some(path)) = (parts.next(), parts.next()) {
                files.push((about.to_vec(), path.to_vec()));
            }
        }
        self.checkout_has(&files)
    }

    /// Returns whether the files of the project's own checkout match the output of `git diff-tree`.
    fn checkout_has(&self, files: &[(Vec<u8>, Vec<u8>)]) -> Result<bool, WorkspaceError> {
        let mut paths = Vec::new();
        let mut objects = Vec::new();
        for (about, path) in files {
            let about = String::from_utf8_lossy(about);
            let mut words = about.split(' ');
            let (mode, object) = (words.nth(1), words.nth(1));
            let (Some(mode), Some(object), Ok(path)) = (mode, object, std::str::from_utf8(path))
            else {
                return Ok(false);
            };
            let place = self.root().join(Path::new(path));
            let found = place.symlink_metadata();
            if mode == "000000" {
                if found.is_ok() {
                    return Ok(false);
                }
                continue;
            }
            if path.contains('\n') || !found.is_ok_and(|found| found.is_file()) {
                return Ok(false);
            }
            paths.push(place.display().to_string());
            objects.push(object.to_owned());
        }
        if paths.is_empty() {
            return Ok(true);
        }
        let found = self
            .git
            .command("hash-object")
            .args(["--no-filters", "--stdin-paths"])
            .stdin(paths.join("\n").into_bytes())
            .run()?;
        let found = String::from_utf8_lossy(&found).into_owned();
        Ok(found.lines().eq(objects.iter().map(String::as_str)))
    }
}
