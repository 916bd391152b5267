//! What is sent to the app-server: its requests (section 10.2) and the policy for what it asks (section 10.5).

use std::path::Path;

use serde_json::{Value, json};
use symphony_workflow::config::Codex;
use symphony_workflow::{Config, Ticket};

use super::tool;

/// The policy of approvals where the settings name none: nothing is asked, since there is no person who could answer.
const APPROVAL_POLICY: &str = "never";
/// The sandbox where the settings name none: Codex's own, which lets an agent write in its workspace alone.
const SANDBOX: &str = "workspace-write";

/// What all requests of a session have in common.
#[derive(Debug)]
pub(super) struct Opening {
    cwd: String,
    title: String,
    codex: Codex,
    /// Whether `linear_graphql` is listed and served.
    pub(super) has_tool: bool,
}

impl Opening {
    pub(super) fn new(config: &Config, ticket: &Ticket, workspace: &Path) -> Self {
        Self {
            cwd: workspace.display().to_string(),
            title: format!("{}: {}", ticket.identifier, ticket.title),
            codex: config.codex.clone(),
            has_tool: tool::is_offered(config),
        }
    }

    /// Returns the parameters of `initialize`. The app-server takes tools of the client only from one that knows its
    /// experimental interface.
    pub(super) fn initialize() -> Value {
        json!({
            "clientInfo": { "name": "symphony", "title": "Symphony", "version": env!("CARGO_PKG_VERSION") },
            "capabilities": { "experimentalApi": true },
        })
    }

    /// Returns the parameters of `thread/start`.
    pub(super) fn thread(&self) -> Value {
        let mut params = json!({
            "cwd": self.cwd,
            "approvalPolicy": self.approval_policy(),
            "sandbox": self.codex.thread_sandbox.as_deref().unwrap_or(SANDBOX),
            "dynamicTools": tool::specifications(self.has_tool),
        });
        let codex = &self.codex;
        add(&mut params, "model", codex.model.as_deref());
        add(&mut params, "serviceTier", codex.service_tier.as_deref());
        params
    }

    /// Returns the parameters of `turn/start`. Without a policy of its own a turn has the sandbox of its thread.
    pub(super) fn turn(&self, thread: &str, text: &str) -> Value {
        let mut params = json!({
            "threadId": thread,
            "input": [{ "type": "text", "text": text }],
            "cwd": self.cwd,
            "title": self.title,
            "approvalPolicy": self.approval_policy(),
        });
        let codex = &self.codex;
        add(
            &mut params,
            "sandboxPolicy",
            codex.turn_sandbox_policy.clone(),
        );
        add(&mut params, "model", codex.model.as_deref());
        add(&mut params, "effort", codex.reasoning_effort.as_deref());
        add(&mut params, "serviceTier", codex.service_tier.as_deref());
        params
    }

    fn approval_policy(&self) -> Value {
        let policy = self.codex.approval_policy.clone();
        policy.unwrap_or_else(|| json!(APPROVAL_POLICY))
    }
}

/// Adds a value that the settings name; without one Codex decides.
fn add(params: &mut Value, name: &str, value: Option<impl Into<Value>>) {
    if let (Some(value), Some(members)) = (value, params.as_object_mut()) {
        members.insert(name.to_owned(), value.into());
    }
}

/// What is done about a request of the app-server.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Policy {
    /// It is granted, with this result.
    Grant(Value),
    /// It is answered in a way that grants nothing.
    Decline(Value),
    /// A tool of the client is called.
    Call,
    /// Only a person could answer: the attempt fails.
    NeedsPerson,
    /// It is for nothing that is offered.
    Unknown,
}

