//! Whether a CLI refused to resume a session, so that the same run starts again with its full prompt.

use crate::failure::ErrorClass;

/// How the agent of a run that resumed a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResumedEnd {
    /// Why it did not succeed; `None` if it did.
    pub class: Option<ErrorClass>,
    /// Whether it ended by itself, and not by a limit or a person.
    pub by_itself: bool,
    /// Whether its model answered or called a tool.
    pub has_worked: bool,
    /// Whether its CLI silently started another session.
    pub other_session: bool,
}

/// Returns whether the session could not be resumed. Then nothing was done, and the full prompt is used in the same run.
///
/// What the provider says about itself (limits, credentials, an outage) is not a reason: a new session would meet the same.
pub const fn is_refused(end: &ResumedEnd) -> bool {
    if end.has_worked {
        return false;
    }
    end.other_session
        || end.by_itself
            && matches!(
                end.class,
                Some(
                    ErrorClass::AgentFailed
                        | ErrorClass::InvalidRequest
                        | ErrorClass::PromptTooLong
                        // Codex ends like this before its first event, whatever the reason.
                        | ErrorClass::McpUnavailable
                )
            )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_end_before_any_work_that_the_session_explains_is_a_refusal() {
        use ErrorClass::{
            AgentFailed, AuthFailed, Cancelled, InvalidRequest, McpUnavailable, ModelError,
            Network, Overloaded, PromptTooLong, RateLimited, TimedOut,
        };
        for (class, by_itself, has_worked, other_session, expected) in [
            (Some(AgentFailed), true, false, false, true),
            (Some(InvalidRequest), true, false, false, true),
            (Some(PromptTooLong), true, false, false, true),
            (Some(McpUnavailable), true, false, false, true),
            (Some(AgentFailed), true, true, false, false),
            (Some(PromptTooLong), true, true, false, false),
            (Some(AgentFailed), false, false, false, false),
            (Some(AgentFailed), false, false, true, true),
            (Some(AgentFailed), false, true, true, false),
            (None, true, false, false, false),
            (Some(RateLimited), true, false, false, false),
            (Some(Overloaded), true, false, false, false),
            (Some(AuthFailed), true, false, false, false),
            (Some(Network), true, false, false, false),
            (Some(ModelError), true, false, false, false),
            (Some(TimedOut), false, false, false, false),
            (Some(Cancelled), false, false, false, false),
        ] {
            let end = ResumedEnd {
                class,
                by_itself,
                has_worked,
                other_session,
            };
            assert_eq!(is_refused(&end), expected, "{end:?}");
        }
    }
}
