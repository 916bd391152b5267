//! What has not ended, and why it is not stuck.

use serde::Serialize;

use crate::Timestamp;
use crate::id::{IssueId, PlanId, PrId, ProjectId, RunId};

/// Something that has not ended.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Item {
    /// An issue.
    Issue(IssueId),
    /// An open pull request.
    PullRequest(PrId),
    /// The publication of an open pull request.
    Publication(PrId),
    /// A plan.
    Plan(PlanId),
}

/// What something waits for that is not a person.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Dependency {
    /// Something that has not ended either.
    Item(Item),
    /// The setup wizard of a project.
    Wizard(ProjectId),
    /// The reviews of a project, of which the maximum number already waits.
    Reviews(ProjectId),
    /// A run that releases its slot.
    Slot,
    /// Those before it: a tick reads a bounded number.
    Queue,
    /// The command that carries a plan on.
    PlanDriver,
}

/// Why something that has not ended is not stuck.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum Standing {
    /// The next tick continues it.
    Runnable,
    /// A tick continues it at a known time.
    Due {
        /// The time.
        at: Timestamp,
    },
    /// A run is live on it.
    Live {
        /// The run.
        run: RunId,
    },
    /// It waits for something that is not stuck either.
    WaitsFor {
        /// For all of these.
        dependencies: Vec<Dependency>,
    },
    /// A person finds it in the inbox.
    WaitsForPerson {
        /// The key of the entry.
        entry: String,
    },
    /// It is in the backlog because a person has not asked for it.
    NotAskedFor,
    /// Nothing will ever continue it, and no inbox entry shows that.
    Stranded {
        /// Why, in a sentence without a full stop.
        why: String,
    },
}
