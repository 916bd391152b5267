//! Placeholders: `${…}` in the strings of a scenario.

use std::collections::BTreeMap;
use std::io;
use std::sync::LazyLock;

use regex::Regex;
use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{Formatter, Serializer};

use crate::error::ScriptError;
use crate::scenario::regex;

/// How deep JSON within texts within JSON is followed for one step of a path.
const NESTING_MAX: usize = 32;
/// How much of a value an error shows, in characters.
const SHOWN_CHARS_MAX: usize = 200;

static PLACEHOLDER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\$\$\{|\$\{([^}]+)\}").expect("the expression is constant and valid")
});

/// What placeholders can name.
#[derive(Debug)]
pub(crate) struct Context<'a> {
    pub(crate) system: &'a str,
    pub(crate) prompt: &'a str,
    pub(crate) model: &'a str,
    pub(crate) session_id: &'a str,
    pub(crate) turn: u64,
    pub(crate) vars: &'a BTreeMap<String, String>,
    pub(crate) results: &'a [ToolAnswer],
}

/// What a tool answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ToolAnswer {
    /// The label of the call.
    pub(crate) label: Option<String>,
    /// The answer's text.
    pub(crate) text: String,
}

/// Replaces the placeholders in a JSON value.
pub(crate) fn fill(value: &Value, context: &Context<'_>) -> Result<Value, ScriptError> {
    match value {
        Value::Object(entries) => entries
            .iter()
            .map(|(key, value)| Ok((key.clone(), fill(value, context)?)))
            .collect::<Result<_, ScriptError>>()
            .map(Value::Object),
        Value::Array(items) => items
            .iter()
            .map(|item| fill(item, context))
            .collect::<Result<_, _>>()
            .map(Value::Array),
        Value::String(text) if text.contains("${") => fill_text(text, context),
        other => Ok(other.clone()),
    }
}

fn fill_text(text: &str, context: &Context<'_>) -> Result<Value, ScriptError> {
    let whole = text
        .strip_prefix("${")
        .and_then(|rest| rest.strip_suffix('}'))
        .filter(|inner| !inner.is_empty() && !inner.contains('}'));
    if let Some(expression) = whole {
        return resolve(expression, context);
    }
    let mut out = String::new();
    let mut end = 0;
    for found in PLACEHOLDER.captures_iter(text) {
        let all = found.get_match();
        out.push_str(text.get(end..all.start()).unwrap_or_default());
        end = all.end();
        match found.get(1) {
            None => out.push_str("${"),
            Some(expression) => out.push_str(&shown(&resolve(expression.as_str(), context)?)),
        }
    }
    out.push_str(text.get(end..).unwrap_or_default());
    Ok(Value::String(out))
}

fn resolve(expression: &str, context: &Context<'_>) -> Result<Value, ScriptError> {
    let (name, pattern) = match expression.split_once('~') {
        Some((name, pattern)) => (name, Some(pattern)),
        None => (expression, None),
    };
    let (head, path) = name.split_once('.').unwrap_or((name, ""));
    let text = |text: &str| Value::String(text.to_owned());
    let (value, path) = match head {
        "last_tool_result" => (
            text(context.results.last().map_or("", |answer| &answer.text)),
            path,
        ),
        "results" => {
            let (label, path) = path.split_once('.').unwrap_or((path, ""));
            let answer = context
                .results
                .iter()
                .rev()
                .find(|answer| answer.label.as_deref() == Some(label))
                .ok_or_else(|| {
                    ScriptError::Placeholder(format!("no tool result labelled {label:?}"))
                })?;
            (text(&answer.text), path)
        }
        "session_id" => (text(context.session_id), path),
        "turn" => (Value::from(context.turn), path),
        "prompt" => (text(context.prompt), path),
        "system" => (text(context.system), path),
        "model" => (text(context.model), path),
        variable => (variable_value(variable, expression, context)?, path),
    };
    let value = walk(value, path)?;
    match pattern {
        Some(pattern) => search(&value, pattern),
        None => Ok(value),
    }
}

