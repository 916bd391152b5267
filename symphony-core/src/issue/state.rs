//! The state machine of an issue (spec: domain, "Issue status").

use std::fmt;

use serde::{Deserialize, Serialize};

use super::attributes::{IssueStatus, Resolution};
use crate::closed_set::closed_set;
use crate::listing::one_of;

closed_set!(
    /// What a blocked issue waits for.
    BlockedBy, "reason to be blocked", {
        /// Its sub-tasks.
        Subtasks = "subtasks",
        /// An agent said that it cannot go on.
        Agent = "agent",
        /// A spending cap.
        Cap = "cap",
        /// A run that changed configuration which runs programs.
        Tampered = "tampered",
        /// A human's word, asked for by a judge.
        Human = "human",
        /// Gates that fail again and again in the same way.
        Gates = "gates",
        /// A question about a review point that a person has to answer.
        Question = "question",
        /// A person who has taken it over.
        TakenOver = "taken_over",
        /// A person, because its runs lost their hosts one after the other.
        HostsLost = "hosts_lost",
    }
);

/// What a blocked issue waits for, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// What it waits for.
    pub by: BlockedBy,
    /// Why, in a sentence for a human.
    pub reason: String,
}

/// The state of an issue, with the data that only this state has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "status")]
pub enum IssueState {
    /// Known, not asked for.
    Backlog,
    /// Waits to be dispatched.
    Todo,
    /// An agent works on it.
    InProgress,
    /// A pull request or a delivery waits for a verdict.
    Review,
    /// Waits for something named.
    Blocked(Block),
    /// Merged, or finished by a human.
    Done,
    /// Given up by a human.
    Cancelled,
}

impl IssueState {
    /// Returns the status without its details.
    pub const fn status(&self) -> IssueStatus {
        match self {
            Self::Backlog => IssueStatus::Backlog,
            Self::Todo => IssueStatus::Todo,
            Self::InProgress => IssueStatus::InProgress,
            Self::Review => IssueStatus::Review,
            Self::Blocked(_) => IssueStatus::Blocked,
            Self::Done => IssueStatus::Done,
            Self::Cancelled => IssueStatus::Cancelled,
        }
    }

    /// Returns what a blocked issue waits for.
    pub const fn block(&self) -> Option<&Block> {
        match self {
            Self::Blocked(block) => Some(block),
            _ => None,
        }
    }
}

/// Something that happened to an issue and may change its status.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "event")]
pub enum IssueEvent {
    /// A human asked for it.
    Queued,
    /// A human reopened a finished or cancelled issue.
    Reopened,
    /// A worker, planner or phase agent was started on it.
    Dispatched,
    /// Its worker opened a pull request.
    PrCreated,
    /// Its worker proposed that nothing is left to do.
    DoneProposed,
    /// A phase was delivered whose contract asks for a judge.
    #[serde(rename = "claim_submitted")]
    PhaseDelivered,
    /// A phase was accepted.
    PhaseAccepted {
        /// Whether another phase follows.
        next: NextPhase,
    },
    /// Its run ended without moving it: failed with attempts left, to be continued, held or cancelled.
    RunReturned,
    /// Its agent gave it back.
    HandedBack,
    /// Its agent cannot go on.
    AgentBlocked {
        /// The reason.
        reason: String,
    },
    /// Its agent asked a person about a review point.
    QuestionAsked {
        /// The point, and the question.
        reason: String,
    },
    /// A person's session on it ended: it stays theirs until they release it.
    TakenOver {
        /// Who has it.
        reason: String,
    },
    /// Its runs lost their hosts one after the other: a person has to find out whether the task is what ends them.
    HostsLost {
        /// How many runs, and what that may mean.
        reason: String,
    },
    /// Its first sub-task was made.
    SubtasksOpened,
    /// All its sub-tasks have ended.
    SubtasksClosed,
    /// The review ended against it: rejected, a red required gate, or the pull request was closed.
    ReviewRejected,
    /// The gates of its pull request failed again in the same way: a person decides.
    GatesStopped {
        /// Which gates, and how often.
        reason: String,
    },
    /// Its spending cap is reached.
    CapReached {
        /// Which cap, and how far.
        reason: String,
    },
    /// A run on it changed configuration that runs programs.
    Tampered {
        /// What changed.
        reason: String,
    },
    /// Its branch was merged by a human.
    Merged,
    /// The base branch has the change of its pull request: someone merged it outside Symphony.
    MergedOutside,
    /// A human declared it done.
    Finished,
    /// The proposal that nothing is left to do was confirmed.
    DoneConfirmed,
    /// A human put it back to review, where something is open.
    ReviewResumed,
    /// The circuit breaker opened.
    BreakerOpened {
        /// Where the issue goes.
        to: BreakerTarget,
        /// Why, unless it waited until the attempts were used up.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// A human put it back on the shelf.
    Shelved,
    /// A human gave it up.
    Cancelled,
    /// A human closed it, wherever it was, and said why.
    Closed {
        /// How it ended.
        resolution: Resolution,
        /// The reason.
        reason: String,
    },
}

/// Whether a phase follows the accepted one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NextPhase {
    /// Another phase follows.
    Follows,
    /// It was the last: a human looks.
    None,
}

