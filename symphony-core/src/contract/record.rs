//! Deliveries as they are recorded: what was delivered, what happened to it.

use crate::Timestamp;
use serde::{Deserialize, Serialize};

use crate::closed_set::closed_set;
use crate::id::{DeliveryId, IssueId, PhaseName, ProjectId, RunId};
use crate::issue::{CommentAuthor, NextPhase};
use crate::pull_request::{Verdict, VerdictKind};

closed_set!(
    /// The state of a delivery.
    DeliveryState, "claim state", {
        /// Its checks passed; its content is being committed.
        Submitted = "submitted",
        /// The phase counts as delivered.
        Accepted = "accepted",
        /// A judge decides.
        AwaitingJudge = "awaiting_judge",
        /// Refused: by its checks, by a judge, or because another one replaced it.
        Rejected = "rejected",
    }
);

/// A report that the phase of an issue is delivered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// Its id.
    pub id: DeliveryId,
    /// The project.
    pub project: ProjectId,
    /// The issue.
    pub issue: IssueId,
    /// The phase.
    pub phase: PhaseName,
    /// The artifact, relative to the worktree; `None` if the phase has none.
    pub artifact_path: Option<String>,
    /// What the agent says of it.
    pub summary: String,
    /// The later phase that it asks to skip to.
    pub skip_to: Option<PhaseName>,
    /// The phase that the issue goes to when the delivery is accepted; `None` if it is the last one.
    pub next_phase: Option<PhaseName>,
    /// The run that delivered; `None` for a human's.
    pub run: Option<RunId>,
    /// Who claimed.
    pub author: CommentAuthor,
    /// Its state.
    pub state: DeliveryState,
    /// Why it was rejected; for others, what their checks would have refused in another mode.
    pub reasons: Vec<String>,
    /// The judge's word.
    pub verdict: Option<Verdict>,
    /// The commit that it is about; `None` until it is recorded.
    pub head_commit: Option<String>,
    /// Whether it still waits for something: a verdict, or the issue's step to the next phase.
    pub open: bool,
    /// When it was made.
    pub created_at: Timestamp,
}

impl Delivery {
    /// Returns whether a phase follows when it is accepted.
    pub const fn next(&self) -> NextPhase {
        match self.next_phase {
            Some(_) => NextPhase::Follows,
            None => NextPhase::None,
        }
    }

    /// Returns whether a judge has to decide.
    pub fn awaits_judge(&self) -> bool {
        self.open && self.state == DeliveryState::AwaitingJudge
    }

    /// Returns whether a judge has approved it as it is, but points of people keep it from being accepted.
    pub fn is_approved(&self) -> bool {
        let approves = |verdict: &&Verdict| verdict.kind == VerdictKind::Approved;
        let verdict = self.verdict.as_ref().filter(approves);
        self.awaits_judge()
            && verdict.is_some_and(|verdict| self.head_commit.as_ref() == Some(&verdict.commit))
    }

    /// Returns whether it is accepted, and the issue has not moved on yet.
    pub fn awaits_step(&self) -> bool {
        self.open && self.state == DeliveryState::Accepted
    }
}
