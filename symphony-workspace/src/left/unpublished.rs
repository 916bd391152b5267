//! Commits of submodules that a commit refers to, and that only this repository's worktrees have.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};

use super::modules::{Module, modules_below};
use crate::change::{Inner, inner_at, links_of_commit, repo_path_text};
use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::git::{Git, Link, Place};
use crate::repository::Repository;
use crate::worktree::recorded_path;

/// Most links that are examined for one change, including those in submodules of submodules: an agent can create any
/// number.
const LINKS_MAX: usize = 1_000;

/// A link that names a commit which was never published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnpublishedLink {
    /// The path of the submodule.
    pub path: String,
    /// The commit.
    pub commit: String,
    /// The folder from which it can be pushed.
    pub folder: PathBuf,
    /// Whether that folder is the submodule's, with its remote; else this repository has the commit, saved to a rescue
    /// ref.
    pub is_submodule: bool,
}

impl Repository {
    /// Lists the links that `head` changes against `base` and whose commit only a worktree's submodule, or a rescue
    /// ref, has. A commit that is in neither may have been published.
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
        let worktrees = self.worktree_places();
        let mut modules = Vec::new();
        for place in &worktrees {
            let below = modules_below(&self.git, &place.git_dir)?;
            modules.extend(below.into_iter().map(|module| (place, module)));
        }
        let mut unpublished = Vec::new();
        let mut links = VecDeque::from(links);
        let mut looked_at = 0;
        while let Some(link) = links.pop_front() {
            looked_at += 1;
            if is_in_one(&own, &link.commit)? {
                continue;
            }
            let clones = worktrees.iter().filter_map(|place| {
                let clone = clone_at(&self.git.at(place.clone()), &link.path)?;
                Some((place, clone))
            });
            let clones: Vec<_> = clones.collect();
            let mut folder = None;
            let mut is_published = false;
            for (place, module) in modules.iter().chain(&clones) {
                if module.has_commit(&link.commit)? {
                    // a submodule has submodules of its own, whose commits must be there for all others, too
                    if folder.is_none() && looked_at < LINKS_MAX {
                        links.extend(links_within(module, &link)?);
                    }
                    is_published = is_published || module.is_published(&link.commit)?;
                    folder.get_or_insert_with(|| push_folder(place, &link.path, module));
                }
            }
            let is_submodule = folder.is_some();
            if !is_submodule && self.is_rescued(&link.commit)? {
                folder = Some(self.root().to_owned());
            }
            if let Some(folder) = folder.filter(|_| !is_published) {
                unpublished.push(UnpublishedLink {
                    path: repo_path_text(&link.path),
                    commit: link.commit,
                    folder,
                    is_submodule,
                });
            }
        }
        Ok(unpublished)
    }

    /// Lists the places of all worktrees.
    fn worktree_places(&self) -> Vec<Place> {
        let folder = self.common_dir().join("worktrees");
        let Ok(entries) = fs::read_dir(&folder) else {
            return Vec::new();
        };
        let folders = entries
            .flatten()
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        folders
            .map(|entry| {
                let git_dir = entry.path();
                Place {
                    // a checkout that is gone is nowhere, and so is what was in it
                    work_tree: recorded_path(&git_dir).unwrap_or_else(|| git_dir.clone()),
                    common_dir: self.common_dir().to_owned(),
                    git_dir,
                }
            })
            .collect()
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

/// Returns the links in the commit that a link names, each with its path from the outermost repository.
fn links_within(module: &Module, link: &Link) -> Result<Vec<Link>, WorkspaceError> {
    let Ok(commit) = CommitId::parse(&link.commit) else {
        return Ok(Vec::new());
    };
    let within = links_of_commit(&module.git, &commit)?.into_iter();
    Ok(within
        .map(|inner| Link {
            path: link.path.join(inner.path),
            commit: inner.commit,
        })
        .collect())
}

fn is_in_one(modules: &[Module], commit: &str) -> Result<bool, WorkspaceError> {
    for module in modules {
        if module.has_commit(commit)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the repository at the place of a submodule that keeps its git folder in the checkout, as `git clone` makes
/// one there.
fn clone_at(git: &Git, path: &Path) -> Option<Module> {
    match inner_at(git, path) {
        Inner::Own(git) => Some(Module {
            name: repo_path_text(path),
            git,
        }),
        Inner::Absent | Inner::Module(_) | Inner::Elsewhere => None,
    }
}

/// Returns the checkout of the submodule, or its git folder if it has none.
fn push_folder(place: &Place, path: &Path, module: &Module) -> PathBuf {
    let folder = place.work_tree.join(path);
    if folder.join(".git").exists() {
        folder
    } else {
        module.folder().to_owned()
    }
}
