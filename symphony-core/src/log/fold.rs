//! Replays a log: the state after its entries.

use serde_json::Value;

use super::event::LogEvent;
use crate::Timestamp;
use crate::agent::AgentType;
use crate::failure::ErrorClass;
use crate::id::PlanPhaseId;
use crate::issue::{IssueEvent, IssueState, TransitionError, apply};
use crate::plan::state::{PlanEvent, PlanState, PlanTransitionError, apply as apply_to_plan};
use crate::run::RunStatus;
use crate::spending::CapScope;

/// What an entry means for the rows that can be replayed from the log.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Replay<'a> {
    /// An issue begins in a state.
    IssueBegins(&'a IssueState),
    /// An issue takes a step.
    IssueStep(&'a IssueEvent),
    /// What counts towards the circuit breaker is zero again.
    CountsCleared,
    /// A run of an agent begins.
    RunBegins(&'a AgentType),
    /// A run ends.
    RunEnds(RunEnd),
    /// A plan of these phases begins.
    PlanBegins(&'a [PlanPhaseId]),
    /// A plan takes a step.
    PlanStep(&'a PlanEvent),
    /// An entry of a kind that can be replayed, but this version cannot read its payload.
    Unreadable {
        /// Its kind.
        kind: &'a str,
        /// Its payload.
        payload: &'a Value,
    },
    /// Nothing that is replayed.
    Nothing,
}

/// How a run ended, as far as it is replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunEnd {
    /// The status.
    pub status: RunStatus,
    /// Why it did not succeed.
    pub error: Option<ErrorClass>,
    /// Whether it counts towards the circuit breaker.
    pub counted: bool,
    /// Whether it ended the issue's phase.
    pub advanced: bool,
    /// The issue's failures in a row afterwards, if the log has them.
    pub failures: Option<u32>,
    /// The spending cap that ended it.
    pub cap: Option<CapScope>,
}

/// A log that cannot be replayed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FoldError {
    /// No entry creates the subject, or a change comes before it.
    #[error("no {0}")]
    NotCreated(&'static str),
    /// An entry that changes the state cannot be read.
    #[error("an unreadable {kind}: {payload}")]
    Unreadable {
        /// Its kind.
        kind: String,
        /// Its payload.
        payload: Value,
    },
    /// An entry does not fit the state before it.
    #[error(transparent)]
    Issue(#[from] TransitionError),
    /// An entry does not fit the plan before it.
    #[error(transparent)]
    Plan(#[from] PlanTransitionError),
}

impl LogEvent {
    /// Returns what the entry means for a replay. Each new kind must be added here.
    pub fn replay(&self) -> Replay<'_> {
        match self {
            Self::IssueAdded { state, .. } => Replay::IssueBegins(state),
            Self::IssueMoved { event, .. } => Replay::IssueStep(event),
            Self::CountsCleared {} | Self::PhaseAdvanced { .. } => Replay::CountsCleared,
            Self::RunClaimed { agent, .. } => Replay::RunBegins(agent),
            Self::RunEnded {
                status,
                error,
                counted,
                advanced,
                failures,
                cap,
            } => Replay::RunEnds(RunEnd {
                status: *status,
                error: *error,
                counted: *counted,
                advanced: *advanced,
                failures: *failures,
                cap: *cap,
            }),
            Self::PlanCreated { phases, .. } => Replay::PlanBegins(phases),
            Self::PlanChanged(event) => Replay::PlanStep(event),
            Self::Unknown { kind, payload } if Self::KINDS.contains(&kind.as_str()) => {
                Replay::Unreadable { kind, payload }
            }
            Self::Unknown { .. }
            | Self::IssueEdited { .. }
            | Self::IssueDeleted { .. }
            | Self::IssueTriaged { .. }
            | Self::CommentAdded { .. }
            | Self::MessageRead { .. }
            | Self::MessageWithdrawn { .. }
            | Self::Tracker(_)
            | Self::FindingAdded { .. }
            | Self::BranchDeletionRequested {}
            | Self::WorktreePresent {}
            | Self::WorktreeRemoved {}
            | Self::BranchRescued { .. }
            | Self::WorkPutAside { .. }
            | Self::PullRequestBaseMoved { .. }
            | Self::DatabaseRestored { .. }
            | Self::ProjectMoved { .. }
            | Self::ProjectRemoved {}
            | Self::PrefixRenamed { .. }
            | Self::WriteRefused {}
            | Self::PullRequestOpened { .. }
            | Self::PullRequestMoved { .. }
            | Self::DoneProposed { .. }
            | Self::DoneMoved { .. }
            | Self::GatesVerified { .. }
            | Self::GatesRequested { .. }
            | Self::GatesDelayed { .. }
            | Self::MergeIntended { .. }
            | Self::RunCancelRequested {}
            | Self::PullRequestMergedOutside { .. }
            | Self::BaseNoticed { .. }
            | Self::BaseNoticeDismissed { .. }
            | Self::PublicationBegun { .. }
            | Self::PublicationEnded { .. }
            | Self::PhaseDelivered { .. }
            | Self::DeliverySettled { .. }
            | Self::DeliveryHeadMoved { .. }
            | Self::DeliveryRejected { .. }
            | Self::PhaseJudged { .. }
            | Self::ReviewPointRaised { .. }
            | Self::ReviewPointMoved { .. }
            | Self::ReviewPointAnswered { .. }
            | Self::PhaseOutcomeRecorded { .. }
            | Self::PlanMerged { .. }
            | Self::PlanTargetMoved { .. }
            | Self::LearningAdded { .. }
            | Self::LearningProposed { .. }
            | Self::LearningSeconded { .. }
            | Self::LearningAccepted { .. }
            | Self::LearningDropped { .. }
            | Self::LearningRetired { .. }
            | Self::LearningEdited { .. }
            | Self::LearningRestored { .. }
            | Self::LearningsImported { .. }
            | Self::CoverageRecorded { .. }
            | Self::TestHealthRecorded { .. }
            | Self::HoldPlaced { .. }
            | Self::HoldLifted { .. }
            | Self::HoldDropped { .. }
            | Self::HoldsLifted { .. }
            | Self::DispatchPaused { .. }
            | Self::ProjectAdded { .. }
            | Self::ProjectConfigured(_)
            | Self::ProjectSettingsSet(_)
            | Self::WizardRestarted {}
            | Self::WizardEnded { .. }
            | Self::ProfileOverrideSet { .. } => Replay::Nothing,
        }
    }
}

/// Replays an issue's log, oldest first, and returns the state after it.
///
/// Entries of unknown kinds are skipped: they cannot be status changes.
///
/// # Errors
/// When a step is not in the table of transitions or cannot be read, or nothing creates the issue.
pub fn fold_issue<'a>(
    log: impl IntoIterator<Item = &'a LogEvent>,
) -> Result<IssueState, FoldError> {
    let mut state: Option<IssueState> = None;
    for entry in log {
        match entry.replay() {
            Replay::IssueBegins(first) => state = Some(first.clone()),
            Replay::IssueStep(event) => {
                let before = state
                    .take()
                    .ok_or(FoldError::NotCreated("issue_added before a move"))?;
                state = Some(apply(&before, event)?);
            }
            Replay::Unreadable {
                kind: kind @ ("issue_added" | "issue_moved"),
                payload,
            } => return Err(unreadable(kind, payload)),
            Replay::CountsCleared
            | Replay::RunBegins(_)
            | Replay::RunEnds(_)
            | Replay::PlanBegins(_)
            | Replay::PlanStep(_)
            | Replay::Unreadable { .. }
            | Replay::Nothing => {}
        }
    }
    state.ok_or(FoldError::NotCreated("issue_added"))
}

/// Replays a plan's log, oldest first, each entry with its time, and returns the state after it.
///
/// # Errors
/// When an event does not fit or cannot be read, or nothing creates the plan.
pub fn fold_plan<'a>(
    log: impl IntoIterator<Item = (Timestamp, &'a LogEvent)>,
) -> Result<PlanState, FoldError> {
    let mut state: Option<PlanState> = None;
    for (at, entry) in log {
        match entry.replay() {
            Replay::PlanBegins(phases) => state = Some(PlanState::new(phases, at)),
            Replay::PlanStep(event) => {
                let state = state
                    .as_mut()
                    .ok_or(FoldError::NotCreated("plan_created before a change"))?;
                apply_to_plan(state, event)?;
            }
            Replay::Unreadable {
                kind: kind @ ("plan_created" | "plan_event"),
                payload,
            } => return Err(unreadable(kind, payload)),
            Replay::CountsCleared
            | Replay::RunBegins(_)
            | Replay::RunEnds(_)
            | Replay::IssueBegins(_)
            | Replay::IssueStep(_)
            | Replay::Unreadable { .. }
            | Replay::Nothing => {}
        }
    }
    state.ok_or(FoldError::NotCreated("plan_created"))
}

fn unreadable(kind: &str, payload: &Value) -> FoldError {
    FoldError::Unreadable {
        kind: kind.to_owned(),
        payload: payload.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn log(entries: &[(&str, Value)]) -> Vec<LogEvent> {
        entries
            .iter()
            .map(|(kind, payload)| LogEvent::read(kind, payload))
            .collect()
    }

    #[test]
    fn entries_of_a_newer_version_do_not_stop_a_replay() {
        let log = log(&[
            (
                "issue_added",
                json!({ "state": { "status": "todo" }, "title": "a" }),
            ),
            ("tea_made", json!({ "sugar": 2 })),
            ("run_ended", json!({ "status": "abducted" })),
            (
                "issue_moved",
                json!({ "event": { "event": "dispatched" }, "from": "todo", "to": "in_progress" }),
            ),
        ]);
        assert_eq!(fold_issue(&log), Ok(IssueState::InProgress));
    }

    #[test]
    fn a_step_that_cannot_be_read_is_an_error_of_the_replay() {
        let log = log(&[
            (
                "issue_added",
                json!({ "state": { "status": "todo" }, "title": "a" }),
            ),
            (
                "issue_moved",
                json!({ "event": { "event": "beamed_up" }, "from": "todo", "to": "space" }),
            ),
        ]);
        insta::assert_snapshot!(
            fold_issue(&log).unwrap_err(),
            @r#"an unreadable issue_moved: {"event":{"event":"beamed_up"},"from":"todo","to":"space"}"#
        );
    }

    #[test]
    fn a_log_without_its_beginning_is_an_error() {
        let moved = log(&[(
            "issue_moved",
            json!({ "event": { "event": "dispatched" }, "from": "todo", "to": "in_progress" }),
        )]);
        assert!(matches!(fold_issue(&moved), Err(FoldError::NotCreated(_))));
        assert!(matches!(fold_issue([]), Err(FoldError::NotCreated(_))));
        assert!(matches!(fold_plan([]), Err(FoldError::NotCreated(_))));
    }
}
