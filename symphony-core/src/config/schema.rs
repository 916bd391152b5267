//! The JSON Schema of a configuration file, made from the table of keys.

use serde_json::{Map, Value, json};

use super::key::{DefaultValue, Each, Key, Kind, Leaf, NameRule, Scope, TextRule};
use super::provider::{ACP_NAME_CHARS_MAX, ProviderChoice};
use super::table::KEYS;
use crate::issue::{IssueStatus, Priority};
use crate::placement::NAME_CHARS_MAX;
use crate::plan::failure::{FAILURE_PATTERN_CHARS_MAX, FailureClass};
use crate::prompt_trial::TRIAL_NAME_CHARS_MAX;
use crate::user::USER_NAME_CHARS_MAX;

/// Returns the JSON Schema (draft 2020-12) of a configuration file, `config schema`.
///
/// A camelCase alias is a deprecated property that refers to the one it means.
pub fn json_schema() -> Value {
    let mut schema = section(KEYS, "#", |_| true);
    let project = section(KEYS, "#/$defs/project", |key| key.scope != Scope::TopLevel);
    if let Some(fields) = schema.as_object_mut() {
        fields.insert(
            "$schema".to_owned(),
            json!("https://json-schema.org/draft/2020-12/schema"),
        );
        fields.insert("title".to_owned(), json!("Symphony configuration"));
        fields.insert("$defs".to_owned(), json!({ "project": project }));
    }
    schema
}

