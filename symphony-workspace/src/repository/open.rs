//! Finding and opening a project's repository.

use std::fs;
use std::path::{Path, PathBuf};

use symphony_core::config::without_dots;

use super::options::RepositoryOptions;
use crate::error::WorkspaceError;
use crate::git::{CommonReader, Git, GitProgram, Place, is_partial};
use crate::own_file::read_text;

/// A repository that was found, before anything is known of its configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Discovered {
    /// Root of the main checkout, without symbolic links.
    pub root: PathBuf,
    /// The git folder, without symbolic links.
    pub common_dir: PathBuf,
}

/// Finds the repository that a folder belongs to: the first `.git` upward.
///
/// Reads files only, starts no program; the environment (`GIT_DIR` …) has no say.
///
/// # Errors
/// [`WorkspaceError::NotARepository`], [`WorkspaceError::Bare`], or
/// [`WorkspaceError::LinkedWorktree`] when the folder is a linked worktree.
pub fn discover(from: &Path) -> Result<Discovered, WorkspaceError> {
    let start = from
        .canonicalize()
        .map_err(|source| WorkspaceError::io("find the folder", from, source))?;
    for folder in start.ancestors() {
        let entry = folder.join(".git");
        if entry.is_dir() && looks_like_git_dir(&entry) {
            return found(folder, &entry);
        }
        if entry.is_file() {
            let git_dir = git_file_target(&entry)?;
            if git_dir.join("commondir").exists() {
                return Err(WorkspaceError::LinkedWorktree {
                    path: folder.to_owned(),
                    common_dir: common_of(&git_dir),
                });
            }
            return found(folder, &git_dir);
        }
        if looks_like_git_dir(folder) && folder.join("config").is_file() {
            return Err(WorkspaceError::Bare {
                path: folder.to_owned(),
            });
        }
    }
    Err(WorkspaceError::NotARepository { path: start })
}

fn found(root: &Path, git_dir: &Path) -> Result<Discovered, WorkspaceError> {
    let common_dir = git_dir
        .canonicalize()
        .map_err(|source| WorkspaceError::io("find the git folder", git_dir, source))?;
    Ok(Discovered {
        root: root.to_owned(),
        common_dir,
    })
}

/// Files of a git folder that git reads before anything else.
const READ_FIRST: &[&str] = &[
    "HEAD",
    "commondir",
    "config",
    "config.worktree",
    "packed-refs",
    "shallow",
];

/// Refuses a git folder in which something else is in the place of such a file: opening a pipe would block for ever.
fn refuse_pipes(common_dir: &Path) -> Result<(), WorkspaceError> {
    for name in READ_FIRST {
        let path = common_dir.join(name);
        if fs::metadata(&path).is_ok_and(|meta| !meta.is_file()) {
            let reason =
                "it is not a regular file: remove it, or restore the file that git had there";
            return Err(WorkspaceError::io(
                "read",
                path,
                std::io::Error::other(reason),
            ));
        }
    }
    Ok(())
}

fn looks_like_git_dir(path: &Path) -> bool {
    path.join("HEAD").exists() && path.join("objects").is_dir() && path.join("refs").is_dir()
}

/// Reads a `.git` file (`gitdir: PATH`), as submodules and `--separate-git-dir` make it.
fn git_file_target(file: &Path) -> Result<PathBuf, WorkspaceError> {
    let text =
        read_text(file).map_err(|source| WorkspaceError::io("read the git file", file, source))?;
    let target = text
        .strip_prefix("gitdir:")
        .map(str::trim)
        .filter(|target| !target.is_empty())
        .ok_or_else(|| WorkspaceError::NotARepository {
            path: file.to_owned(),
        })?;
    Ok(file.parent().unwrap_or(Path::new("/")).join(target))
}

fn common_of(git_dir: &Path) -> PathBuf {
    let common = read_text(&git_dir.join("commondir")).unwrap_or_default();
    let path = git_dir.join(common.trim());
    path.canonicalize().unwrap_or(path)
}

/// An opened repository: the front door of this crate.
///
/// Cheap to clone; safe to use from several threads and processes, as each change takes the
/// repository's lock.
#[derive(Debug, Clone)]
pub struct Repository {
    pub(crate) root: PathBuf,
    pub(crate) git: Git,
    pub(crate) options: RepositoryOptions,
}

impl Repository {
    /// Opens the repository that has its main checkout at, or above, `path`.
    ///
    /// # Errors
    /// As [`discover`]; [`WorkspaceError::GitMissing`] without git; [`WorkspaceError::NoCommits`]
    /// when there is nothing to start from; [`WorkspaceError::BareSetting`] when `core.bare` is set.
    pub fn open(path: &Path, options: RepositoryOptions) -> Result<Self, WorkspaceError> {
        let repository = Self::unchecked(path, options)?;
        repository.refuse_bare()?;
        if repository.reader().reference("HEAD")?.is_none() && repository.branches()?.is_empty() {
            return Err(WorkspaceError::NoCommits {
                path: repository.root,
            });
        }
        Ok(repository)
    }

    /// Opens a repository of Symphony's own, which may have no commit yet.
    ///
    /// # Errors
    /// As [`discover`]; [`WorkspaceError::GitMissing`] without git.
    pub(crate) fn unborn(path: &Path, options: RepositoryOptions) -> Result<Self, WorkspaceError> {
        Self::unchecked(path, options)
    }

    /// Finds the repository, and knows nothing of it yet.
    pub(super) fn unchecked(
        path: &Path,
        options: RepositoryOptions,
    ) -> Result<Self, WorkspaceError> {
        let Discovered { root, common_dir } = discover(path)?;
        refuse_pipes(&common_dir)?;
        let place = Place {
            git_dir: common_dir.clone(),
            common_dir,
            work_tree: root.clone(),
        };
        let git = Git::new(GitProgram::find()?, options.trusted_filters.clone(), place);
        Ok(Self { root, git, options })
    }

    /// Returns the root of the main checkout.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the git folder that all worktrees share.
    pub fn common_dir(&self) -> &Path {
        &self.git.place().common_dir
    }

    /// Returns whether the repository is a partial clone, whose objects are fetched when they are read. No sandbox shows
    /// such a repository to an agent.
    pub fn is_partial_clone(&self) -> bool {
        is_partial(&self.common_dir().join("objects"))
    }

    /// Returns the folder of the worktrees, as configured, without `.` and `..`: so its path shows whether it is in the
    /// project. It may not exist yet.
    pub fn workspaces_dir(&self) -> PathBuf {
        without_dots(&self.root.join(&self.options.workspaces_dir))
    }

    /// Returns the git program in use.
    pub fn program(&self) -> &GitProgram {
        self.git.program()
    }

    pub(crate) fn reader(&self) -> CommonReader<'_> {
        CommonReader::new(&self.git)
    }
}
