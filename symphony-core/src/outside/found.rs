//! An open pull request whose whole change the base has.

use serde::Serialize;

use super::merge::OutsideMerge;
use crate::closed_set::closed_set;
use crate::id::{PrId, ProjectId};
use crate::pull_request::{PullRequest, PullRequestOf, VerdictKind, VerifiedGates};

closed_set!(
    /// What was missing when a change was merged outside.
    Missing, "missing part of a review", {
        /// No one approved its head.
        Approval = "approval",
        /// Its required gates were not green on its head.
        Gates = "green gates",
    }
);

/// Returns what a pull request lacks that is merged outside now. Gates that have not run are not green.
pub fn missing_of(pr: &PullRequest) -> Vec<Missing> {
    let approved = pr
        .verdict_on_head()
        .is_some_and(|verdict| verdict.kind == VerdictKind::Approved);
    let green = pr.gates_of_head().is_some_and(VerifiedGates::green);
    let mut missing = Vec::new();
    if !green {
        missing.push(Missing::Gates);
    }
    if !approved {
        missing.push(Missing::Approval);
    }
    missing
}

/// An open pull request whose whole change the base has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FoundMerge {
    /// The project.
    pub project: ProjectId,
    /// What the pull request finishes.
    pub of: PullRequestOf,
    /// The pull request.
    pub pr: PrId,
    /// Its base branch.
    pub base: String,
    /// The head whose change was found.
    pub head: String,
    /// What was found.
    pub merge: OutsideMerge,
    /// What it lacked.
    pub missing: Vec<Missing>,
}
