//! Git repositories inside a worktree, whose files a commit of the worktree cannot hold.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::change::{
    Inner, differs_from_link, has_unpublished_commits, inner_at, links_of_commit, links_of_index,
    repo_path_text,
};
use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::git::{Git, Link, fields};
use crate::repository::Repository;
use crate::worktree::Worktree;

/// Repositories inside a worktree that hold work.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct InnerWork {
    /// Repositories that the project does not know as submodules.
    pub(super) nested: BTreeSet<String>,
    /// Submodules with commits or changes that exist nowhere else.
    pub(super) submodules: BTreeSet<String>,
}

impl Repository {
    /// Lists the git repositories inside a worktree that are no submodules of the project, relative to it and sorted:
    /// untracked ones, and those that were committed as a bare link since the merge base with `base`. No commit of the
    /// worktree holds their files.
    ///
    /// # Errors
    /// When git fails.
    pub fn nested_repositories(
        &self,
        worktree: &Worktree,
        base: Option<&CommitId>,
    ) -> Result<Vec<String>, WorkspaceError> {
        Ok(self
            .inner_work(worktree, base)?
            .nested
            .into_iter()
            .collect())
    }

    pub(super) fn inner_work(
        &self,
        worktree: &Worktree,
        base: Option<&CommitId>,
    ) -> Result<InnerWork, WorkspaceError> {
        let git = &worktree.git;
        let embedded = self.status(worktree)?.embedded;
        let mut work = InnerWork {
            nested: embedded.iter().map(|path| repo_path_text(path)).collect(),
            submodules: BTreeSet::new(),
        };
        let links = links_of_index(git)?;
        if links.is_empty() {
            return Ok(work);
        }
        let before = self.links_before(worktree, base)?;
        let declared = declared_submodules(git)?;
        for link in links {
            let old = before.iter().find(|old| old.path == link.path);
            let inner = inner_at(git, &link.path);
            let path = repo_path_text(&link.path);
            // What cannot be inspected may hold work.
            if old.is_none() && is_bare_link(&link, &inner, &declared).unwrap_or(true) {
                work.nested.insert(path);
            } else if has_own_work(&link, old, &inner).unwrap_or(true) {
                work.submodules.insert(path);
            }
        }
        Ok(work)
    }

    /// Returns the links that the project had before the branch began.
    fn links_before(
        &self,
        worktree: &Worktree,
        base: Option<&CommitId>,
    ) -> Result<Vec<Link>, WorkspaceError> {
        let head = self.head(worktree)?;
        let from = match base {
            Some(base) => self.reader().merge_base(base, &head)?,
            None => None,
        };
        match from {
            Some(from) => links_of_commit(&self.git, &from),
            None => Ok(Vec::new()),
        }
    }
}

/// Returns whether a new link leads to a repository that no one else can have: it is not declared as a submodule, or
/// its commit was never published.
fn is_bare_link(
    link: &Link,
    inner: &Inner,
    declared: &BTreeSet<PathBuf>,
) -> Result<bool, WorkspaceError> {
    Ok(match inner {
        _ if !declared.contains(&link.path) => true,
        Inner::Absent => false,
        Inner::Elsewhere => true,
        Inner::Own(inner) | Inner::Module(inner) => has_unpublished_commits(inner)?,
    })
}

/// Returns whether a submodule has work that exists only in this worktree. A submodule that equals the base's is not
/// inspected further.
fn has_own_work(link: &Link, old: Option<&Link>, inner: &Inner) -> Result<bool, WorkspaceError> {
    let (Inner::Own(git) | Inner::Module(git)) = inner else {
        return Ok(false);
    };
    if differs_from_link(git, link)? {
        return Ok(true);
    }
    let moved = old.is_none_or(|old| old.commit != link.commit);
    Ok(moved && has_unpublished_commits(git)?)
}

/// Returns the paths that `.gitmodules` declares, as the index has it.
fn declared_submodules(git: &Git) -> Result<BTreeSet<PathBuf>, WorkspaceError> {
    let answer = git
        .command("config")
        .args(["--no-includes", "--blob", ":.gitmodules", "-z"])
        .args(["--get-regexp", r"^submodule\..*\.path$"])
        .answer(&[0, 1, 128])?;
    Ok(fields(&answer.stdout)
        .filter_map(|entry| {
            let entry = str::from_utf8(entry).ok()?;
            entry.split_once('\n').map(|(_, path)| PathBuf::from(path))
        })
        .collect())
}