fn variable_value(
    name: &str,
    expression: &str,
    context: &Context<'_>,
) -> Result<Value, ScriptError> {
    let Some(pattern) = context.vars.get(name) else {
        return Err(ScriptError::Placeholder(format!(
            "unknown placeholder ${{{expression}}}"
        )));
    };
    let compiled = regex(pattern)?;
    let found = compiled
        .captures(context.prompt)
        .or_else(|| compiled.captures(context.system))
        .ok_or_else(|| {
            ScriptError::Placeholder(format!("variable {name:?}: its regex is not in the prompt"))
        })?;
    let group = found.get(1).ok_or_else(|| {
        ScriptError::Placeholder(format!("variable {name:?}: its regex has no group"))
    })?;
    Ok(Value::String(group.as_str().to_owned()))
}

fn search(value: &Value, pattern: &str) -> Result<Value, ScriptError> {
    let text = shown(value);
    let compiled = regex(pattern)?;
    let found = compiled
        .captures(&text)
        .ok_or_else(|| ScriptError::Placeholder(format!("regex {pattern:?} not found")))?;
    let group = found.get(usize::from(compiled.captures_len() > 1));
    Ok(group.map_or(Value::Null, |group| {
        Value::String(group.as_str().to_owned())
    }))
}

/// Follows a dotted path; JSON in a text (also behind other text) is parsed on the way.
fn walk(mut value: Value, path: &str) -> Result<Value, ScriptError> {
    for part in path.split('.').filter(|part| !part.is_empty()) {
        let mut depth = 0;
        while must_be_parsed(&value, part) {
            depth += 1;
            value = parse_within(&text_of(&value))
                .filter(|_| depth <= NESTING_MAX)
                .ok_or_else(|| {
                    ScriptError::Placeholder(format!(
                        "no JSON at {part:?} in {:?}",
                        short(&text_of(&value))
                    ))
                })?;
        }
        let step = match &value {
            Value::Array(items) => index(items.len(), part).and_then(|index| items.get(index)),
            Value::Object(entries) => entries.get(part),
            _ => None,
        };
        let Some(step) = step.cloned() else {
            return Err(ScriptError::Placeholder(format!(
                "no {part:?} in {}",
                short(&shown(&value))
            )));
        };
        value = step;
    }
    Ok(value)
}

/// A list of text blocks is looked through, unless the path asks for one of them.
fn must_be_parsed(value: &Value, part: &str) -> bool {
    match value {
        Value::Object(_) => false,
        Value::Array(items) => {
            let blocks = items
                .first()
                .is_some_and(|first| first.get("text").is_some());
            blocks && !part.bytes().all(|byte| byte.is_ascii_digit())
        }
        _ => true,
    }
}

/// Reads the first JSON array or object in a text.
fn parse_within(text: &str) -> Option<Value> {
    let start = text.find(['{', '['])?;
    serde_json::Deserializer::from_str(text.get(start..)?)
        .into_iter()
        .next()?
        .ok()
}

/// Reads an index; a negative one counts from the end.
fn index(length: usize, part: &str) -> Option<usize> {
    let number: i64 = part.parse().ok()?;
    match usize::try_from(number) {
        Ok(index) => Some(index),
        Err(_) => length.checked_sub(usize::try_from(number.unsigned_abs()).ok()?),
    }
}

fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(entries) => match entries.get("text") {
            Some(Value::String(text)) => text.clone(),
            _ => entries.get("content").map_or_else(String::new, text_of),
        },
        Value::Array(items) => {
            let texts: Vec<String> = items
                .iter()
                .map(text_of)
                .filter(|text| !text.is_empty())
                .collect();
            texts.join("\n")
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => String::new(),
    }
}

/// Writes a value into a text: a string as it is, anything else as JSON with a space behind `,` and `:`.
fn shown(value: &Value) -> String {
    if let Value::String(text) = value {
        return text.clone();
    }
    let mut bytes = Vec::new();
    value
        .serialize(&mut Serializer::with_formatter(&mut bytes, Spaced))
        .expect("a JSON value is always written to memory");
    String::from_utf8(bytes).expect("JSON is UTF-8")
}

fn short(text: &str) -> String {
    text.chars().take(SHOWN_CHARS_MAX).collect()
}

/// One line of JSON with spaces behind separators, as scenarios' expressions expect it.
struct Spaced;

