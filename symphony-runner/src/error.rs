//! What can go wrong around runs, by what the caller can do next.

use std::path::PathBuf;

use symphony_core::config::Database;
use symphony_core::exit_handling::ExitFault;
use symphony_core::id::{IssueId, PlanId, PrId, RunId};
use symphony_core::issue::IssueStatus;
use symphony_core::spending::CapReached;
use symphony_mcp::McpError;
use symphony_prompt::PromptError;
use symphony_store::{ClaimRefusal, StoreError};
use symphony_workspace::config_file::ConfigFileError;
use symphony_workspace::{CommitId, CommitIdError, WorkspaceError};

use crate::database::DatabaseRefusal;
use crate::merge::NotMerged;
use crate::order::OrderRefusal;
use crate::placement::PlacementError;
use crate::plan::PlanRunRefusal;
use crate::process::ProcessError;
use crate::provider::ProviderError;
use crate::sandbox::SandboxFault;
use crate::take_over::SessionRefusal;
use crate::worker::{HandOverError, WorkerRefusal};

/// An error of the runner.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunnerError {
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The configuration.
    #[error(transparent)]
    Config(#[from] ConfigFileError),
    /// Git or the worktree.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// Processes.
    #[error(transparent)]
    Process(#[from] ProcessError),
    /// The provider.
    #[error(transparent)]
    Provider(#[from] ProviderError),
    /// The sandbox: no program starts without it.
    #[error("{}", .0.with_advice())]
    Sandbox(#[from] SandboxFault),
    /// What gives out runs to workers.
    #[error(transparent)]
    Placement(#[from] PlacementError),
    /// The MCP service.
    #[error(transparent)]
    Mcp(#[from] McpError),
    /// Prompts cannot be assembled.
    #[error("the prompts cannot be assembled: {0}")]
    Prompt(#[from] PromptError),
    /// Prompt files of the project are wrong.
    #[error("the project's prompt files have problems:\n{}", problems.join("\n"))]
    PromptFiles {
        /// All problems, each with its file and place.
        problems: Vec<String>,
    },
    /// The set-up command of the worktree failed.
    #[error("the set-up command `{command}` failed: {what}")]
    Setup {
        /// The command.
        command: String,
        /// How it ended, and the end of its output.
        what: String,
    },
    /// The set-up command failed on the files of the base: no issue can be worked on.
    #[error("the set-up command fails: {text}")]
    SetupOnBase {
        /// What fails there.
        text: String,
    },
    /// Another process holds the plan's lock.
    #[error("another process is running plan {plan}")]
    PlanBusy {
        /// The plan.
        plan: PlanId,
    },
    /// A spending cap is reached before the run could spend anything.
    #[error("{cap}")]
    OverBudget {
        /// Which cap.
        cap: CapReached,
    },
    /// The database is not the one that the repository was worked on with.
    #[error("the database {database} cannot be used: {problem}")]
    Identity {
        /// The database.
        database: Box<Database>,
        /// Which database it is instead, or that it is gone.
        problem: Box<symphony_core::identity::IdentityProblem>,
    },
    /// A pull request is not merged.
    #[error(transparent)]
    NotMerged(#[from] NotMerged),
    /// A worker does not work.
    #[error(transparent)]
    Worker(#[from] WorkerRefusal),
    /// A person's order is not carried out.
    #[error(transparent)]
    Order(#[from] OrderRefusal),
    /// A person's session is not opened, or an issue not released.
    #[error(transparent)]
    Session(#[from] SessionRefusal),
    /// A plan is not carried out.
    #[error(transparent)]
    Plan(#[from] PlanRunRefusal),
    /// The database, or a folder that goes with it, is not as it has to be.
    #[error(transparent)]
    Database(#[from] DatabaseRefusal),
    /// A run is at work on what was to be changed.
    #[error("run {run} is working on {name}")]
    RunIsLive {
        /// The run.
        run: RunId,
        /// What it works on.
        name: String,
    },
    /// An issue whose worktree was to be removed is worked on again.
    #[error("{issue} is {status} again")]
    Reopened {
        /// The issue.
        issue: IssueId,
        /// Where it is.
        status: IssueStatus,
    },
    /// The gates of a pull request cannot be started now.
    #[error("the gates of pull request {pr} cannot start: {refusal}")]
    GatesNotStarted {
        /// The pull request.
        pr: PrId,
        /// Why not.
        refusal: ClaimRefusal,
    },
    /// The project's configuration has no command that publishes.
    #[error("no command for publishing pull requests is configured")]
    PublishNotConfigured,
    /// What is recorded as a commit is none.
    #[error("{what}: {source}")]
    NoCommit {
        /// Whose commit it was to be.
        what: String,
        /// What is recorded instead.
        source: CommitIdError,
    },
    /// A rule forbids it.
    #[error("{reason}")]
    Refused {
        /// Which rule, and what to do instead.
        reason: String,
    },
    /// A run did not end in time after it was asked to.
    #[error("run {run} is still alive after {seconds} s")]
    StillAlive {
        /// The run.
        run: RunId,
        /// How long the caller waited.
        seconds: u64,
    },
    /// The operating system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried, as a verb phrase that the path completes.
        action: &'static str,
        /// The path.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: std::io::Error,
    },
}

impl RunnerError {
    /// Returns the error with its causes, in one line.
    pub(crate) fn with_causes(&self) -> String {
        let mut text = self.to_string();
        let mut cause = std::error::Error::source(self);
        while let Some(error) = cause {
            let more = error.to_string();
            if !text.contains(&more) {
                text.push_str(": ");
                text.push_str(&more);
            }
            cause = error.source();
        }
        text
    }

    /// Creates the error for a file that could not be handled.
    pub(crate) fn io(
        action: &'static str,
        path: impl Into<PathBuf>,
        source: std::io::Error,
    ) -> Self {
        Self::Io {
            action,
            path: path.into(),
            source,
        }
    }

    /// Reads a commit from the database; `what` says whose it is.
    pub(crate) fn commit(text: &str, what: impl std::fmt::Display) -> Result<CommitId, Self> {
        CommitId::parse(text).map_err(|source| Self::NoCommit {
            what: what.to_string(),
            source,
        })
    }

    /// Creates the error for a rule that forbids something.
    pub(crate) fn refused(reason: impl Into<String>) -> Self {
        Self::Refused {
            reason: reason.into(),
        }
    }

    /// Returns whether there is no base branch any more, or git cannot check its files out. That is no one's failure:
    /// the next tick puts the project on hold.
    pub fn is_base_missing(&self) -> bool {
        matches!(
            self,
            Self::Workspace(
                WorkspaceError::BranchMissing { .. }
                    | WorkspaceError::NoDefaultBranch { .. }
                    | WorkspaceError::SymbolicBase { .. }
                    | WorkspaceError::FilterMissing { .. }
                    | WorkspaceError::FilterNotRun { .. }
            )
        )
    }

    /// Returns what stopped exit handling.
    pub fn exit_fault(&self) -> ExitFault {
        match self {
            Self::Workspace(error) => error.exit_fault(),
            Self::Process(_)
            | Self::Io { .. }
            | Self::Sandbox(_)
            | Self::Store(
                StoreError::Busy(_) | StoreError::Overtaxed(_) | StoreError::DiskFull(_),
            ) => ExitFault::Machine,
            Self::Store(error) if error.is_unanswered() => ExitFault::Machine,
            _ => ExitFault::Work,
        }
    }

    /// Returns whether the disk is full, which is no one's failure.
    pub fn is_disk_full(&self) -> bool {
        match self {
            Self::Store(StoreError::DiskFull(_)) => true,
            Self::Workspace(error) => error.is_disk_full(),
            Self::Io { source, .. } | Self::Sandbox(SandboxFault::Io { source, .. }) => matches!(
                source.kind(),
                std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded
            ),
            _ => false,
        }
    }
}

impl From<HandOverError> for RunnerError {
    fn from(error: HandOverError) -> Self {
        match error {
            HandOverError::Workspace(error) => Self::Workspace(error),
            HandOverError::Store(error) => Self::Store(error),
            HandOverError::Refused(error) => Self::Worker(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_that_does_not_answer_says_nothing_about_the_work() {
        let away = StoreError::NoAnswer {
            address: "postgres://db.example/symphony".into(),
            reason: "it does not answer".into(),
        };
        let ended = StoreError::Superseded {
            run: RunId::parse("r1").unwrap(),
        };
        let faults = [away, ended].map(|error| RunnerError::Store(error).exit_fault());
        assert_eq!(faults, [ExitFault::Machine, ExitFault::Work]);
    }
}
