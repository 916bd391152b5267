//! From a project and its configuration to its repository and an issue's place in it.

use std::path::Path;

use symphony_core::Timestamp;
use symphony_core::command_line::shell_quoted;
use symphony_core::config::ProjectConfig;
use symphony_core::id::{IssueId, PlanId, PrId};
use symphony_core::listing::list_few;
use symphony_core::outside::{HeadFound, LostHead};
use symphony_core::pull_request::{PullRequest, PullRequestOf};
use symphony_core::tick::NoBase;
use symphony_mcp::IssueWorkspace;
use symphony_store::Project;
use symphony_workspace::{
    BranchName, Repository, RepositoryOptions, RescueRef, Unwritable, WorkspaceError, WorktreeKey,
};

use crate::error::RunnerError;
use crate::installation::Installation;

/// Most file patterns that are listed; the rest is counted.
const NAMES_MAX: usize = 5;

/// The repository settings in a project's configuration.
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
/// When it cannot be worked with; the text says what to do.
pub fn open_repository(
    project: &Project,
    config: &ProjectConfig,
) -> Result<Repository, WorkspaceError> {
    Repository::open(&project.root, options(config))
}

/// Returns where an issue's work is, whether it exists yet or not.
///
/// # Errors
/// When the base branch is unknown.
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
        gates: config.gates.iter().map(|gate| gate.name.clone()).collect(),
    })
}

/// Where the work of a pull request is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRequestPlace {
    /// The key of its worktree.
    pub key: WorktreeKey,
    /// The branch.
    pub branch: BranchName,
}

impl PullRequestPlace {
    /// Returns the place of a pull request's work, whether it exists yet or not.
    pub fn of(of: &PullRequestOf) -> Self {
        match of {
            PullRequestOf::Issue(issue) => Self {
                key: WorktreeKey::of(issue.as_str()),
                branch: BranchName::of_issue(issue),
            },
            PullRequestOf::Plan(plan) => Self::of_plan(plan),
        }
    }

    /// Returns the place of what the phases of a plan made together.
    pub fn of_plan(plan: &PlanId) -> Self {
        Self {
            key: WorktreeKey::of(&format!("plan-{plan}")),
            branch: BranchName::of_plan_base(plan),
        }
    }
}

/// Returns the command that resets the branch of a pull request to its reviewed commit.
pub(crate) fn way_back(repository: &Repository, place: &PullRequestPlace, head: &str) -> String {
    match repository.worktree(&place.key, Some(&place.branch)) {
        Ok(worktree) => format!("git -C '{}' reset --keep {head}", worktree.path().display()),
        Err(_) => format!("git branch -f {} {head}", place.branch),
    }
}

/// Returns what is left of the work of a pull request whose reviewed commit the repository no longer has.
///
/// # Errors
/// When git fails.
pub(crate) fn gone_head(
    repository: &Repository,
    pr: PrId,
    of: &PullRequestOf,
    commit: &str,
) -> Result<LostHead, RunnerError> {
    let rescues = repository.rescues_of(&PullRequestPlace::of(of).key)?;
    Ok(LostHead {
        pr,
        of: of.clone(),
        found: HeadFound::Gone {
            commit: commit.to_owned(),
            // Their names end with the time.
            rescue: rescues.into_iter().next_back(),
        },
    })
}

/// Keeps the commits of a pull request, whatever happens to its branch.
///
/// # Errors
/// When the repository cannot be opened, or no longer has them.
pub fn keep_head(
    installation: &Installation,
    project: &Project,
    pr: &PullRequest,
) -> Result<RescueRef, RunnerError> {
    let config = installation.project_config(project)?;
    let repository = open_repository(project, &config)?;
    let head = RunnerError::commit(
        &pr.head_commit,
        format_args!("the head of pull request {}", pr.id),
    )?;
    let key = PullRequestPlace::of(&pr.of).key;
    Ok(repository.keep(&key, &head, Timestamp::now())?)
}

/// Why there is no base that work could start from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseProblem {
    /// What is wrong.
    pub problem: String,
    /// What to do.
    pub fix: String,
    /// The first command to run.
    pub answer: String,
}

impl From<BaseProblem> for NoBase {
    fn from(problem: BaseProblem) -> Self {
        Self {
            problem: problem.to_string(),
            answer: problem.answer,
        }
    }
}

impl std::fmt::Display for BaseProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.problem, self.fix)
    }
}

impl BaseProblem {
    /// Returns why a project cannot be worked on, unless only its repository is the problem.
    pub fn of(project: &Project, error: &WorkspaceError) -> Self {
        if project.root.is_dir() {
            return Self::from(error);
        }
        let id = &project.id;
        let answer = format!("symphony project move {id} FOLDER");
        Self {
            problem: format!("its folder {} is gone", project.root.display()),
            fix: format!(
                "move it back, record its new place with `{answer}`, or remove the project with `symphony project \
                 remove {id} --worktrees keep`"
            ),
            answer,
        }
    }
}

