//! The tools that the service offers to an agent (section 10.5): one, `linear_graphql`.

use serde_json::{Map, Value, json};
use symphony_sync::linear_polls::PollError;
use symphony_workflow::Config;

use super::document::operations;

/// The name of the tool.
pub(super) const LINEAR_GRAPHQL: &str = "linear_graphql";

/// Longest query that is sent, in bytes.
const QUERY_BYTES_MAX: usize = 256 * 1024;

/// Says whether the settings allow the tool: their tracker is Linear, and they have its token.
pub(super) fn is_offered(config: &Config) -> bool {
    let is_linear = config.tracker.kind.as_deref() == Some("linear");
    is_linear && config.tracker.api_key.is_some()
}

/// Returns the tools as the handshake lists them.
pub(super) fn specifications(is_offered: bool) -> Value {
    if !is_offered {
        return json!([]);
    }
    json!([{
        "type": "function",
        "name": LINEAR_GRAPHQL,
        "description": "Sends one GraphQL query or mutation to Linear, with the access of the service that runs this \
            session, and returns Linear's answer. Use it to read and change issues, comments and states.",
        "inputSchema": {
            "type": "object",
            "additionalProperties": false,
            "required": ["query"],
            "properties": {
                "query": {
                    "type": "string",
                    "description": "A GraphQL document with exactly one operation.",
                },
                "variables": {
                    "type": ["object", "null"],
                    "description": "The variables of the operation.",
                    "additionalProperties": true,
                },
            },
        },
    }])
}

/// What an agent wants to ask Linear.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Question {
    /// A document with one operation.
    pub(super) query: String,
    /// Its variables, an object.
    pub(super) variables: Value,
}

/// Why a call was not served.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum CallFault {
    /// There is no such tool.
    #[error("there is no tool `{0}`; the only tool that a session can have is linear_graphql")]
    Unsupported(String),
    /// The settings have no tracker that the tool can reach.
    #[error("the workflow's tracker is not Linear, or has no token")]
    MissingToken,
    /// The arguments are of no use.
    #[error("{0}")]
    InvalidArguments(String),
    /// Too much is asked for at once.
    #[error("too many calls at once: wait for the answers of earlier ones")]
    TooMany,
}

impl CallFault {
    /// Returns the name by which a program tells faults apart.
    const fn code(&self) -> &'static str {
        match self {
            Self::Unsupported(_) => "unsupported_tool_call",
            Self::MissingToken => "missing_tracker_api_key",
            Self::InvalidArguments(_) => "invalid_arguments",
            Self::TooMany => "too_many_calls",
        }
    }
}

/// Reads the arguments of a call: an object, or the query alone.
///
/// # Errors
/// [`CallFault::InvalidArguments`].
pub(super) fn question(arguments: &Value) -> Result<Question, CallFault> {
    let invalid = |text: &str| CallFault::InvalidArguments(text.to_owned());
    let (query, variables) = match arguments {
        Value::String(query) => (query.as_str(), None),
        Value::Object(members) => {
            let query = members.get("query").and_then(Value::as_str);
            let query = query.ok_or_else(|| invalid("`query` must be a text"))?;
            (query, members.get("variables"))
        }
        _ => return Err(invalid("the arguments must be an object with `query`")),
    };
    if query.trim().is_empty() {
        return Err(invalid("`query` must not be empty"));
    }
    if query.len() > QUERY_BYTES_MAX {
        return Err(invalid("`query` is longer than 256 KiB"));
    }
    let variables = match variables {
        None | Some(Value::Null) => Value::Object(Map::new()),
        Some(Value::Object(members)) => Value::Object(members.clone()),
        Some(_) => return Err(invalid("`variables` must be an object")),
    };
    match operations(query) {
        Ok(1) => Ok(Question {
            query: query.to_owned(),
            variables,
        }),
        Ok(0) => Err(invalid(
            "`query` has no operation: send one query or one mutation",
        )),
        Ok(count) => Err(CallFault::InvalidArguments(format!(
            "`query` has {count} operations: send one in each call"
        ))),
        Err(fault) => Err(CallFault::InvalidArguments(fault.to_string())),
    }
}

/// The result of a call, as the app-server takes it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ToolAnswer {
    /// Whether it did what was asked.
    pub(super) is_success: bool,
    payload: Value,
}

impl ToolAnswer {
    /// Takes Linear's answer. Errors of GraphQL are a failure, and the agent sees the whole answer.
    pub(super) fn of(answer: Result<Value, PollError>) -> Self {
        match answer {
            Ok(body) => Self {
                is_success: match body.get("errors") {
                    None | Some(Value::Null) => true,
                    Some(Value::Array(errors)) => errors.is_empty(),
                    Some(_) => false,
                },
                payload: body,
            },
            Err(error) => Self::failure(error.class(), &error.to_string()),
        }
    }

