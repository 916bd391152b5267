//! Secrets in a configuration that is handed to workers: only their names leave the control, and each worker finds the values itself.
//!
//! In the place of the value of a variable with a secret's name is an object `{ "secret": NAME }`.

use serde_json::{Map, Value, json};

use crate::secrets::secret_of_variable;

/// The key of an object that names a secret.
const SECRET: &str = "secret";

/// Puts names in the place of the values of secrets, of the variables of a project's `env`, and of each provider's: of those whose name is that of
/// a secret, and of addresses with a password.
pub fn without_secrets(document: &mut Value) {
    for environment in environments(document) {
        for (name, value) in environment {
            let is_secret = value
                .as_str()
                .is_some_and(|text| secret_of_variable(name, text).is_some());
            if is_secret {
                *value = json!({ SECRET: name });
            }
        }
    }
}

/// Puts the values of secrets where they are named, in all layers; `secret` finds one. Returns the names of those that it does not find.
pub fn with_secrets(
    layers: &mut Value,
    mut secret: impl FnMut(&str) -> Option<String>,
) -> Vec<String> {
    let mut missing = Vec::new();
    let layers = layers.as_array_mut().into_iter().flatten();
    for value in layers.flat_map(environments).flat_map(Map::values_mut) {
        let Some(name) = value.get(SECRET).and_then(Value::as_str) else {
            continue;
        };
        match secret(name) {
            Some(found) => *value = Value::String(found),
            None if missing.iter().any(|known| known == name) => {}
            None => missing.push(name.to_owned()),
        }
    }
    missing
}

/// Returns every `env` of a document.
fn environments(document: &mut Value) -> Vec<&mut Map<String, Value>> {
    let mut found = Vec::new();
    for (name, value) in document.as_object_mut().into_iter().flatten() {
        match name.as_str() {
            "env" => found.extend(value.as_object_mut()),
            "providers" => push_below(value, &mut found),
            _ => {}
        }
    }
    found
}

/// Adds every `env` below the providers: of each, and of each program that speaks the Agent Client Protocol.
fn push_below<'a>(value: &'a mut Value, found: &mut Vec<&'a mut Map<String, Value>>) {
    for (name, value) in value.as_object_mut().into_iter().flatten() {
        if name == "env" {
            found.extend(value.as_object_mut());
        } else {
            push_below(value, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_secrets_leave_and_values_come_back() {
        let written = json!({
            "env": { "RUST_BACKTRACE": "1", "NPM_TOKEN": "hunter2" },
            "providers": {
                "claude-cli": { "env": { "ANTHROPIC_API_KEY": "hunter3", "HTTPS_PROXY": "http://p", "HTTP_PROXY": "http://me:hunter5@p" } },
                "acp": { "goose": { "env": { "OPENAI_API_KEY": "hunter4" } } },
            },
            "gates": [{ "name": "t", "command": "make" }],
        });
        let mut handed = written.clone();
        without_secrets(&mut handed);
        let text = handed.to_string();
        assert!(!text.contains("hunter"), "{text}");
        assert_eq!(handed["env"]["NPM_TOKEN"], json!({ "secret": "NPM_TOKEN" }));
        assert_eq!(handed["env"]["RUST_BACKTRACE"], "1");
        let value = |name: &str| {
            Some(match name {
                "NPM_TOKEN" => "hunter2".to_owned(),
                "ANTHROPIC_API_KEY" => "hunter3".to_owned(),
                "OPENAI_API_KEY" => "hunter4".to_owned(),
                "HTTP_PROXY" => "http://me:hunter5@p".to_owned(),
                _ => return None,
            })
        };
        let mut layers = json!([handed.clone()]);
        assert_eq!(with_secrets(&mut layers, value), [""; 0]);
        assert_eq!(layers[0], written);
        let mut layers = json!([handed.clone(), handed]);
        let missing = with_secrets(&mut layers, |name| value(name).filter(|v| v != "hunter3"));
        assert_eq!(missing, ["ANTHROPIC_API_KEY"]);
    }

    #[test]
    fn what_is_no_document_is_left_alone() {
        for mut odd in [
            json!(null),
            json!([1]),
            json!({ "env": 3, "providers": [] }),
        ] {
            let before = odd.clone();
            without_secrets(&mut odd);
            assert_eq!(odd, before);
            assert_eq!(with_secrets(&mut odd, |_| None), [""; 0]);
        }
    }
}
