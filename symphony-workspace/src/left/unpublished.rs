//! Commits of submodules that a commit names, and that nobody but this repository's worktrees has.

use std::fs;
use std::path::{Path, PathBuf};

use super::modules::{Module, modules_below};
use crate::change::repo_path_text;
use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::git::Link;
use crate::repository::Repository;
use crate::worktree::recorded_path;

/// A link that names a commit which was never published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnpublishedLink {
    /// The path of the submodule.
    pub path: String,
    /// The commit.
    pub commit: String,
    /// The folder from which it can be pushed.
    pub folder: PathBuf,
    /// Whether that folder is the submodule's, with its remote; else this repository has the commit, saved to a rescue ref.
    pub is_submodule: bool,
}

impl Repository {
    /// Lists the links that `head` has otherwise than `base` and that name a commit which only a worktree's submodule has, or a rescue
    /// ref. A commit that is in no worktree and in no rescue ref is not known to be unpublished.
    ///
    /// # Errors
    /// When git fails.
    pub fn unpublished_links(
        &self,
        base: &CommitId,
        head: &CommitId,
    ) -> Result<Vec<UnpublishedLink>, WorkspaceError> {
        let links = self.reader().links_between(base, head)?;
        if links.is_empty() {
            return Ok(Vec::new());
        }
        let own = modules_below(&self.git, self.common_dir())?;
        let worktrees = self.modules_of_worktrees()?;
        let mut unpublished = Vec::new();
        for Link { path, commit } in links {
            let path = repo_path_text(&path);
            if is_in_one(&own, &commit)? {
                continue;
            }
            let mut folder = None;
            let mut is_published = false;
            for (checkout, module) in &worktrees {
                if module.has_commit(&commit)? {
                    is_published = is_published || module.is_published(&commit)?;
                    folder.get_or_insert_with(|| push_folder(checkout.as_deref(), &path, module));
                }
            }
            let is_submodule = folder.is_some();
            if !is_submodule && self.is_rescued(&commit)? {
                folder = Some(self.root().to_owned());
            }
            if let Some(folder) = folder.filter(|_| !is_published) {
                unpublished.push(UnpublishedLink {
                    path,
                    commit,
                    folder,
                    is_submodule,
                });
            }
        }
        Ok(unpublished)
    }

    /// Lists the submodules of all worktrees, each with the checkout of its worktree.
    fn modules_of_worktrees(&self) -> Result<Vec<(Option<PathBuf>, Module)>, WorkspaceError> {
        let folder = self.common_dir().join("worktrees");
        let Ok(entries) = fs::read_dir(&folder) else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        for entry in entries.flatten() {
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            let git_dir = entry.path();
            let checkout = recorded_path(&git_dir);
            for module in modules_below(&self.git, &git_dir)? {
                found.push((checkout.clone(), module));
            }
        }
        Ok(found)
    }

    fn is_rescued(&self, commit: &str) -> Result<bool, WorkspaceError> {
        let Ok(id) = CommitId::parse(commit) else {
            return Ok(false);
        };
        if !self.has_commit(&id)? {
            return Ok(false);
        }
        let found = self
            .git
            .command("for-each-ref")
            .args(["--count=1", "--format=%(refname)"])
            .arg(format!("--contains={commit}"))
            .arg("refs/symphony/rescue/")
            .run()?;
        Ok(!found.is_empty())
    }
}

fn is_in_one(modules: &[Module], commit: &str) -> Result<bool, WorkspaceError> {
    for module in modules {
        if module.has_commit(commit)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the checkout of the submodule, or its git folder where it has none.
fn push_folder(checkout: Option<&Path>, path: &str, module: &Module) -> PathBuf {
    let folder = checkout.map(|checkout| checkout.join(path));
    let folder = folder.filter(|folder| folder.join(".git").is_file());
    folder.unwrap_or_else(|| module.folder().to_owned())
}
