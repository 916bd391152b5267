//! Who a session is: fixed when its transport is created, never an argument of a call.

use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use symphony_core::Timestamp;
use symphony_core::contract::Pipeline;
use symphony_core::id::{DeliveryId, IssueId, PrId, ProjectId};
use symphony_core::issue::Issue;
use symphony_core::pull_request::PullRequest;
use symphony_core::tools::{Role, ToolSet};
use symphony_store::{Actor, Context, Store};
use symphony_workspace::{BranchName, RepositoryOptions, WorktreeKey};

use crate::answer::ToolError;
use crate::before_hand_in::BeforeHandIn;

/// Whether a session may give verdicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdicts {
    /// As its role allows.
    ByRole,
    /// Never: an agent's environment started this server directly on the database.
    Refused,
}

impl Verdicts {
    /// Why a verdict is refused.
    pub(crate) const REFUSAL: &str = "verdicts are refused here: an agent started this server (SYMPHONY_RUN_ID is set, or a run's supervisor or worktree is above it)";
}

/// What the record of a review is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reviewed {
    /// A change.
    Change,
    /// A proposal that nothing is left to do.
    Proposal,
}

impl Reviewed {
    /// Returns what a pull request record is about.
    pub const fn of(pr: &PullRequest) -> Self {
        match pr.proposal {
            Some(_) => Self::Proposal,
            None => Self::Change,
        }
    }
}

/// What a judge's run reviews.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReviewTarget {
    /// A pull request.
    PullRequest {
        /// Its id.
        pr: PrId,
        /// The commit that the judge was shown; only a verdict on it counts.
        commit: String,
        /// Whether it is a change or a proposal.
        subject: Reviewed,
    },
    /// The delivery of a phase.
    Delivery {
        /// Its id.
        delivery: DeliveryId,
        /// The commit that the judge was shown; only a verdict on it counts.
        commit: String,
    },
}

/// Where the work of the session's issue is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssueWorkspace {
    /// The project's folder.
    pub project_root: PathBuf,
    /// The configuration of its repository.
    pub options: RepositoryOptions,
    /// The issue's worktree.
    pub key: WorktreeKey,
    /// The branch checked out there.
    pub branch: BranchName,
    /// The branch that the work goes into.
    pub base: BranchName,
    /// The names of the project's gates.
    pub gates: Vec<String>,
}

/// The phases of a project; `None` if they cannot be read, or nobody said how to read them. Clones share them.
#[derive(Debug, Clone)]
pub struct ProjectPhases(Arc<LazyLock<Option<Pipeline>, ReadPhases>>);

type ReadPhases = Box<dyn FnOnce() -> Option<Pipeline> + Send>;

impl ProjectPhases {
    /// Phases that are read when a tool first needs them: most sessions need none.
    pub fn read_when_asked(read: impl FnOnce() -> Option<Pipeline> + Send + 'static) -> Self {
        Self(Arc::new(LazyLock::new(Box::new(read))))
    }

    pub(crate) fn get(&self) -> Option<&Pipeline> {
        self.0.as_ref().as_ref()
    }
}

impl Default for ProjectPhases {
    fn default() -> Self {
        Self::read_when_asked(|| None)
    }
}

impl From<Pipeline> for ProjectPhases {
    fn from(pipeline: Pipeline) -> Self {
        Self::read_when_asked(|| Some(pipeline))
    }
}

/// Who a session is.
#[derive(Debug, Clone)]
pub struct Identity {
    /// Who its writes are attributed to.
    pub actor: Actor,
    /// Its role.
    pub role: Role,
    /// What it may call: the role's tools, narrowed by its profile.
    pub tools: ToolSet,
    /// The project.
    pub project: ProjectId,
    /// The issue it works on; `None` for scanner, wizard and background research.
    pub issue: Option<IssueId>,
    /// What it reviews.
    pub review: Option<ReviewTarget>,
    /// Where its issue's work is.
    pub workspace: Option<IssueWorkspace>,
    /// The project's phases, for deliveries.
    pub phases: ProjectPhases,
    /// The folder that its agent works in; `None` for a human's client.
    pub directory: Option<PathBuf>,
    /// Whether it may give verdicts.
    pub verdicts: Verdicts,
    /// What is done with a commit before it is recorded as handed in.
    pub before_hand_in: BeforeHandIn,
}

impl Identity {
    /// Returns the context of a write made now.
    pub(crate) fn context(&self) -> Context {
        Context {
            actor: self.actor.clone(),
            now: Timestamp::now(),
        }
    }

    /// Returns the tools that are listed and callable.
    pub(crate) fn callable(&self) -> ToolSet {
        self.tools.intersection(self.role.allowed())
    }

    /// Returns the session's own issue.
    pub(crate) fn own_issue(&self) -> Result<&IssueId, ToolError> {
        let why = "this run has no issue of its own";
        self.issue.as_ref().ok_or_else(|| ToolError::new(why))
    }

    /// Returns the issue that a call is about: the session's own, or the named one of the same project.
    pub(crate) fn target(&self, store: &Store, named: Option<&str>) -> Result<Issue, ToolError> {
        let id = match (named, &self.issue) {
            (Some(text), _) => {
                IssueId::parse(text).map_err(|error| ToolError::new(error.to_string()))?
            }
            (None, Some(own)) => own.clone(),
            (None, None) => {
                return Err(ToolError::new(
                    "this run has no issue of its own: name one with `issue`",
                ));
            }
        };
        let issue = store.issue(&id)?;
        if issue.project != self.project {
            return Err(ToolError::new(format!("{id} belongs to another project")));
        }
        Ok(issue)
    }
}