/// Describes an object with these keys; `at` is where it is, for the aliases.
fn section(keys: &'static [Key], at: &str, has: impl Fn(&Key) -> bool) -> Value {
    let mut properties = Map::new();
    for key in keys.iter().filter(|key| has(key)) {
        let pointer = format!("{at}/properties/{}", key.name);
        if key.has_alias() {
            properties.insert(key.alias(), json!({ "$ref": pointer, "deprecated": true }));
        }
        properties.insert(key.name.to_owned(), property(key, &pointer));
    }
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

fn property(key: &'static Key, at: &str) -> Value {
    let optional = matches!(key.default, DefaultValue::Unset(_)) && !at.contains("/items/");
    let mut schema = match key.kind {
        Kind::Leaf(of) if optional => {
            json!({ "anyOf": [leaf(of), { "type": "null" }] })
        }
        Kind::Leaf(of) => leaf(of),
        Kind::Section(keys) => match key.short().map(|key| key.kind) {
            Some(Kind::Leaf(short)) => {
                let whole = section(keys, &format!("{at}/anyOf/0"), |_| true);
                json!({ "anyOf": [whole, leaf(short)] })
            }
            _ => section(keys, at, |_| true),
        },
        Kind::Map(rule, each) => map(rule, each, at),
        Kind::List(keys) => list(keys, at),
        Kind::Projects => {
            json!({ "type": "object", "additionalProperties": { "$ref": "#/$defs/project" } })
        }
    };
    if let Some(fields) = schema.as_object_mut() {
        fields.insert("description".to_owned(), json!(key.doc));
        if let Some(default) = key.default_json() {
            fields.insert("default".to_owned(), default);
        }
        if let DefaultValue::Unset(example) = key.default
            && let Ok(example) = serde_json::from_str::<Value>(example)
        {
            fields.insert("examples".to_owned(), json!([example]));
        }
    }
    schema
}

fn map(rule: NameRule, each: Each, at: &str) -> Value {
    let value = match each {
        Each::Leaf(of) => json!({ "anyOf": [leaf(of), { "type": "null" }] }),
        Each::Section(keys) => section(keys, &format!("{at}/additionalProperties"), |_| true),
    };
    let value = match (rule, each, value) {
        // a user has all keys
        (NameRule::User, Each::Section(_), Value::Object(mut user)) => {
            user.insert("required".to_owned(), json!(["role", "token"]));
            Value::Object(user)
        }
        (_, _, value) => value,
    };
    let names = match rule {
        NameRule::Environment => json!({ "pattern": "^[^=]+$" }),
        NameRule::FailureClass => json!({ "enum": FailureClass::OF_TEXTS }),
        NameRule::User => {
            json!({ "pattern": "^[a-z][a-z0-9-]*$", "maxLength": USER_NAME_CHARS_MAX })
        }
        NameRule::Status => json!({ "enum": IssueStatus::NAMES }),
        NameRule::Priority => json!({ "enum": Priority::NAMES }),
        NameRule::Phase | NameRule::AgentType | NameRule::Tracker => {
            json!({ "pattern": "^[a-z][a-z0-9]*(-[a-z0-9]+)*$", "maxLength": 64 })
        }
        // the keys of the program without a name are among the names
        NameRule::AcpProgram => {
            json!({ "pattern": "^[a-z0-9][a-zA-Z0-9_-]*$", "maxLength": ACP_NAME_CHARS_MAX })
        }
    };
    let mut map =
        json!({ "type": "object", "propertyNames": names, "additionalProperties": value });
    if let (Some(_), Each::Section(keys), Some(fields)) =
        (rule.unnamed(), each, map.as_object_mut())
    {
        let mut unnamed = section(keys, at, |_| true);
        let properties = unnamed.get_mut("properties").map(Value::take);
        fields.insert("properties".to_owned(), properties.unwrap_or_default());
    }
    map
}

fn list(keys: &'static [Key], at: &str) -> Value {
    let mut item = section(keys, &format!("{at}/items"), |_| true);
    let required: Vec<&str> = keys
        .iter()
        .filter(|key| matches!(key.default, DefaultValue::Unset(_)))
        .map(|key| key.name)
        .collect();
    if let Some(fields) = item.as_object_mut() {
        fields.insert("required".to_owned(), json!(required));
    }
    json!({ "type": "array", "items": item })
}

fn leaf(leaf: Leaf) -> Value {
    match leaf {
        Leaf::Bool => json!({ "type": "boolean" }),
        Leaf::Integer { min, max } => json!({ "type": "integer", "minimum": min, "maximum": max }),
        Leaf::Usd => {
            json!({ "type": "number", "exclusiveMinimum": 0, "maximum": super::defaults::SPENDING_USD_MAX })
        }
        Leaf::Share => json!({ "type": "number", "minimum": 0, "maximum": 1 }),
        Leaf::Text(rule) => text(rule),
        Leaf::Texts(rule) => json!({ "type": "array", "items": text(rule) }),
        Leaf::Choice(names) => json!({ "enum": names }),
        Leaf::Path(_) | Leaf::Database | Leaf::Program => text(TextRule::Line),
        Leaf::Command => json!({ "anyOf": [
            { "type": "string", "pattern": "\\S" },
            { "type": "array", "items": { "type": "string" }, "minItems": 1 },
        ] }),
    }
}

fn text(rule: TextRule) -> Value {
    match rule {
        TextRule::Any => json!({ "type": "string" }),
        TextRule::Line => json!({ "type": "string", "pattern": "^[^\\r\\n]*\\S[^\\r\\n]*$" }),
        TextRule::Prefix => json!({ "type": "string", "pattern": "^[A-Z][A-Z0-9]{0,9}$" }),
        TextRule::Branch => json!({
            "type": "string",
            "pattern": "^[^-\\s][^\\s~^:?*\\[\\\\]*$",
            "not": { "pattern": "^symphony/" }
        }),
        TextRule::Glob => json!({ "type": "string", "pattern": "^[^/~]" }),
        TextRule::FailurePattern => {
            json!({ "type": "string", "minLength": 1, "maxLength": FAILURE_PATTERN_CHARS_MAX })
        }
        TextRule::TokenHash => json!({ "type": "string", "pattern": "^sha256:[0-9a-fA-F]{64}$" }),
        TextRule::AbsolutePath => json!({ "type": "string", "pattern": "^~?/+[^/]" }),
        TextRule::AllowedHost => {
            json!({ "type": "string", "pattern": "^(\\*\\.)?[A-Za-z0-9._-]+(:[0-9]+)?$|^\\[[0-9A-Fa-f:.]+\\]:[0-9]+$" })
        }
        TextRule::Provider => json!({ "anyOf": [
            { "enum": ProviderChoice::NAMES.iter().filter(|name| ProviderChoice::parse(name).is_ok()).collect::<Vec<_>>() },
            { "type": "string", "pattern": "^acp\\.[a-z0-9][a-z0-9-]*$", "maxLength": ACP_NAME_CHARS_MAX + 4 },
        ] }),
        TextRule::Pool => {
            json!({ "type": "string", "pattern": "^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", "maxLength": NAME_CHARS_MAX })
        }
        TextRule::Hub => {
            json!({ "type": "string", "pattern": "^(/|file:///|(ssh|https?|git)://|[^-/:][^/:]*:)" })
        }
        TextRule::Temporal => {
            json!({ "type": "string", "pattern": "^https?://[A-Za-z0-9.:_\\[\\]-]+/?$" })
        }
        TextRule::TrialName => {
            json!({ "type": "string", "pattern": "^[a-z0-9][a-z0-9-]*$", "maxLength": TRIAL_NAME_CHARS_MAX })
        }
    }
}