closed_set!(
    /// Where an open circuit breaker puts the issue (`circuit_breaker_status`).
    BreakerTarget, "circuit breaker status", {
        /// Out of the way.
        Backlog = "backlog",
        /// In `todo`, where it waits for `issue retry`.
        Todo = "todo",
    }
);

/// A transition that is not in the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransitionError {
    /// The state of the issue.
    pub from: IssueStatus,
    /// Where it was to go, when that is known.
    pub to: Option<IssueStatus>,
    /// What was to happen.
    pub event: &'static str,
    /// The statuses that a person can move it to from there.
    pub allowed: Vec<IssueStatus>,
}

impl fmt::Display for TransitionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to {
            Some(to) if to == self.from => return write!(f, "the issue is already in `{to}`"),
            Some(to) => write!(f, "an issue in `{}` cannot move to `{to}`", self.from)?,
            None => write!(
                f,
                "`{}` does not apply to an issue in `{}`",
                self.event, self.from
            )?,
        }
        if self.allowed.is_empty() {
            return write!(f, "; it cannot be moved from there");
        }
        let allowed: Vec<String> = self.allowed.iter().map(|to| format!("`{to}`")).collect();
        write!(f, "; a person can move it to {}", one_of(&allowed))
    }
}

impl std::error::Error for TransitionError {}

impl IssueEvent {
    /// Returns the event's name.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Reopened => "reopened",
            Self::Dispatched => "dispatched",
            Self::PrCreated => "pr_created",
            Self::DoneProposed => "done_proposed",
            Self::PhaseDelivered => "claim_submitted",
            Self::PhaseAccepted { .. } => "phase_accepted",
            Self::RunReturned => "run_returned",
            Self::HandedBack => "handed_back",
            Self::AgentBlocked { .. } => "agent_blocked",
            Self::QuestionAsked { .. } => "question_asked",
            Self::TakenOver { .. } => "taken_over",
            Self::HostsLost { .. } => "hosts_lost",
            Self::SubtasksOpened => "subtasks_opened",
            Self::SubtasksClosed => "subtasks_closed",
            Self::ReviewRejected => "review_rejected",
            Self::GatesStopped { .. } => "gates_stopped",
            Self::CapReached { .. } => "cap_reached",
            Self::Tampered { .. } => "tampered",
            Self::Merged => "merged",
            Self::MergedOutside => "merged_outside",
            Self::Finished => "finished",
            Self::DoneConfirmed => "done_confirmed",
            Self::ReviewResumed => "review_resumed",
            Self::BreakerOpened { .. } => "breaker_opened",
            Self::Shelved => "shelved",
            Self::Cancelled => "cancelled",
            Self::Closed { .. } => "closed",
        }
    }

    /// Returns whether it ends an issue as done by someone's decision, not by a merge.
    pub const fn declares_done(&self) -> bool {
        matches!(
            self,
            Self::Finished
                | Self::DoneConfirmed
                | Self::Closed {
                    resolution: Resolution::Done,
                    ..
                }
        )
    }
}

