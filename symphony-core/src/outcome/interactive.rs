//! A session that a person worked in has ended: the issue stays theirs, and no attempt is used.

use super::routing::Routing;
use super::run_end::RunEnd;
use super::waits_or_works;
use crate::issue::{IssueEvent, IssueStatus};
use crate::run::RunStatus;

/// Decides it. Whatever the person's agent moved itself, such as a pull request that it opened, is kept.
pub(super) fn route_interactive(routing: &mut Routing, end: &RunEnd<'_>) {
    let status = end.issue.state.status();
    // A person knows how they ended it themselves.
    let message = end
        .error
        .as_ref()
        .filter(|_| end.status != RunStatus::Cancelled)
        .map(|error| error.message.as_str());
    routing.event = match end.status {
        RunStatus::Tampered => waits_or_works(status).then(|| IssueEvent::Tampered {
            reason: message.unwrap_or_default().to_owned(),
        }),
        _ => (status == IssueStatus::InProgress).then(|| IssueEvent::TakenOver {
            reason: reason(message),
        }),
    };
}

/// What people read about the issue from then on.
fn reason(message: Option<&str>) -> String {
    const WHO: &str = "a person has taken it over";
    match message {
        None => WHO.to_owned(),
        Some(why) => format!("{WHO}; its last session ended early: {why}"),
    }
}