/// Decides about a request of the app-server.
///
/// Commands and changes of files are approved for the session: they run in the sandbox that the settings chose, and there is
/// no person to ask. A larger sandbox is not granted. A server of tools may ask for a confirmation, and not for anything
/// that has to be filled in.
pub(super) fn policy(method: &str, params: &Value) -> Policy {
    match method {
        "item/commandExecution/requestApproval" | "item/fileChange/requestApproval" => {
            Policy::Grant(json!({ "decision": "acceptForSession" }))
        }
        "execCommandApproval" | "applyPatchApproval" => {
            Policy::Grant(json!({ "decision": "approved_for_session" }))
        }
        "item/permissions/requestApproval" => {
            Policy::Decline(json!({ "permissions": {}, "scope": "turn" }))
        }
        "mcpServer/elicitation/request" => {
            let fields = params.pointer("/requestedSchema/properties");
            let is_empty = fields
                .and_then(Value::as_object)
                .is_none_or(serde_json::Map::is_empty);
            let is_form = params.get("mode").and_then(Value::as_str) != Some("url");
            if is_empty && is_form {
                Policy::Grant(json!({ "action": "accept", "content": {} }))
            } else {
                Policy::Decline(json!({ "action": "decline", "content": null }))
            }
        }
        "item/tool/call" => Policy::Call,
        _ if needs_person(method, params) => Policy::NeedsPerson,
        _ => Policy::Unknown,
    }
}

/// Says whether a message asks for something that only a person can give: by its method, or by a mark in its parameters.
pub(super) fn needs_person(method: &str, params: &Value) -> bool {
    const METHODS: [&str; 8] = [
        "item/tool/requestUserInput",
        "tool/requestUserInput",
        "turn/input_required",
        "turn/inputRequired",
        "turn/needs_input",
        "turn/request_input",
        "turn/request_response",
        "turn/approval_required",
    ];
    const MARKS: [&str; 8] = [
        "/requiresInput",
        "/needsInput",
        "/inputRequired",
        "/input_required",
        "/turn/requiresInput",
        "/turn/needsInput",
        "/turn/inputRequired",
        "/turn/input_required",
    ];
    let is_marked = |path: &&str| params.pointer(path) == Some(&Value::Bool(true));
    METHODS.contains(&method) || (method.starts_with("turn/") && MARKS.iter().any(is_marked))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn approvals_are_granted_for_the_session_and_a_larger_sandbox_is_not() {
        for (method, expected) in [
            (
                "item/commandExecution/requestApproval",
                Policy::Grant(json!({"decision": "acceptForSession"})),
            ),
            (
                "item/fileChange/requestApproval",
                Policy::Grant(json!({"decision": "acceptForSession"})),
            ),
            (
                "execCommandApproval",
                Policy::Grant(json!({"decision": "approved_for_session"})),
            ),
            (
                "applyPatchApproval",
                Policy::Grant(json!({"decision": "approved_for_session"})),
            ),
            (
                "item/permissions/requestApproval",
                Policy::Decline(json!({"permissions": {}, "scope": "turn"})),
            ),
            ("item/tool/requestUserInput", Policy::NeedsPerson),
            ("item/tool/call", Policy::Call),
            ("account/chatgptAuthTokens/refresh", Policy::Unknown),
        ] {
            assert_eq!(policy(method, &json!({})), expected, "{method}");
        }
    }

    #[test]
    fn a_server_of_tools_gets_a_confirmation_and_no_form() {
        let ask = |params: Value| policy("mcpServer/elicitation/request", &params);
        let confirm =
            json!({"mode": "form", "requestedSchema": {"type": "object", "properties": {}}});
        assert!(matches!(ask(confirm), Policy::Grant(_)));
        let form = json!({"requestedSchema": {"properties": {"password": {"type": "string"}}}});
        assert!(matches!(ask(form), Policy::Decline(_)));
        assert!(matches!(
            ask(json!({"mode": "url", "url": "https://x"})),
            Policy::Decline(_)
        ));
    }

    #[test]
    fn a_question_to_a_person_is_known_by_method_or_mark() {
        assert!(needs_person("turn/input_required", &Value::Null));
        assert!(needs_person(
            "turn/updated",
            &json!({"turn": {"inputRequired": true}})
        ));
        assert!(!needs_person(
            "turn/updated",
            &json!({"turn": {"inputRequired": false}})
        ));
        assert!(!needs_person(
            "item/completed",
            &json!({"inputRequired": true})
        ));
    }
}
