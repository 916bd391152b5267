//! JSON values that know the line they stand on.
//!
//! `serde_json` decides what JSON is and where it is broken; the scan here walks a text that passed and notes lines.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::error::PlanError;

/// A value and where it begins.
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
    if let Err(error) = serde_json::from_str::<Sound>(text) {
        return Err(broken(text, first_line, &error));
    }
    let mut scan = Scan {
        text,
        position: 0,
        line: first_line,
    };
    Ok(scan.node())
}

/// Any JSON, checked and forgotten. Unlike `IgnoredAny` it is held to `serde_json`'s depth, on which the recursion of
/// the scan relies.
struct Sound;

impl<'de> Deserialize<'de> for Sound {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for Sound {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self, A::Error> {
        while items.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self, A::Error> {
        while members.next_entry::<Self, Self>()?.is_some() {}
        Ok(self)
    }
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

/// A walk over a text that is known to be JSON. On one that is not it ends early with nulls.
struct Scan<'a> {
    text: &'a str,
    position: usize,
    line: usize,
}

impl Scan<'_> {
    /// Passes over white space and returns the byte after it.
    fn peek(&mut self) -> Option<u8> {
        while let Some(byte) = self.text.as_bytes().get(self.position) {
            match byte {
                b'\n' => self.line += 1,
                b' ' | b'\t' | b'\r' => {}
                _ => return Some(*byte),
            }
            self.position += 1;
        }
        None
    }

    fn node(&mut self) -> JsonNode {
        let first = self.peek();
        let line = self.line;
        let value = match first {
            Some(b'"') => Json::String(self.string()),
            Some(b'[') => Json::Array(self.array()),
            Some(b'{') => Json::Object(self.object()),
            Some(b't' | b'f') => {
                self.word();
                Json::Bool
            }
            Some(b'-' | b'0'..=b'9') => Json::Number(self.word().to_owned()),
            _ => {
                self.word();
                Json::Null
            }
        };
        JsonNode { line, value }
    }

    fn array(&mut self) -> Vec<JsonNode> {
        let mut items = Vec::new();
        self.position += 1;
        while self.peek().is_some_and(|byte| byte != b']') {
            items.push(self.node());
            if self.peek() == Some(b',') {
                self.position += 1;
            }
        }
        self.position += 1;
        items
    }

    fn object(&mut self) -> Vec<Member> {
        let mut members = Vec::new();
        self.position += 1;
        while self.peek() == Some(b'"') {
            let line = self.line;
            let name = self.string();
            if self.peek() == Some(b':') {
                self.position += 1;
            }
            let node = self.node();
            members.push(Member { name, line, node });
            if self.peek() == Some(b',') {
                self.position += 1;
            }
        }
        self.position += 1;
        members
    }

    fn string(&mut self) -> String {
        let start = self.position;
        let bytes = self.text.as_bytes();
        let mut has_escape = false;
        self.position += 1;
        while let Some(byte) = bytes.get(self.position) {
            self.position += 1;
            match byte {
                b'"' => break,
                b'\\' => {
                    has_escape = true;
                    self.position += 1;
                }
                _ => {}
            }
        }
        let literal = self.text.get(start..self.position).unwrap_or("");
        if has_escape {
            serde_json::from_str(literal).unwrap_or_default()
        } else {
            literal.trim_matches('"').to_owned()
        }
    }

    /// Takes a literal or number: at least one byte, so that every loop ends.
    fn word(&mut self) -> &str {
        let start = self.position;
        self.position += 1;
        let is_word =
            |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        while self.text.as_bytes().get(self.position).is_some_and(is_word) {
            self.position += 1;
        }
        self.text.get(start..self.position).unwrap_or("")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

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
    fn the_scan_reads_what_serde_json_reads() {
        for text in [
            "null",
            "[]",
            "{}",
            " [ 1 , -2.5e+3, \"a\\\"\\u00e9\\n\", [true], {\"\": {}} ] ",
            "{\"a\":\"\",\"b\":[[],[]],\"c\\\\\":\"\\\\\"}",
            "\"ä\u{1f600}\"",
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
