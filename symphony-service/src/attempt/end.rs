//! How an attempt ended.

use symphony_workflow::Ticket;

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttemptEnd {
    /// Its turns are over, and nothing failed.
    Completed {
        /// The ticket, as the tracker showed it after the last turn.
        ticket: Box<Ticket>,
    },
    /// It was stopped from outside.
    Stopped,
    /// It failed.
    Failed {
        /// The class of the failure, by which logs find it.
        class: FailureClass,
        /// Why, in a few words. It has no secret and no raw payload.
        error: String,
    },
}

/// The classes of failures (section 10.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum FailureClass {
    /// The command does not exist.
    CodexNotFound,
    /// The agent would start outside of its workspace.
    InvalidWorkspaceCwd,
    /// The app-server did not answer a request in time.
    ResponseTimeout,
    /// A turn took too long.
    TurnTimeout,
    /// The app-server ended, or closed its output.
    PortExit,
    /// The app-server answered with an error, or with something else than an answer.
    ResponseError,
    /// A turn failed.
    TurnFailed,
    /// A turn was cancelled.
    TurnCancelled,
    /// The agent asked for something that only a person can give.
    TurnInputRequired,
    /// The tracker could not be asked for the ticket after a turn.
    TicketRefresh,
    /// The system refused something that the attempt needs.
    System,
}

impl FailureClass {
    /// Returns the name that logs and pages show.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CodexNotFound => "codex_not_found",
            Self::InvalidWorkspaceCwd => "invalid_workspace_cwd",
            Self::ResponseTimeout => "response_timeout",
            Self::TurnTimeout => "turn_timeout",
            Self::PortExit => "port_exit",
            Self::ResponseError => "response_error",
            Self::TurnFailed => "turn_failed",
            Self::TurnCancelled => "turn_cancelled",
            Self::TurnInputRequired => "turn_input_required",
            Self::TicketRefresh => "issue_state_refresh_error",
            Self::System => "system_error",
        }
    }
}