fn blocked(by: BlockedBy, reason: &str) -> IssueState {
    IssueState::Blocked(Block {
        by,
        reason: reason.to_owned(),
    })
}

/// Returns the state after an event.
///
/// # Errors
/// When the table of transitions has no row for this state and event.
pub fn apply(state: &IssueState, event: &IssueEvent) -> Result<IssueState, TransitionError> {
    use IssueEvent as E;
    use IssueState as S;
    let open = !state.status().is_terminal();
    let next = match (state, event) {
        (S::Backlog | S::Blocked(_), E::Queued)
        | (S::Done | S::Cancelled, E::Reopened)
        | (S::InProgress, E::RunReturned | E::HandedBack)
        | (
            S::InProgress | S::Review,
            E::PhaseAccepted {
                next: NextPhase::Follows,
            },
        )
        | (S::Review, E::ReviewRejected) => S::Todo,
        (S::Blocked(block), E::SubtasksClosed) if block.by == BlockedBy::Subtasks => S::Todo,
        (S::Todo, E::Dispatched) => S::InProgress,
        (S::InProgress, E::PrCreated | E::DoneProposed | E::PhaseDelivered)
        | (
            S::InProgress | S::Review,
            E::PhaseAccepted {
                next: NextPhase::None,
            },
        )
        | (S::Blocked(_) | S::Backlog, E::ReviewResumed) => S::Review,
        (S::InProgress | S::Todo, E::AgentBlocked { reason }) => blocked(BlockedBy::Agent, reason),
        (S::Review, E::AgentBlocked { reason }) => blocked(BlockedBy::Human, reason),
        (S::InProgress, E::QuestionAsked { reason }) => blocked(BlockedBy::Question, reason),
        (S::InProgress, E::TakenOver { reason }) => blocked(BlockedBy::TakenOver, reason),
        (S::InProgress | S::Todo, E::SubtasksOpened) => {
            blocked(BlockedBy::Subtasks, "waits for its sub-tasks")
        }
        (S::InProgress | S::Review | S::Todo, E::HostsLost { reason }) => {
            blocked(BlockedBy::HostsLost, reason)
        }
        (S::Review, E::GatesStopped { reason }) => blocked(BlockedBy::Gates, reason),
        (S::InProgress | S::Review | S::Todo, E::CapReached { reason }) => {
            blocked(BlockedBy::Cap, reason)
        }
        (S::InProgress | S::Review | S::Todo, E::Tampered { reason }) => {
            blocked(BlockedBy::Tampered, reason)
        }
        (S::Review, E::Merged | E::Finished | E::DoneConfirmed) => S::Done,
        (_, E::MergedOutside) if open => S::Done,
        (
            _,
            E::BreakerOpened {
                to: BreakerTarget::Todo,
                ..
            },
        ) if open => S::Todo,
        (
            _,
            E::BreakerOpened {
                to: BreakerTarget::Backlog,
                ..
            }
            | E::Shelved,
        ) if open => S::Backlog,
        (_, E::Cancelled) if open => S::Cancelled,
        (_, E::Closed { resolution, .. }) if open => match resolution {
            Resolution::Done => S::Done,
            Resolution::Cancelled => S::Cancelled,
        },
        _ => {
            return Err(TransitionError {
                from: state.status(),
                to: None,
                event: event.name(),
                allowed: allowed_moves(state, Review::Open),
            });
        }
    };
    Ok(next)
}

/// Whether a pull request or delivery of the issue is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Review {
    /// One is open.
    Open,
    /// None is open.
    None,
}