impl Formatter for Spaced {
    fn begin_array_value<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        if first {
            Ok(())
        } else {
            writer.write_all(b", ")
        }
    }

    fn begin_object_key<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        if first {
            Ok(())
        } else {
            writer.write_all(b", ")
        }
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn answer(label: Option<&str>, text: &str) -> ToolAnswer {
        ToolAnswer {
            label: label.map(str::to_owned),
            text: text.to_owned(),
        }
    }

    fn filled(value: &Value) -> Result<Value, String> {
        let vars = BTreeMap::from([
            ("id".to_owned(), "id=(\\S+)".to_owned()),
            ("in_system".to_owned(), "role=(\\w+)".to_owned()),
            ("nowhere".to_owned(), "nowhere=(.)".to_owned()),
            ("groupless".to_owned(), "id".to_owned()),
        ]);
        let results = [
            answer(Some("i"), "old"),
            answer(
                Some("i"),
                "header\n{\"issue\": {\"title\": \"X\", \"labels\": [\"bug\", \"p1\"], \"n\": 7}}",
            ),
            answer(Some("blocks"), r#"[{"type":"text","text":"{\"a\": 1}"}]"#),
            answer(None, "/tmp/w\nstate open"),
        ];
        let context = Context {
            system: "role=worker",
            prompt: "ISSUE-1 id=42",
            model: "m",
            session_id: "s-1",
            turn: 3,
            vars: &vars,
            results: &results,
        };
        fill(value, &context).map_err(|error| error.to_string())
    }

    #[test]
    fn placeholders_take_values_and_types() {
        let cases = [
            (json!("${id}"), json!("42")),
            (json!("${in_system}"), json!("worker")),
            (
                json!({"n": "${turn}", "s": "${session_id}"}),
                json!({"n": 3, "s": "s-1"}),
            ),
            (json!("$${HOME}"), json!("${HOME}")),
            (json!("a ${id} $${x} ${turn}"), json!("a 42 ${x} 3")),
            (json!("${results.i.issue.title}"), json!("X")),
            (json!("${results.i.issue.labels}"), json!(["bug", "p1"])),
            (json!("${results.i.issue.labels.0}"), json!("bug")),
            (json!("${results.i.issue.labels.-1}"), json!("p1")),
            (
                json!("l: ${results.i.issue.labels}"),
                json!("l: [\"bug\", \"p1\"]"),
            ),
            (json!("${results.i.issue.n}"), json!(7)),
            (json!("n=${results.i.issue.n}"), json!("n=7")),
            (json!("${results.blocks.a}"), json!(1)),
            (json!("${results.blocks.0.type}"), json!("text")),
            (json!("${last_tool_result}"), json!("/tmp/w\nstate open")),
            (json!("${last_tool_result~st\\w+}"), json!("state")),
            (json!("${last_tool_result~^state (\\w+)$}"), json!("open")),
            (json!("${last_tool_result~^(/\\S+)}/f"), json!("/tmp/w/f")),
            (json!("${prompt~id=(\\d)}"), json!("4")),
            (json!("${system}|${model}"), json!("role=worker|m")),
            (json!(["${id}", 5, null]), json!(["42", 5, null])),
        ];
        for (given, expected) in cases {
            assert_eq!(filled(&given), Ok(expected), "{given}");
        }
    }

    #[test]
    fn a_placeholder_without_value_is_an_error() {
        let cases = [
            ("${nothing}", "unknown placeholder ${nothing}"),
            (
                "${nowhere}",
                "variable \"nowhere\": its regex is not in the prompt",
            ),
            (
                "${groupless}",
                "variable \"groupless\": its regex has no group",
            ),
            ("${results.none}", "no tool result labelled \"none\""),
            (
                "${results.i.issue.owner}",
                "no \"owner\" in {\"labels\": [\"bug\", \"p1\"], \"n\": 7, \"title\": \"X\"}",
            ),
            (
                "${results.i.issue.labels.9}",
                "no \"9\" in [\"bug\", \"p1\"]",
            ),
            (
                "${last_tool_result.a}",
                "no JSON at \"a\" in \"/tmp/w\\nstate open\"",
            ),
            ("${last_tool_result~closed}", "regex \"closed\" not found"),
        ];
        for (given, expected) in cases {
            assert_eq!(filled(&json!(given)), Err(expected.to_owned()), "{given}");
        }
        assert!(
            filled(&json!("${prompt~(}"))
                .unwrap_err()
                .starts_with("regex \"(\" is not valid")
        );
    }
}
