//! What has to be written when a run ends, and the reason in words.

use super::run_end::{RunEnd, is_in_phase};
use crate::issue::{AttemptCounts, IssueEvent, NextPhase};
use crate::retry::RetryPlan;
use crate::run::{RunError, RunStatus};

/// What has to be written when the run ends, in one transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Routing {
    /// The run's final status; a clean end without what was asked for is a failure.
    pub status: RunStatus,
    /// The run's final error.
    pub error: Option<RunError>,
    /// The issue's accepted phase is left: whether another one follows. It comes before the event. An issue that is in
    /// `todo` already stays there: only its label changes.
    pub advance: Option<NextPhase>,
    /// What happened to the issue.
    pub event: Option<IssueEvent>,
    /// The issue's counts afterwards.
    pub counts: AttemptCounts,
    /// The next appointment.
    pub retry: Option<RetryPlan>,
    /// A comment by the system: the circuit breaker's notice.
    pub comment: Option<String>,
}

pub(super) fn reason_of(routing: &Routing, end: &RunEnd<'_>) -> String {
    match &routing.error {
        Some(error) => format!("{}: {}", error.class.words(), error.message),
        None if routing.status != RunStatus::Succeeded => routing.status.to_string(),
        None if end.run.moved_issue => "the agent gave the issue back".to_owned(),
        None if is_in_phase(end.run) => "it ended well, without an accepted delivery".to_owned(),
        None => "it ended well, without a pull request".to_owned(),
    }
}