/// Returns the event by which a human moves an issue to a status.
///
/// A live run is ended by the caller before; the issue is then in `todo`.
///
/// # Errors
/// When the table has no such row for a human.
pub fn human_move(
    state: &IssueState,
    to: IssueStatus,
    review: Review,
) -> Result<IssueEvent, TransitionError> {
    let event = match (state, to) {
        (IssueState::Done | IssueState::Cancelled, IssueStatus::Todo) => Some(IssueEvent::Reopened),
        (IssueState::Backlog | IssueState::Blocked(_), IssueStatus::Todo) => {
            Some(IssueEvent::Queued)
        }
        (IssueState::InProgress, IssueStatus::Todo) => Some(IssueEvent::RunReturned),
        (IssueState::Backlog, IssueStatus::Backlog) => None,
        (_, IssueStatus::Backlog) => Some(IssueEvent::Shelved),
        (_, IssueStatus::Cancelled) => Some(IssueEvent::Cancelled),
        (IssueState::Review, IssueStatus::Done) => Some(IssueEvent::Finished),
        (IssueState::Blocked(_) | IssueState::Backlog, IssueStatus::Review)
            if review == Review::Open =>
        {
            Some(IssueEvent::ReviewResumed)
        }
        _ => None,
    };
    event
        .filter(|event| apply(state, event).is_ok())
        .ok_or_else(|| TransitionError {
            from: state.status(),
            to: Some(to),
            event: "move",
            allowed: allowed_moves(state, review),
        })
}

/// Returns the statuses that a human can move an issue to.
pub fn allowed_moves(state: &IssueState, review: Review) -> Vec<IssueStatus> {
    let from = state.status();
    IssueStatus::ALL
        .iter()
        .copied()
        .filter(|to| match (from, to) {
            (IssueStatus::Done | IssueStatus::Cancelled, to) => *to == IssueStatus::Todo,
            (
                IssueStatus::Backlog | IssueStatus::Blocked | IssueStatus::InProgress,
                IssueStatus::Todo,
            )
            | (_, IssueStatus::Cancelled) => true,
            (from, IssueStatus::Backlog) => from != IssueStatus::Backlog,
            (from, IssueStatus::Done) => from == IssueStatus::Review,
            (IssueStatus::Blocked | IssueStatus::Backlog, IssueStatus::Review) => {
                review == Review::Open
            }
            _ => false,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;
    use crate::issue::samples::{events, states};

    fn short(state: &IssueState) -> String {
        state.block().map_or_else(
            || state.status().to_string(),
            |b| format!("blocked:{}", b.by),
        )
    }

    #[test]
    fn state_event_matrix() {
        let mut table = String::new();
        for event in events() {
            let detail = match &event {
                IssueEvent::PhaseAccepted { next } => format!(":{next:?}"),
                IssueEvent::BreakerOpened { to, .. } => format!(":{to}"),
                IssueEvent::Closed { resolution, .. } => format!(":{resolution}"),
                _ => String::new(),
            };
            writeln!(table, "{}{detail}", event.name()).unwrap();
            for state in states() {
                if let Ok(next) = apply(&state, &event) {
                    writeln!(table, "    {} -> {}", short(&state), short(&next)).unwrap();
                }
            }
        }
        insta::assert_snapshot!("state_event_matrix", table);
    }

    #[test]
    fn human_moves_are_those_announced() {
        for state in states() {
            for review in [Review::Open, Review::None] {
                let allowed = allowed_moves(&state, review);
                for to in IssueStatus::ALL {
                    assert_eq!(
                        human_move(&state, *to, review).is_ok(),
                        allowed.contains(to),
                        "{state:?} -> {to} ({review:?})"
                    );
                }
            }
        }
    }

    #[test]
    fn a_refused_move_names_both_states_and_what_is_allowed() {
        let error = human_move(&IssueState::Todo, IssueStatus::Done, Review::None).unwrap_err();
        insta::assert_snapshot!(error, @"an issue in `todo` cannot move to `done`; a person can move it to `backlog` or `cancelled`");
        let error = human_move(&IssueState::Todo, IssueStatus::Todo, Review::None).unwrap_err();
        assert_eq!(error.to_string(), "the issue is already in `todo`");
    }
}
