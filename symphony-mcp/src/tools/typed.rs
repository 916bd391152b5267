//! A call's arguments, read into the type of its tool: what does not fit is named by its field, in the words of JSON.

use rmcp::model::JsonObject;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::answer::ToolError;

/// Reads the arguments of a call.
pub(super) fn typed<T: DeserializeOwned>(arguments: JsonObject) -> Result<T, ToolError> {
    serde_path_to_error::deserialize(Value::Object(arguments)).map_err(|error| {
        let field = error.path().to_string();
        let why = in_words(&error.inner().to_string());
        ToolError::new(misfit(&field, &why))
    })
}

/// Names the field, but where the reason is about the arguments as a whole, or names it already.
fn misfit(field: &str, why: &str) -> String {
    if field == "." || why.starts_with(&format!("unknown field `{field}`")) {
        format!("invalid arguments: {why}")
    } else {
        format!("invalid arguments: `{field}`: {why}")
    }
}

/// Turns serde's reason into one that names no type of Rust.
fn in_words(error: &str) -> String {
    let Some((found, expected)) = error
        .strip_prefix("invalid type: ")
        .or_else(|| error.strip_prefix("invalid value: "))
        .and_then(|text| text.rsplit_once(", expected "))
    else {
        return error.to_owned();
    };
    let found = match found {
        "map" => "an object",
        "sequence" => "a list",
        "unit value" | "null" => "null",
        other => other,
    };
    let expected = match expected {
        "a map" => "an object",
        "a sequence" => "a list",
        "f64" | "f32" => "a number",
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number, zero or more",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        other if other.starts_with("struct ") => "an object",
        other => other,
    };
    format!("found {found}, expected {expected}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::{CompletePlanPhase, ConfigureProject, ListIssues, RejectPr};
    use serde_json::json;

    fn told<T: DeserializeOwned>(arguments: &Value) -> String {
        let arguments = arguments.as_object().unwrap().clone();
        typed::<T>(arguments).map_or_else(|error| error.text, |_| "fits".to_owned())
    }

    #[test]
    fn what_does_not_fit_is_named_in_the_words_of_json() {
        let artifacts = |artifacts: Value| {
            told::<CompletePlanPhase>(&json!({ "outcome": "complete", "artifacts": artifacts }))
        };
        let all = [
            artifacts(json!(["Readme.md"])),
            artifacts(json!([{ "type": "note" }, 7])),
            artifacts(json!([{ "type": "file", "path": "a" }])),
            artifacts(json!("Readme.md")),
            told::<CompletePlanPhase>(&json!({ "outcome": { "complete": true } })),
            told::<CompletePlanPhase>(&json!({ "result": "complete" })),
            told::<ConfigureProject>(&json!({ "gates": ["cargo test"] })),
            told::<ConfigureProject>(&json!({ "gates": [{ "name": "test", "command": 7 }] })),
            told::<RejectPr>(&json!({ "comment": "no" })),
            told::<RejectPr>(&json!({ "feedback": ["no"] })),
            told::<ListIssues>(&json!({ "limit": -1 })),
            told::<ListIssues>(&json!({ "limit": 1.5 })),
        ]
        .join("\n");
        insta::assert_snapshot!(all, @r#"
        invalid arguments: `artifacts[0]`: found string "Readme.md", expected an object such as {"type": "file_created", "path": "src/a.rs"}
        invalid arguments: `artifacts[1]`: found integer `7`, expected an object such as {"type": "file_created", "path": "src/a.rs"}
        invalid arguments: `artifacts[0].type`: unknown variant `file`, expected one of `file_created`, `file_modified`, `file_deleted`, `export`, `note`
        invalid arguments: `artifacts`: found string "Readme.md", expected a list
        invalid arguments: `outcome`: found an object, expected a string
        invalid arguments: unknown field `result`, expected one of `outcome`, `error`, `artifacts`, `absorb`
        invalid arguments: `gates[0]`: found string "cargo test", expected an object such as {"name": "test", "command": "cargo test"}
        invalid arguments: `gates[0].command`: expected a command as a string
        invalid arguments: unknown field `comment`, expected `feedback` or `points`
        invalid arguments: `feedback`: found a list, expected a string
        invalid arguments: `limit`: found integer `-1`, expected a whole number, zero or more
        invalid arguments: `limit`: found floating point `1.5`, expected a whole number, zero or more
        "#);
    }
}
