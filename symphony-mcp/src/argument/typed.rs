//! Deserializes the arguments of a call into the type of its tool. An error names the field, in the terms of JSON.

use rmcp::model::JsonObject;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::answer::ToolError;

/// Reads the arguments of a call.
pub(crate) fn typed<T: DeserializeOwned>(arguments: JsonObject) -> Result<T, ToolError> {
    serde_path_to_error::deserialize(Value::Object(arguments)).map_err(|error| {
        let field = error.path().to_string();
        let why = in_words(&error.inner().to_string());
        ToolError::new(misfit(&field, &why))
    })
}

/// Names the field, unless the reason concerns the arguments as a whole or names it already.
fn misfit(field: &str, why: &str) -> String {
    if field == "." || why.starts_with(&format!("unknown field `{field}`")) {
        format!("invalid arguments: {why}")
    } else {
        format!("invalid arguments: `{field}`: {why}")
    }
}

/// Turns serde's reason into one that names no Rust type.
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
