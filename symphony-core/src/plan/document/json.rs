//! JSON values with their line numbers.
//!
//! `serde_json` decides what JSON is and where it is broken, because its messages are best; `jsonc-parser` reads a text
//! that passed and knows the position of each value.

use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, ast, parse_to_ast};
use serde_json::Value;

use super::error::PlanError;

/// A value and its start.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct JsonNode {
    /// Line in the markdown file, from 1.
    pub(super) line: usize,
    pub(super) value: Json,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Json {
    Null,
    Bool,
    /// A number as written.
    Number(String),
    String(String),
    Array(Vec<JsonNode>),
    Object(Vec<Member>),
}

/// A field of an object.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Member {
    pub(super) name: String,
    /// Line of the name.
    pub(super) line: usize,
    pub(super) node: JsonNode,
}

impl Json {
    /// Names the kind of value, with its article.
    pub(super) const fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool => "a boolean",
            Self::Number(_) => "a number",
            Self::String(_) => "a string",
            Self::Array(_) => "an array",
            Self::Object(_) => "an object",
        }
    }
}

/// Parses JSON whose first line is `first_line` of the file; linear.
pub(super) fn parse_json(text: &str, first_line: usize) -> Result<JsonNode, PlanError> {
    // its depth is limited, on which the recursion below relies
    serde_json::from_str::<Value>(text).map_err(|error| broken(text, first_line, &error))?;
    let options = ParseOptions {
        allow_comments: false,
        ..ParseOptions::default()
    };
    let parsed = parse_to_ast(text, &CollectOptions::default(), &options);
    let Some(value) = parsed.ok().and_then(|parsed| parsed.value) else {
        return Err(PlanError::BrokenJson {
            line: first_line,
            column: 1,
            message: "the values have no positions".to_owned(),
        });
    };
    let line_feeds = text.match_indices('\n').map(|(at, _)| at).collect();
    let lines = Lines {
        first_line,
        line_feeds,
    };
    Ok(lines.node(value))
}

fn broken(text: &str, first_line: usize, error: &serde_json::Error) -> PlanError {
    let before = error.line().saturating_sub(1);
    let line = text.split('\n').nth(before).unwrap_or("");
    let end = line.floor_char_boundary(error.column().saturating_sub(1));
    let column = line.get(..end).unwrap_or("").chars().count() + 1;
    let full = error.to_string();
    let message = full.split(" at line ").next().unwrap_or("").to_owned();
    PlanError::BrokenJson {
        line: first_line + before,
        column,
        message,
    }
}

/// Where the lines of a text end.
struct Lines {
    first_line: usize,
    line_feeds: Vec<usize>,
}

impl Lines {
    fn line_of(&self, place: &impl Ranged) -> usize {
        let before = self.line_feeds.partition_point(|end| *end < place.start());
        self.first_line + before
    }

    fn node(&self, value: ast::Value<'_>) -> JsonNode {
        let line = self.line_of(&value);
        let value = match value {
            ast::Value::NullKeyword(_) => Json::Null,
            ast::Value::BooleanLit(_) => Json::Bool,
            ast::Value::NumberLit(number) => Json::Number(number.value.to_owned()),
            ast::Value::StringLit(text) => Json::String(text.value.into_owned()),
            ast::Value::Array(array) => {
                let items = array.elements.into_iter();
                Json::Array(items.map(|item| self.node(item)).collect())
            }
            ast::Value::Object(object) => {
                let members = object.properties.into_iter();
                Json::Object(members.map(|member| self.member(member)).collect())
            }
        };
        JsonNode { line, value }
    }

    fn member(&self, member: ast::ObjectProp<'_>) -> Member {
        Member {
            line: self.line_of(&member.name),
            name: member.name.into_string(),
            node: self.node(member.value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(node: &JsonNode) -> Value {
        match &node.value {
            Json::Null => Value::Null,
            Json::Bool => Value::Bool(true),
            Json::Number(text) => serde_json::from_str(text).unwrap(),
            Json::String(text) => Value::from(text.as_str()),
            Json::Array(items) => items.iter().map(plain).collect(),
            Json::Object(members) => members
                .iter()
                .map(|member| (member.name.clone(), plain(&member.node)))
                .collect(),
        }
    }

    #[test]
    fn both_parsers_read_the_same() {
        for text in [
            "null",
            "[]",
            "{}",
            " [ 1 , -2.5e+3, \"a\\\"\\u00e9\\n\", [true], {\"\": {}} ] ",
            "{\"a\":\"\",\"b\":[[],[]],\"c\\\\\":\"\\\\\"}",
            "\"ä\u{1f600}\"",
            "\"\\ud83d\\ude00\\/\\b\\f\"",
            "{\"a\": 1, \"\\u0061\": 2}",
            "[1E5, 0.0, -0, 123456789012345678901234567890]",
        ] {
            let value: Value = serde_json::from_str(text).unwrap();
            assert_eq!(plain(&parse_json(text, 1).unwrap()), value, "{text}");
        }
    }

    #[test]
    fn values_know_their_lines() {
        let node = parse_json("[\n {\"a\":\n\n 1,\r\n\"b\": 2}\n]", 10).unwrap();
        let Json::Array(items) = &node.value else {
            panic!("{node:?}")
        };
        let Json::Object(members) = &items[0].value else {
            panic!("{items:?}")
        };
        assert_eq!((node.line, items[0].line), (10, 11));
        let lines: Vec<_> = members.iter().map(|m| (m.line, m.node.line)).collect();
        assert_eq!(lines, [(11, 13), (14, 14)]);
    }

    #[test]
    fn broken_json_is_located_in_the_file() {
        for (text, line, column, message) in [
            ("[1,\n  2,,]", 8, 5, "expected value"),
            ("{\"ä\": x}", 7, 7, "expected value"),
            ("", 7, 1, "EOF while parsing a value"),
            ("[1", 7, 2, "EOF while parsing a list"),
            ("[]\n]", 8, 1, "trailing characters"),
        ] {
            let expected = PlanError::BrokenJson {
                line,
                column,
                message: message.to_owned(),
            };
            assert_eq!(parse_json(text, 7), Err(expected), "{text}");
        }
    }

    #[test]
    fn depth_is_limited() {
        let deep = "[".repeat(100_000);
        assert!(matches!(
            parse_json(&deep, 1),
            Err(PlanError::BrokenJson { .. })
        ));
    }
}
