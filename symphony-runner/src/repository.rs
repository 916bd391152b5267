//! From a project and its configuration to its repository and an issue's place in it.

use symphony_core::config::ProjectConfig;
use symphony_core::id::IssueId;
use symphony_mcp::IssueWorkspace;
use symphony_store::Project;
use symphony_workspace::{BranchName, Repository, RepositoryOptions, WorkspaceError, WorktreeKey};

/// What a project's configuration says about its repository.
pub(crate) fn options(config: &ProjectConfig) -> RepositoryOptions {
    RepositoryOptions {
        workspaces_dir: config.workspaces_dir.clone(),
        base_branch: config.base_branch.clone(),
        copy: config.worktree.copy.clone(),
        run_hooks: config.worktree.run_hooks,
        trusted_filters: config.trusted_filters.clone(),
    }
}

/// Opens a project's repository.
///
/// # Errors
/// When it can not be worked with; the text says what to do.
pub fn open_repository(
    project: &Project,
    config: &ProjectConfig,
) -> Result<Repository, WorkspaceError> {
    Repository::open(&project.root, options(config))
}

/// Returns where an issue's work lies, whether it exists yet or not.
///
/// # Errors
/// When the base branch can not be told.
pub fn issue_workspace(
    repository: &Repository,
    config: &ProjectConfig,
    issue: &IssueId,
) -> Result<IssueWorkspace, WorkspaceError> {
    let base = repository.base()?;
    Ok(IssueWorkspace {
        project_root: repository.root().to_owned(),
        options: options(config),
        key: WorktreeKey::of(issue.as_str()),
        branch: BranchName::of_issue(issue),
        base: base.branch,
    })
}

/// Why there is nothing that work could start from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseProblem {
    /// What is wrong.
    pub problem: String,
    /// What to do.
    pub mend: String,
}

impl std::fmt::Display for BaseProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.problem, self.mend)
    }
}

impl From<&WorkspaceError> for BaseProblem {
    fn from(error: &WorkspaceError) -> Self {
        let (problem, mend) = match error {
            WorkspaceError::BranchMissing { branch, .. } => (
                format!("its base branch `{branch}` does not exist"),
                format!(
                    "`git branch {branch} COMMIT` makes it, `symphony config set base_branch NAME` names another one"
                ),
            ),
            WorkspaceError::NoDefaultBranch { branches, .. } => (
                format!(
                    "which of its branches is the base can not be told: {}",
                    branches.join(", ")
                ),
                "`symphony config set base_branch NAME` says it".to_owned(),
            ),
            other => (
                format!("its repository can not be used: {other}"),
                "`symphony doctor` there says more".to_owned(),
            ),
        };
        Self { problem, mend }
    }
}

/// Makes sure that a project has a base branch that work can start from.
///
/// # Errors
/// Why it has none, and what to do.
pub(crate) fn require_base(project: &Project, config: &ProjectConfig) -> Result<(), BaseProblem> {
    Repository::require_base(&project.root, options(config))
        .map_err(|error| BaseProblem::from(&error))
}
