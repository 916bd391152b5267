//! Secret values in what an agent writes: refused where many agents read it, replaced by their names elsewhere.

use std::borrow::Cow;
use std::collections::BTreeSet;

use rmcp::model::JsonObject;
use serde_json::Value;
use symphony_core::tools::Tool;
use symphony_workspace::Redactor;

use crate::answer::ToolError;

/// Removes the secrets from a call's arguments.
///
/// # Errors
/// For a learning or a comment that holds one: it goes into the prompts of others, for whom a placeholder would be
/// useless.
pub(crate) fn without_secrets(
    redactor: &Redactor,
    tool: Tool,
    mut arguments: JsonObject,
) -> Result<JsonObject, ToolError> {
    let is_refused = matches!(tool, Tool::AddLearning | Tool::AddComment);
    let mut held = BTreeSet::new();
    for value in arguments.values_mut() {
        redact(redactor, value, &mut |text| {
            if is_refused {
                held.extend(redactor.sources_in(text.as_bytes()));
            }
        });
    }
    if held.is_empty() {
        return Ok(arguments);
    }
    let held: Vec<String> = held.into_iter().collect();
    Err(ToolError::new(format!(
        "`{}` is refused: its text holds a secret value ({}). Nothing was recorded. Name the setting instead of its value",
        tool.name(),
        held.join(", ")
    )))
}

fn redact(redactor: &Redactor, value: &mut Value, on_hit: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(clean) = redactor.redact_text(text) {
                on_hit(text);
                *text = clean;
            }
        }
        Value::Array(items) => {
            for item in items {
                redact(redactor, item, on_hit);
            }
        }
        Value::Object(fields) => {
            for field in fields.values_mut() {
                redact(redactor, field, on_hit);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(tool: Tool, arguments: Value) -> Result<Value, String> {
        let values = [("API_KEY".to_owned(), "sk-live-0123456789".to_owned())];
        let redactor = Redactor::of(values).unwrap().unwrap();
        let Value::Object(arguments) = arguments else {
            unreachable!("a call has an object")
        };
        without_secrets(&redactor, tool, arguments)
            .map(Value::Object)
            .map_err(|error| error.text)
    }

    #[test]
    fn comments_and_learnings_are_refused_without_the_value() {
        for (tool, field) in [
            (Tool::AddComment, "content"),
            (Tool::AddLearning, "pattern"),
        ] {
            let refused = call(tool, json!({ field: "use sk-live-0123456789" })).unwrap_err();
            assert!(
                refused.contains("holds a secret value (`API_KEY`, one of your own keys)"),
                "{refused}"
            );
            assert!(!refused.contains("sk-live"), "{refused}");
            let honest = json!({ field: "use API_KEY" });
            assert_eq!(call(tool, honest.clone()), Ok(honest));
        }
    }

    #[test]
    fn other_texts_lose_the_value_at_any_depth() {
        let arguments = json!({
            "kind": "bug",
            "text": "fails with sk-live-0123456789",
            "files": ["a.rs", "c2stbGl2ZS0wMTIzNDU2Nzg5"],
            "more": { "deep": [{ "x": "sk-live-0123456789" }], "n": 7 }
        });
        let clean = call(Tool::AddFinding, arguments).unwrap();
        assert_eq!(clean["text"], "fails with [redacted: API_KEY]");
        assert_eq!(clean["more"]["deep"][0]["x"], "[redacted: API_KEY]");
        assert!(!clean.to_string().contains("c2stbGl2ZS0wMTIz"), "{clean}");
    }
}
