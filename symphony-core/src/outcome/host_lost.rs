//! Runs whose host was lost. It says nothing about the task or the model, unless it happens again and again.

use super::routing::Routing;
use super::run_end::RunEnd;
use super::waits_or_works;
use crate::failure::ErrorClass;
use crate::issue::{IssueEvent, IssueStatus};
use crate::wording::counted;

/// How many runs on an issue may lose their host in a row: hosts die now and then, and one task that ends five of them, by its memory for
/// example, would end the next one, too.
pub const HOSTS_LOST_MAX: u32 = 5;

/// Returns whether a run ended because its host was lost.
pub(super) fn is_lost(end: &RunEnd<'_>) -> bool {
    let error = end.error.as_ref();
    error.is_some_and(|error| error.class == ErrorClass::HostLost)
}

/// Lets the issue be tried again at once, on another host: no attempt is used. After [`HOSTS_LOST_MAX`] in a row the issue is blocked, so
/// that it does not go round all hosts. A person who continues it allows as many again.
pub(super) fn route_lost(routing: &mut Routing, end: &RunEnd<'_>) {
    let status = end.issue.state.status();
    let lost = end.hosts_lost_before.saturating_add(1);
    let is_blocked = lost.is_multiple_of(HOSTS_LOST_MAX) && waits_or_works(status);
    if is_blocked {
        let id = &end.issue.id;
        let reason = format!(
            "{} in a row ended because their hosts were lost, so the task itself may be the cause",
            counted(HOSTS_LOST_MAX.into(), "run")
        );
        routing.comment = Some(format!(
            "Blocked: {reason}. `symphony runs list --issue {id}` shows on which hosts; `symphony issue move {id} todo` continues it."
        ));
        routing.event = Some(IssueEvent::HostsLost { reason });
    } else {
        routing.event = (status == IssueStatus::InProgress).then_some(IssueEvent::RunReturned);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::run;
    use super::*;
    use crate::Timestamp;
    use crate::agent::AgentType;
    use crate::issue::{AttemptCounts, Block, BlockedBy, BreakerTarget, IssueState, apply};
    use crate::outcome::{Evidence, FailureLimits, route_run_end};
    use crate::run::{RunError, RunStatus};

    #[test]
    fn a_lost_host_uses_no_attempt_and_every_fifth_in_a_row_blocks() {
        let counts = AttemptCounts {
            consecutive_failures: 2,
            total_runs: 14,
        };
        for (agent, state, before, expected) in [
            (AgentType::Worker, IssueState::InProgress, 0, Some("todo")),
            (AgentType::Worker, IssueState::InProgress, 3, Some("todo")),
            (
                AgentType::Worker,
                IssueState::InProgress,
                4,
                Some("blocked"),
            ),
            (AgentType::Worker, IssueState::InProgress, 5, Some("todo")),
            (
                AgentType::Worker,
                IssueState::InProgress,
                9,
                Some("blocked"),
            ),
            // the agent gave it back, and then its host was lost
            (AgentType::Worker, IssueState::Todo, 0, None),
            (AgentType::Worker, IssueState::Todo, 4, Some("blocked")),
            (AgentType::Judge, IssueState::Review, 0, None),
            (AgentType::Judge, IssueState::Review, 4, Some("blocked")),
            // a person moved it meanwhile
            (AgentType::Worker, IssueState::Backlog, 4, None),
            (AgentType::Worker, IssueState::Done, 4, None),
        ] {
            let run = run(agent, false);
            let issue = crate::issue::samples::issue(state.clone(), counts);
            let end = RunEnd {
                run: &run,
                issue: &issue,
                status: RunStatus::Crashed,
                error: Some(RunError {
                    class: ErrorClass::HostLost,
                    message: "host h1 did not come back".into(),
                }),
                evidence: Evidence::None,
                accepted: None,
                awaits_gates: false,
                cap: None,
                unprepared_before: 0,
                hosts_lost_before: before,
                refused: None,
                idle: None,
                limited: None,
                rejected_before: None,
                limits: FailureLimits {
                    max_retries: 15,
                    max_backoff_ms: 1,
                    breaker_target: BreakerTarget::Backlog,
                },
            };
            let routing = route_run_end(&end, Timestamp::UNIX_EPOCH);
            assert_eq!(routing.counts, counts, "{state:?} {before}");
            assert_eq!(routing.retry, None, "{state:?} {before}");
            let next = routing
                .event
                .as_ref()
                .map(|event| apply(&state, event).unwrap());
            let next = next.as_ref().map(|state| state.status().name());
            assert_eq!(next, expected, "{state:?} {before}");
            assert_eq!(routing.comment.is_some(), expected == Some("blocked"));
        }
    }

    #[test]
    fn the_block_says_why_and_what_to_do() {
        let event = IssueEvent::HostsLost { reason: "r".into() };
        let block = Block {
            by: BlockedBy::HostsLost,
            reason: "r".into(),
        };
        for state in [IssueState::InProgress, IssueState::Todo, IssueState::Review] {
            assert_eq!(
                apply(&state, &event).unwrap().block(),
                Some(&block),
                "{state:?}"
            );
        }
    }
}