impl From<&WorkspaceError> for BaseProblem {
    fn from(error: &WorkspaceError) -> Self {
        let name_it = "symphony config set base_branch NAME";
        let (problem, fix, answer) = match error {
            WorkspaceError::BranchMissing { branch, .. } => (
                format!("its base branch `{branch}` does not exist"),
                format!(
                    "create it with `git branch {branch} COMMIT`, or name another one with `{name_it}`"
                ),
                name_it.to_owned(),
            ),
            WorkspaceError::SymbolicBase { branch, target, .. } => {
                let name = target.strip_prefix("refs/heads/").unwrap_or(target);
                let repair = format!("git update-ref --no-deref refs/heads/{branch} COMMIT");
                (
                    format!(
                        "its base branch `{branch}` is a symbolic ref to `{name}`, a branch that agents work on"
                    ),
                    format!(
                        "make it an independent branch again with `{repair}`; `git reflog {branch}` shows the commits \
                         that it was at"
                    ),
                    repair,
                )
            }
            WorkspaceError::NoDefaultBranch { branches, .. } => (
                format!(
                    "Symphony cannot tell which branch of the repository is the base: {}",
                    branches.join(", ")
                ),
                format!("`{name_it}` names it"),
                name_it.to_owned(),
            ),
            WorkspaceError::FilterMissing {
                name,
                program,
                patterns,
                ..
            } => (
                format!(
                    "no worktree can be created: your global git configuration runs `{program}` on {}, and that program is not in PATH",
                    list_few(patterns.iter().map(String::as_str), NAMES_MAX)
                ),
                format!(
                    "install `{program}`, put its folder into the PATH of what runs `symphony tick`, or remove the \
                     filter with `git config --global --remove-section filter.{name}`"
                ),
                "symphony doctor".to_owned(),
            ),
            WorkspaceError::FilterNotRun { name, patterns, .. } => (
                format!(
                    "no worktree can be created: git's filter `{name}` applies to {}, and Symphony may not run it, so \
                     it would commit these files unfiltered",
                    list_few(patterns.iter().map(String::as_str), NAMES_MAX)
                ),
                format!(
                    "add `{name}` to `git.trusted_filters`, and copy its commands to your global git configuration: those of the repository never run, since agents can write there"
                ),
                "symphony doctor".to_owned(),
            ),
            WorkspaceError::NoWorktreesFolder { path } => {
                let path = path.display();
                (
                    format!("no worktree can be created: {path} is a file or a link, not a folder"),
                    "move it away, and move the folder back if it was moved; or choose another place with `symphony \
                     config set workspaces_dir FOLDER`"
                        .to_owned(),
                    format!("mv '{path}' '{path}.old'"),
                )
            }
            WorkspaceError::BareSetting { is_of_main, .. } => {
                let scope = if *is_of_main { "--worktree " } else { "" };
                let repair = format!("git config {scope}core.bare false");
                (
                    "its repository cannot be used: `core.bare` is true in its git configuration, although it has a checkout"
                        .to_owned(),
                    format!("`{repair}` repairs it"),
                    repair,
                )
            }
            WorkspaceError::NotWritable { git_dir, path, why } => {
                unwritable(error, git_dir, path, *why)
            }
            WorkspaceError::OwnBranchesBlocked => {
                let rename = "git branch -m symphony NEWNAME";
                (
                    "no branch for an issue can be created: the branch `symphony` is in the way, because git cannot \
                     have a branch and a folder of branches with the same name"
                        .to_owned(),
                    format!("`{rename}` gives it another name"),
                    rename.to_owned(),
                )
            }
            other => (
                format!("its repository cannot be used: {other}"),
                "run `symphony doctor` there for details".to_owned(),
                "symphony doctor".to_owned(),
            ),
        };
        Self {
            problem,
            fix,
            answer,
        }
    }
}

/// Returns the problem, what to do, and the first command to run, if git cannot write into one of its folders.
fn unwritable(
    error: &WorkspaceError,
    git_dir: &Path,
    path: &Path,
    why: Unwritable,
) -> (String, String, String) {
    let problem = format!("its work could not be committed: {error}");
    // If one folder of objects cannot be written, others usually cannot either.
    let objects = git_dir.join("objects");
    let path = if path.starts_with(&objects) {
        &objects
    } else {
        path
    };
    let repair = match why {
        // A `sudo git` leaves folders in many places.
        Unwritable::Owner { .. } => {
            let git_dir = shell_quoted(&git_dir.display().to_string());
            format!("sudo chown -R \"$(id -u):$(id -g)\" {git_dir}")
        }
        Unwritable::Mode => {
            format!(
                "chmod -R u+rwX {}",
                shell_quoted(&path.display().to_string())
            )
        }
        Unwritable::ReadOnly => {
            let fix = "remount it so that it is writable; `symphony doctor` shows whether it is"
                .to_owned();
            return (problem, fix, "symphony doctor".to_owned());
        }
    };
    (problem, format!("`{repair}` repairs it"), repair)
}

/// Checks that a project has a base branch that work can start from, and that git can check its files out.
///
/// # Errors
/// Why not, and what to do.
pub(crate) fn require_base(project: &Project, config: &ProjectConfig) -> Result<(), BaseProblem> {
    Repository::require_base(&project.root, options(config))
        .map_err(|error| BaseProblem::of(project, &error))
}
