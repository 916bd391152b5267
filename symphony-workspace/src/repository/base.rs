//! Which branch is the base.

use std::path::Path;

use super::branch::BranchName;
use super::open::Repository;
use super::options::RepositoryOptions;
use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::identity::is_own_branch;

/// The branch that work starts from and is merged into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Base {
    /// The branch.
    pub branch: BranchName,
    /// Its head at the time of asking.
    pub commit: CommitId,
}

/// Usual names of a default branch, if nothing says which it is.
const USUAL_NAMES: &[&str] = &["main", "master", "trunk"];

impl Repository {
    /// Returns the base branch: the configured one, else the default branch.
    ///
    /// # Errors
    /// [`WorkspaceError::BranchMissing`] when the configured branch does not exist, otherwise as
    /// [`Repository::default_branch`].
    pub fn base(&self) -> Result<Base, WorkspaceError> {
        let branch = match &self.options.base_branch {
            Some(name) => BranchName::parse(name)?,
            None => self.default_branch()?,
        };
        self.at_head(branch)
    }

    fn at_head(&self, branch: BranchName) -> Result<Base, WorkspaceError> {
        let commit = self
            .branch_head(&branch)?
            .ok_or_else(|| WorkspaceError::BranchMissing {
                branch: branch.to_string(),
                root: self.root.clone(),
            })?;
        Ok(Base { branch, commit })
    }

    /// Checks that work can start: there is a repository with a checkout, it has its base branch, its files can be
    /// checked out where worktrees are, and branches can be created for them. If the branch is configured or has a
    /// usual name, the repository is not asked for it.
    ///
    /// # Errors
    /// As [`Repository::open`], [`Repository::base`], [`Repository::require_filters`],
    /// [`Repository::require_own_branches`], [`Repository::require_writable`] and
    /// [`Repository::require_worktrees_folder`].
    pub fn require_base(path: &Path, options: RepositoryOptions) -> Result<(), WorkspaceError> {
        let repository = Self::unchecked(path, options.clone())?;
        repository.refuse_bare()?;
        let finds = |name: &str| repository.reader().finds(&format!("refs/heads/{name}"));
        let known = match &options.base_branch {
            Some(name) => Some(BranchName::parse(name)?.as_str().to_owned()),
            None => USUAL_NAMES
                .iter()
                .find(|name| finds(name))
                .map(|name| (*name).to_owned()),
        };
        let branch = match known.filter(|name| finds(name)) {
            Some(name) => name,
            None => Self::open(path, options)?.base()?.branch.to_string(),
        };
        repository.refuse_alias(branch)?;
        repository.require_filters()?;
        repository.require_own_branches()?;
        repository.require_writable()?;
        repository.require_worktrees_folder()
    }

    /// Refuses a base branch that is a symbolic ref to a branch of an agent: it would move with that agent's commits.
    fn refuse_alias(&self, branch: String) -> Result<(), WorkspaceError> {
        let target = self.reader().leads_to(&format!("refs/heads/{branch}"));
        let own = |target: &String| {
            target
                .strip_prefix("refs/heads/")
                .is_some_and(is_own_branch)
        };
        match target.filter(own) {
            None => Ok(()),
            Some(target) => Err(WorkspaceError::SymbolicBase {
                branch,
                target,
                root: self.root.clone(),
            }),
        }
    }

    /// Returns the heads of branches, without any other check of the repository; `None` for one that does not exist.
    ///
    /// # Errors
    /// When there is no repository, or git fails.
    pub fn heads_of(
        path: &Path,
        options: RepositoryOptions,
        branches: &[BranchName],
    ) -> Result<Vec<Option<CommitId>>, WorkspaceError> {
        let repository = Self::unchecked(path, options)?;
        branches
            .iter()
            .map(|branch| repository.branch_head(branch))
            .collect()
    }

    /// Returns the default branch: what the remote `origin` calls its head, when there is a local
    /// branch of that name; else `main`, `master` or `trunk`; else the branch that is checked out;
    /// else the only one. Branches of Symphony itself never count.
    ///
    /// # Errors
    /// [`WorkspaceError::NoDefaultBranch`] when none of these gives an answer (a detached head with several branches of
    /// unusual names): then `base_branch` must be set.
    pub fn default_branch(&self) -> Result<BranchName, WorkspaceError> {
        let branches = self.branches()?;
        let candidates: Vec<&String> = branches
            .iter()
            .filter(|name| !name.starts_with("symphony/"))
            .collect();
        let local = |name: &str| candidates.iter().any(|branch| *branch == name);
        let of_origin = self
            .symbolic("refs/remotes/origin/HEAD")?
            .and_then(|target| {
                target
                    .strip_prefix("refs/remotes/origin/")
                    .map(str::to_owned)
            })
            .filter(|name| local(name));
        let usual = || {
            USUAL_NAMES
                .iter()
                .find(|name| local(name))
                .map(|&name| name.to_owned())
        };
        let checked_out = || -> Result<Option<String>, WorkspaceError> {
            Ok(self
                .symbolic("HEAD")?
                .and_then(|target| target.strip_prefix("refs/heads/").map(str::to_owned))
                .filter(|name| local(name)))
        };
        let chosen = match of_origin.or_else(usual) {
            Some(name) => Some(name),
            None => checked_out()?.or_else(|| match candidates.as_slice() {
                [only] => Some((*only).clone()),
                _ => None,
            }),
        };
        match chosen {
            Some(name) => BranchName::parse(&name),
            None => Err(WorkspaceError::NoDefaultBranch {
                root: self.root.clone(),
                branches,
            }),
        }
    }

    /// Returns the branch that the user has checked out, with its head; `None` if the head is detached.
    ///
    /// # Errors
    /// When git fails, or the branch has no commit yet.
    pub fn checked_out(&self) -> Result<Option<Base>, WorkspaceError> {
        let Some(target) = self.symbolic("HEAD")? else {
            return Ok(None);
        };
        let Some(name) = target.strip_prefix("refs/heads/") else {
            return Ok(None);
        };
        self.at_head(BranchName::parse(name)?).map(Some)
    }

    fn symbolic(&self, name: &str) -> Result<Option<String>, WorkspaceError> {
        // `HEAD` is each worktree's own, and the library reads the common folder
        if name.starts_with("refs/") && !self.reader().has(name)? {
            return Ok(None);
        }
        let answer = self
            .git
            .command("symbolic-ref")
            .args(["--quiet", name])
            .answer(&[0, 1, 128])?;
        let text = String::from_utf8_lossy(&answer.stdout)
            .trim_end()
            .to_owned();
        Ok((answer.code == 0 && !text.is_empty()).then_some(text))
    }
}
