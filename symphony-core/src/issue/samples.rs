//! Sample issues for the tests of the pure decisions.

use super::{
    AttemptCounts, Block, BlockedBy, BreakerTarget, Issue, IssueEvent, IssueState, NextPhase,
    Priority, Resolution,
};
use crate::Timestamp;
use crate::id::{IssueId, ProjectId};
use crate::profile::AgentChoice;

/// The issue SYM-1 of the project `p`, without optional fields.
pub(crate) fn issue(state: IssueState, counts: AttemptCounts) -> Issue {
    Issue {
        id: IssueId::parse("SYM-1").unwrap(),
        project: ProjectId::parse("p").unwrap(),
        title: "t".into(),
        description: String::new(),
        state,
        priority: Priority::None,
        size: None,
        labels: vec![],
        parent: None,
        depends_on: vec![],
        external_id: None,
        choice: AgentChoice::default(),
        created_at: Timestamp::UNIX_EPOCH,
        updated_at: Timestamp::UNIX_EPOCH,
        counts,
    }
}

/// An issue of the backlog, without optional fields.
pub(crate) fn in_backlog() -> Issue {
    issue(IssueState::Backlog, AttemptCounts::default())
}

/// A state of every kind.
pub(crate) fn states() -> Vec<IssueState> {
    vec![
        IssueState::Backlog,
        IssueState::Todo,
        IssueState::InProgress,
        IssueState::Review,
        IssueState::Blocked(Block {
            by: BlockedBy::Subtasks,
            reason: "s".to_owned(),
        }),
        IssueState::Blocked(Block {
            by: BlockedBy::Agent,
            reason: "a".to_owned(),
        }),
        IssueState::Done,
        IssueState::Cancelled,
    ]
}

/// An event of every kind.
pub(crate) fn events() -> Vec<IssueEvent> {
    let reason = || "r".to_owned();
    vec![
        IssueEvent::Queued,
        IssueEvent::Reopened,
        IssueEvent::Dispatched,
        IssueEvent::PrCreated,
        IssueEvent::DoneProposed,
        IssueEvent::PhaseDelivered,
        IssueEvent::PhaseAccepted {
            next: NextPhase::Follows,
        },
        IssueEvent::PhaseAccepted {
            next: NextPhase::None,
        },
        IssueEvent::RunReturned,
        IssueEvent::HandedBack,
        IssueEvent::AgentBlocked { reason: reason() },
        IssueEvent::QuestionAsked { reason: reason() },
        IssueEvent::TakenOver { reason: reason() },
        IssueEvent::HostsLost { reason: reason() },
        IssueEvent::SubtasksOpened,
        IssueEvent::SubtasksClosed,
        IssueEvent::ReviewRejected,
        IssueEvent::CapReached { reason: reason() },
        IssueEvent::Tampered { reason: reason() },
        IssueEvent::Merged,
        IssueEvent::MergedOutside,
        IssueEvent::Finished,
        IssueEvent::DoneConfirmed,
        IssueEvent::ReviewResumed,
        IssueEvent::BreakerOpened {
            to: BreakerTarget::Backlog,
            reason: None,
        },
        IssueEvent::BreakerOpened {
            to: BreakerTarget::Todo,
            reason: None,
        },
        IssueEvent::Shelved,
        IssueEvent::Cancelled,
        IssueEvent::Closed {
            resolution: Resolution::Done,
            reason: reason(),
        },
        IssueEvent::Closed {
            resolution: Resolution::Cancelled,
            reason: reason(),
        },
    ]
}