    /// Returns the answer to a call that was not served.
    pub(super) fn refusal(fault: &CallFault) -> Self {
        Self::failure(fault.code(), &fault.to_string())
    }

    fn failure(code: &str, message: &str) -> Self {
        Self {
            is_success: false,
            payload: json!({ "error": { "code": code, "message": message } }),
        }
    }

    /// Returns the result in the shape of today's app-server, with the members that older ones read.
    pub(super) fn result(&self) -> Value {
        let text = self.payload.to_string();
        let mut result = json!({
            "success": self.is_success,
            "contentItems": [{ "type": "inputText", "text": text }],
            "output": text,
        });
        if let (Some(error), Some(members)) =
            (self.payload.pointer("/error/code"), result.as_object_mut())
        {
            members.insert("error".to_owned(), error.clone());
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_an_object_or_a_query() {
        let expected = Question {
            query: "{ viewer { id } }".to_owned(),
            variables: json!({}),
        };
        for arguments in [
            json!("{ viewer { id } }"),
            json!({"query": "{ viewer { id } }"}),
            json!({"query": "{ viewer { id } }", "variables": null}),
        ] {
            assert_eq!(question(&arguments).unwrap(), expected, "{arguments}");
        }
        let with =
            question(&json!({"query": "query A($a: Int) { b(a: $a) }", "variables": {"a": 1}}));
        assert_eq!(with.unwrap().variables, json!({"a": 1}));
    }

    #[test]
    fn arguments_that_are_of_no_use_say_why() {
        for (arguments, expected) in [
            (json!(null), "the arguments must be an object"),
            (json!([1]), "the arguments must be an object"),
            (json!({}), "`query` must be a text"),
            (json!({"query": 1}), "`query` must be a text"),
            (json!({"query": " \n"}), "`query` must not be empty"),
            (json!(""), "`query` must not be empty"),
            (
                json!({"query": "{ a }", "variables": "b"}),
                "`variables` must be an object",
            ),
            (
                json!({"query": "{ a }", "variables": [1]}),
                "`variables` must be an object",
            ),
            (json!({"query": "{ a } { b }"}), "`query` has 2 operations"),
            (
                json!({"query": "fragment F on A { b }"}),
                "`query` has no operation",
            ),
            (
                json!({"query": "subscription { a }"}),
                "subscriptions are not supported",
            ),
            (json!({"query": "{ a"}), "the document ends inside"),
            (json!("a".repeat(QUERY_BYTES_MAX + 1)), "`query` is longer"),
        ] {
            let fault = question(&arguments).unwrap_err();
            assert!(fault.to_string().starts_with(expected), "{fault}");
            assert_eq!(fault.code(), "invalid_arguments");
        }
    }

    #[test]
    fn errors_of_graphql_are_a_failure_that_keeps_the_answer() {
        let body = json!({"data": {"a": null}, "errors": [{"message": "no"}]});
        let answer = ToolAnswer::of(Ok(body.clone()));
        let result = answer.result();
        assert_eq!(result["success"], false);
        let text = result["contentItems"][0]["text"].as_str().unwrap();
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), body);
        assert_eq!(result["output"], text);
        for (body, is_success) in [
            (json!({"data": {}}), true),
            (json!({"data": {}, "errors": []}), true),
            (json!({"data": {}, "errors": null}), true),
            (json!({"errors": "odd"}), false),
        ] {
            assert_eq!(ToolAnswer::of(Ok(body)).is_success, is_success);
        }
    }

    #[test]
    fn faults_have_a_name_and_a_text() {
        let fault = PollError::Status {
            status: 503,
            detail: "busy".to_owned(),
        };
        for (answer, code) in [
            (ToolAnswer::of(Err(fault)), "linear_api_status"),
            (
                ToolAnswer::refusal(&CallFault::MissingToken),
                "missing_tracker_api_key",
            ),
            (
                ToolAnswer::refusal(&CallFault::Unsupported("rm".to_owned())),
                "unsupported_tool_call",
            ),
        ] {
            let result = answer.result();
            assert_eq!(
                (&result["success"], &result["error"]),
                (&json!(false), &json!(code))
            );
            assert!(result["output"].as_str().unwrap().contains("message"));
        }
    }

    #[test]
    fn without_a_token_no_tool_is_listed() {
        assert_eq!(specifications(false), json!([]));
        assert_eq!(specifications(true)[0]["name"], LINEAR_GRAPHQL);
    }
}
