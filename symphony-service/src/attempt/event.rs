//! What an attempt reports while it works (section 10.4): lines of JSON in the file of its worker.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use symphony_core::Timestamp;

/// Something that happened in an attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptEvent {
    /// What happened.
    pub event: EventKind,
    /// When.
    pub at: Timestamp,
    /// The process of the app-server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<i32>,
    /// The conversation, once there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// The turn, once there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
    /// Turns that this attempt has begun.
    #[serde(default)]
    pub turn_count: u32,
    /// What the attempt has used so far: absolute, never a difference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Limits of rates, as the app-server reports them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_limits: Option<Value>,
    /// What happened, on one line of bounded length, for people. Nothing is decided by it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
}

impl AttemptEvent {
    /// Returns the id of the session: that of the conversation and that of its turn.
    pub fn session_id(&self) -> Option<String> {
        let thread = self.thread_id.as_deref()?;
        let turn = self.turn_id.as_deref()?;
        Some(format!("{thread}-{turn}"))
    }
}

/// Tokens that an attempt has used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens that the model read.
    pub input_tokens: u64,
    /// Tokens that the model wrote.
    pub output_tokens: u64,
    /// Both, as the app-server counts them.
    pub total_tokens: u64,
}

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EventKind {
    /// A turn has begun, and the session has an id.
    SessionStarted,
    /// The app-server did not get as far as a turn.
    StartupFailed,
    /// A turn ended well.
    TurnCompleted,
    /// A turn failed.
    TurnFailed,
    /// A turn was cancelled.
    TurnCancelled,
    /// A turn ended because the attempt met an error.
    TurnEndedWithError,
    /// The agent asked for something that only a person can give.
    TurnInputRequired,
    /// A request for approval was granted.
    ApprovalAutoApproved,
    /// The agent called a tool that does not exist.
    UnsupportedToolCall,
    /// A tool call was answered.
    ToolCallCompleted,
    /// A tool call failed.
    ToolCallFailed,
    /// The app-server said what it does.
    Notification,
    /// Another message.
    OtherMessage,
    /// A line that is no message.
    Malformed,
}

impl EventKind {
    /// Returns the name that logs and pages show.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SessionStarted => "session_started",
            Self::StartupFailed => "startup_failed",
            Self::TurnCompleted => "turn_completed",
            Self::TurnFailed => "turn_failed",
            Self::TurnCancelled => "turn_cancelled",
            Self::TurnEndedWithError => "turn_ended_with_error",
            Self::TurnInputRequired => "turn_input_required",
            Self::ApprovalAutoApproved => "approval_auto_approved",
            Self::UnsupportedToolCall => "unsupported_tool_call",
            Self::ToolCallCompleted => "tool_call_completed",
            Self::ToolCallFailed => "tool_call_failed",
            Self::Notification => "notification",
            Self::OtherMessage => "other_message",
            Self::Malformed => "malformed",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_has_the_ids_of_its_thread_and_turn() {
        let mut event = AttemptEvent {
            event: EventKind::SessionStarted,
            at: Timestamp::UNIX_EPOCH,
            pid: None,
            thread_id: Some("t".to_owned()),
            turn_id: None,
            turn_count: 0,
            usage: None,
            rate_limits: None,
            message: String::new(),
        };
        assert_eq!(event.session_id(), None);
        event.turn_id = Some("u".to_owned());
        assert_eq!(event.session_id().as_deref(), Some("t-u"));
    }

    #[test]
    fn names_in_files_and_on_pages_are_the_same() {
        for kind in [
            EventKind::SessionStarted,
            EventKind::TurnEndedWithError,
            EventKind::UnsupportedToolCall,
            EventKind::Malformed,
        ] {
            let written = serde_json::to_value(kind).unwrap();
            assert_eq!(written.as_str(), Some(kind.as_str()));
        }
    }
}
