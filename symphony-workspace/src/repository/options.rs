//! What the configuration says about a repository.

use std::path::PathBuf;

/// The settings of `worktree.*`, `git.*` and `base_branch` (config.md).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepositoryOptions {
    /// Folder of the worktrees; relative ones begin at the project's root.
    pub workspaces_dir: PathBuf,
    /// The base branch; `None` for the repository's default branch.
    pub base_branch: Option<String>,
    /// Patterns of files that are copied into a new worktree, besides the fixed ones.
    pub copy: Vec<String>,
    /// Whether the repository's hooks run on Symphony's commits.
    pub run_hooks: bool,
    /// Filters that may run, if the user's own git configuration names them.
    pub trusted_filters: Vec<String>,
}

impl Default for RepositoryOptions {
    fn default() -> Self {
        Self {
            workspaces_dir: PathBuf::from(".symphony-workspaces"),
            base_branch: None,
            copy: Vec::new(),
            run_hooks: false,
            trusted_filters: vec!["lfs".to_owned()],
        }
    }
}
