//! Why a project is not added, changed or removed.

use std::path::PathBuf;

use symphony_core::id::{PlanId, ProjectId, RunId};

/// What is refused about a project.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "each text shows what its fields are")]
#[non_exhaustive]
pub enum ProjectRefusal {
    /// The prefix is malformed.
    #[error(
        "`{0}` is not a valid prefix: use one to ten capital letters and digits, starting with a letter"
    )]
    BadPrefix(String),
    /// Another project had the prefix, which its issues keep.
    #[error("older issues of project {project} use the prefix `{prefix}`")]
    PrefixUsed { project: String, prefix: String },
    /// Another project has it.
    #[error("the {what} `{value}` belongs to the project at {root}")]
    Taken {
        what: String,
        value: String,
        root: String,
    },
    /// Its path cannot be recorded.
    #[error("the path {} is not UTF-8", .0.display())]
    NotUtf8(PathBuf),
    /// Its issues have their numbers.
    #[error("the project `{0}` already has numbered issues")]
    Numbered(ProjectId),
    /// A run is at work on it.
    #[error("run {run} of project {project} is live")]
    RunIsLive { run: RunId, project: ProjectId },
    /// A plan of it has not ended.
    #[error("plan {plan} of project {project} is under way")]
    PlanUnderWay { plan: PlanId, project: ProjectId },
    /// Its setup wizard is at work.
    #[error("the setup wizard of {0} is running")]
    WizardRuns(ProjectId),
}
