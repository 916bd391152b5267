//! Why something that has not ended is not stuck: it can start, has a due time, a live run or a dependency, or a person finds
//! it in the inbox.
//!
//! One pure function reads what a tick reads (the snapshot, its schedule, the inbox), so that the tick, `explain`, the inbox and
//! the audit cannot disagree. What has no such answer is stranded: a defect of Symphony's, which `doctor --audit` reports.

mod decide;
mod graph;
mod open;
mod reasons;
mod words;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::Timestamp;
use crate::id::{IssueId, PlanId, PrId, ProjectId, RunId};
use crate::inbox::InboxItem;
use crate::tick::{Schedule, Snapshot};

pub use open::{
    OpenIssue, OpenItems, OpenPullRequest, OpenState, Parked, UNSEEN_PUBLICATION_MS, UnpublishedPr,
};

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
    /// The reviews of a project, of which as many wait as are wanted.
    Reviews(ProjectId),
    /// A run that gives up its slot.
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
    /// The next tick goes on with it.
    Runnable,
    /// A tick goes on with it at a moment.
    Due {
        /// When.
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
    /// Nothing will ever go on with it, and no inbox entry says so.
    Stranded {
        /// Why, in a sentence without a full stop.
        why: String,
    },
}

/// What a moment shows: the database, the tick that would come next, and the inbox.
#[derive(Debug, Clone, Copy)]
pub struct Observed<'a> {
    /// What the tick sees.
    pub snapshot: &'a Snapshot,
    /// What it would do.
    pub schedule: &'a Schedule,
    /// What a person finds.
    pub inbox: &'a [InboxItem],
    /// Everything that has not ended.
    pub open: &'a OpenItems,
    /// When.
    pub now: Timestamp,
}

/// Says for everything that has not ended why it is not stuck, or that it is stranded.
pub fn standings(observed: &Observed<'_>) -> BTreeMap<Item, Standing> {
    let mut standings = decide::each_by_itself(observed);
    graph::follow_dependencies(&mut standings);
    standings
}
