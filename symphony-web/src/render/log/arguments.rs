//! The arguments of a tool call, as a log line keeps them: the beginning of a JSON text.

use serde_json::Value;

/// What is known of a call's arguments.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Arguments {
    pub(super) value: Value,
    /// Whether the log has only the beginning of them.
    pub(super) is_cut: bool,
}

/// Arguments that say most about a call, best first.
const TELLING: &[&str] = &[
    "command",
    "file_path",
    "path",
    "notebook_path",
    "pattern",
    "query",
    "url",
    "description",
    "title",
    "subject",
    "prompt",
    "issue_id",
    "id",
    "name",
];

/// Reads arguments, also those that were cut: what is whole of them is kept. None if they are no JSON.
pub(super) fn read(text: &str) -> Option<Arguments> {
    if let Ok(value) = serde_json::from_str(text) {
        return Some(Arguments {
            value,
            is_cut: false,
        });
    }
    let value = completed(text.strip_suffix('…').unwrap_or(text))?;
    Some(Arguments {
        value,
        is_cut: true,
    })
}

impl Arguments {
    /// Returns an argument that is a text.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.value.get(name)?.as_str()
    }

    /// Returns the argument that says most about the call.
    pub(super) fn telling(&self) -> Option<String> {
        let object = match &self.value {
            Value::String(text) => return Some(text.clone()),
            Value::Array(items) => return Some(listed(items)),
            Value::Object(object) => object,
            _ => return None,
        };
        let best = TELLING.iter().filter_map(|name| object.get(*name));
        best.chain(object.values()).find_map(|value| match value {
            Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
            Value::Array(items) if !items.is_empty() => Some(listed(items)),
            _ => None,
        })
    }
}

/// Lists texts, and the paths of objects such as the changes of Codex.
fn listed(items: &[Value]) -> String {
    let texts = items.iter().filter_map(|item| match item {
        Value::String(text) => Some(text.as_str()),
        other => other.get("path")?.as_str(),
    });
    texts.collect::<Vec<_>>().join(" ")
}

/// Closes what a cut text left open.
fn completed(text: &str) -> Option<Value> {
    let mut closers = Vec::new();
    let mut in_string = false;
    let mut escape_at = None;
    for (at, byte) in text.bytes().enumerate() {
        if escape_at.is_some() {
            escape_at = None;
            continue;
        }
        match byte {
            b'\\' if in_string => escape_at = Some(at),
            b'"' => in_string = !in_string,
            b'{' if !in_string => closers.push('}'),
            b'[' if !in_string => closers.push(']'),
            b'}' | b']' if !in_string => {
                closers.pop();
            }
            _ => {}
        }
    }
    let end: String = closers.iter().rev().collect();
    let kept = text.get(..escape_at.unwrap_or(text.len()))?;
    let candidates = if in_string {
        // half of a \u1234 does not count either
        let whole = kept.rfind("\\u").and_then(|at| kept.get(..at));
        [Some(kept), whole]
            .into_iter()
            .flatten()
            .flat_map(|kept| [format!("{kept}\"{end}"), format!("{kept}\":null{end}")])
            .collect::<Vec<_>>()
    } else {
        let trimmed = kept.trim_end();
        let before =
            trimmed.trim_end_matches(|c: char| c.is_alphanumeric() || c == '-' || c == '.');
        vec![
            format!("{trimmed}{end}"),
            format!("{}{end}", trimmed.trim_end_matches(',')),
            format!("{before}null{end}"),
            format!("{trimmed}:null{end}"),
        ]
    };
    candidates
        .iter()
        .find_map(|candidate| serde_json::from_str(candidate).ok())
        .filter(|value: &Value| value.is_object() || value.is_array() || in_string)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn cut_arguments_are_completed() {
        for (text, expected) in [
            (r#"{"a":1}"#, Some((json!({"a": 1}), false))),
            (r#"{"a":"b c…"#, Some((json!({"a": "b c"}), true))),
            (r#"{"a":"b\"#, Some((json!({"a": "b"}), true))),
            (r#"{"a":"b\u12"#, Some((json!({"a": "b"}), true))),
            (r#"{"a":[1,2,"#, Some((json!({"a": [1, 2]}), true))),
            (r#"{"a":1,"b"#, Some((json!({"a": 1, "b": null}), true))),
            (r#"{"a":1,"b""#, Some((json!({"a": 1, "b": null}), true))),
            (r#"{"a":1,"b":tr"#, Some((json!({"a": 1, "b": null}), true))),
            (r#""cargo te"#, Some((json!("cargo te"), true))),
            ("cargo test", None),
            ("", None),
        ] {
            let found = read(text).map(|found| (found.value, found.is_cut));
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn the_most_telling_argument_is_found() {
        for (text, expected) in [
            (
                r#"{"description":"Run tests","command":"cargo test"}"#,
                Some("cargo test"),
            ),
            (r#"{"content":"x","file_path":"a.rs"}"#, Some("a.rs")),
            (r#"{"zzz":"only"}"#, Some("only")),
            (r#""/bin/bash -lc x""#, Some("/bin/bash -lc x")),
            (
                r#"[{"path":"a.rs","kind":"add"},{"path":"b.rs"}]"#,
                Some("a.rs b.rs"),
            ),
            (r#"{"command":["ls","-l"]}"#, Some("ls -l")),
            (r#"{"n":1}"#, None),
            ("{}", None),
        ] {
            let found = read(text).unwrap().telling();
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_beginning_of_arguments_is_read(text in "\\PC{0,20}", at in 0_usize..80) {
            let whole = json!({"command": text, "list": [1, true, {"a": null}], "last": "é"}).to_string();
            let cut = whole.get(..whole.floor_char_boundary(at)).unwrap_or_default();
            if cut.len() > 1 {
                proptest::prop_assert!(read(cut).is_some(), "{cut}");
            }
        }

        #[test]
        fn no_text_makes_it_panic(text in "\\PC*|[\\[\\]{}\"\\\\u:,a1é…]{0,40}") {
            if let Some(found) = read(&text) {
                drop(found.telling());
            }
        }
    }
}
