//! The answer of a tool call: structured content and a short text; guidance is in both.

use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Map, Value, json};
use symphony_core::hand_in::RefusalKind;
use symphony_core::issue::FieldError;
use symphony_core::review_point::PointError;
use symphony_store::StoreError;
use symphony_workspace::WorkspaceError;

/// A tool's answer.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    message: String,
    fields: Map<String, Value>,
}

impl Answer {
    /// Starts an answer from its short text.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            fields: Map::new(),
        }
    }

    /// Adds a field to the structured content.
    pub(crate) fn with(mut self, name: &str, value: Value) -> Self {
        self.fields.insert(name.to_owned(), value);
        self
    }

    /// Turns the answer into MCP's form. Some clients show their model only the structured part, others only the text:
    /// so the message is in both, and the text of a large answer is its JSON.
    pub(crate) fn into_result(mut self) -> CallToolResult {
        let text = if self.fields.is_empty() {
            self.message.clone()
        } else {
            format!("{}\n{}", self.message, Value::Object(self.fields.clone()))
        };
        self.fields
            .insert("message".to_owned(), Value::String(self.message));
        let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
        result.structured_content = Some(Value::Object(self.fields));
        result
    }
}

/// Why a tool refused a call: a text that says what to do instead.
#[derive(Debug, Clone)]
pub(crate) struct ToolError {
    /// The kind of refusal, by which repeated refusals are compared.
    pub(crate) kind: RefusalKind,
    /// What the agent reads.
    pub(crate) text: String,
}

impl ToolError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self::of_kind(RefusalKind::Other, message)
    }

    pub(crate) fn of_kind(kind: RefusalKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            text: message.into(),
        }
    }

    /// Returns the same refusal with another kind.
    pub(crate) fn with_kind(self, kind: RefusalKind) -> Self {
        Self { kind, ..self }
    }

    /// Turns the refusal into MCP's form.
    pub(crate) fn into_result(self) -> CallToolResult {
        let mut result = CallToolResult::error(vec![ContentBlock::text(self.text.clone())]);
        result.structured_content = Some(json!({ "error": self.text }));
        result
    }
}

impl From<FieldError> for ToolError {
    fn from(error: FieldError) -> Self {
        Self::new(error.to_string())
    }
}

impl From<PointError> for ToolError {
    fn from(error: PointError) -> Self {
        StoreError::from(error).into()
    }
}

impl From<StoreError> for ToolError {
    fn from(error: StoreError) -> Self {
        let hint = match &error {
            StoreError::Busy(_) | StoreError::Unreachable(_) | StoreError::NoAnswer { .. } => {
                " Call again in a moment."
            }
            StoreError::Overtaxed(_) => " Call again in a moment, and ask for less if that fails.",
            StoreError::Unknown(_) => " Read what is there before you call again.",
            StoreError::Superseded { .. } => " Stop working: another run took over.",
            StoreError::NotFound { what: "issue", .. } => " Use `list_issues` to find identifiers.",
            _ => "",
        };
        let kind = match &error {
            StoreError::Point(PointError::Unanswered { .. }) => RefusalKind::UnansweredPoints,
            _ => RefusalKind::Other,
        };
        let text = error.to_string();
        Self::of_kind(
            kind,
            if hint.is_empty() {
                text
            } else {
                format!("{text}.{hint}")
            },
        )
    }
}

impl From<WorkspaceError> for ToolError {
    fn from(error: WorkspaceError) -> Self {
        Self::new(error.to_string())
    }
}
