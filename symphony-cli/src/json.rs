//! JSON that people and programs hand in: an error says where, what was found, and what was probably meant.

use std::fmt;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use symphony_core::nearest::nearest;

/// What editors on other systems put in front of UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// The field of a document that names its version.
const VERSION_KEY: &str = "version";
/// The version of documents that there is.
const DOCUMENT_VERSION: u64 = 1;
/// How `serde` names numbers, and how a person reads them.
const NUMBERS: [(&str, &str); 4] = [
    ("expected u8", "expected a whole number from 0 to 255"),
    (
        "expected u32",
        "expected a whole number from 0 to 4294967295",
    ),
    ("expected u64", "expected a whole number from 0 on"),
    ("expected usize", "expected a whole number from 0 on"),
];

/// How `serde` names kinds of values that are found, and the words that people use.
const FOUND: [(&str, &str); 6] = [
    ("map", "an object"),
    ("sequence", "a list"),
    ("unit value", "null"),
    ("integer ", "the number "),
    ("floating point ", "the number "),
    ("string ", "the text "),
];
/// The same for kinds that are expected.
const EXPECTED: [(&str, &str); 2] = [
    ("expected a sequence", "expected a list"),
    ("expected a map", "expected an object"),
];

/// What is wrong with a JSON text.
#[derive(Debug, PartialEq)]
pub(crate) struct JsonProblem {
    /// The problem, with the place inside the document.
    what: String,
    /// Line and column, unless the text is empty.
    at: Option<(usize, usize)>,
}

impl JsonProblem {
    /// The problem of a text that is one line of a file.
    pub(crate) fn in_a_line(&self) -> String {
        match self.at {
            None => self.what.clone(),
            Some((_, column)) => format!("{} at column {column}", self.what),
        }
    }
}

impl fmt::Display for JsonProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at {
            None => f.write_str(&self.what),
            Some((line, column)) => {
                let column = column.max(1);
                write!(f, "{} at line {line} column {column}", self.what)
            }
        }
    }
}

/// Reads a JSON text, a byte order mark in front of it aside.
///
/// # Errors
/// The place inside the document, what is wrong there, and its line and column.
pub(crate) fn from_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, JsonProblem> {
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    if bytes.trim_ascii().is_empty() {
        let what = "it is empty".to_owned();
        return Err(JsonProblem { what, at: None });
    }
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut deserializer)
        .map_err(|error| problem(path_of(&error).as_str(), error.inner()))?;
    deserializer.end().map_err(|error| problem("", &error))?;
    Ok(value)
}

/// Reads a document that may name its version; one without is of the first.
///
/// # Errors
/// As [`from_json`], and when the version is another one.
pub(crate) fn from_versioned_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, JsonProblem> {
    // whatever is wrong with a document without a version is reported by the plain reader, with its place
    let head: Result<Head, _> = from_json(bytes);
    let Some(version) = head.ok().and_then(|head| head.version) else {
        return from_json(bytes);
    };
    if version != DOCUMENT_VERSION {
        let what = format!("{VERSION_KEY}: {version} is unknown here; expected {DOCUMENT_VERSION}");
        return Err(JsonProblem { what, at: None });
    }
    let mut fields: Map<String, Value> = from_json(bytes)?;
    fields.remove(VERSION_KEY);
    serde_path_to_error::deserialize(Value::Object(fields))
        .map_err(|error| problem(path_of(&error).as_str(), error.inner()))
}

/// What every document may have.
#[derive(Deserialize)]
struct Head {
    version: Option<Value>,
}

/// The place inside the document.
fn path_of(error: &serde_path_to_error::Error<serde_json::Error>) -> String {
    let path = error.path().to_string();
    let path = path.trim_end_matches('?').trim_end_matches('.');
    path.to_owned()
}

fn problem(path: &str, error: &serde_json::Error) -> JsonProblem {
    let at = (error.line(), error.column());
    let whole = error.to_string();
    let text = whole
        .strip_suffix(&format!(" at line {} column {}", at.0, at.1))
        .unwrap_or(&whole);
    let mut text = suggestion(text).unwrap_or_else(|| text.to_owned());
    // serde calls a name of a closed set what Rust calls it
    text = text.replace("unknown variant `", "unknown name `");
    for (name, words) in NUMBERS.into_iter().chain(EXPECTED) {
        if text.ends_with(name) {
            text = text.replace(name, words);
        }
    }
    if let Some(reworded) = expected_first(&text) {
        text = reworded;
    }
    if error.is_eof() {
        "it ends too early".clone_into(&mut text);
    }
    let what = if path.is_empty() {
        text
    } else {
        format!("{path}: {text}")
    };
    // what was read from a value has no line
    let at = (at.0 > 0).then_some(at);
    JsonProblem { what, at }
}

/// Turns `invalid type: map, expected a list` into `expected a list, found an object`.
fn expected_first(text: &str) -> Option<String> {
    let wrong = text.strip_prefix("invalid type: ");
    let wrong = wrong.or_else(|| text.strip_prefix("invalid value: "))?;
    let (found, expected) = wrong.rsplit_once(", expected ")?;
    let named = FOUND.iter().find_map(|(name, words)| {
        let rest = found.strip_prefix(name)?;
        Some(format!("{words}{}", rest.trim_matches('`')))
    });
    let found = named.unwrap_or_else(|| found.to_owned());
    Some(format!("expected {expected}, found {found}"))
}

/// Puts the one name that is near in the place of all names that there are.
fn suggestion(text: &str) -> Option<String> {
    let (what, rest) = ["unknown field `", "unknown variant `"]
        .iter()
        .find_map(|what| Some((*what, text.strip_prefix(what)?)))?;
    let (found, expected) = rest.split_once("`, expected ")?;
    let known = expected.split('`').skip(1).step_by(2);
    let near = nearest(found, known)?;
    Some(format!("{what}{found}`; did you mean `{near}`?"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Letter {
        title: String,
        #[serde(default)]
        pages: u8,
        #[serde(default)]
        kind: Kind,
    }

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Kind {
        #[default]
        Private,
        Official,
    }

    #[test]
    fn errors_name_place_problem_and_what_was_meant() {
        for (text, problem) in [
            ("", "it is empty"),
            (" \n", "it is empty"),
            ("\u{feff}", "it is empty"),
            (
                r#"{"title": 7}"#,
                "title: expected a string, found the number 7 at line 1 column 11",
            ),
            (
                "{\"title\": \"a\",\n \"Pagse\": 7}",
                "Pagse: unknown field `Pagse`; did you mean `pages`? at line 2 column 8",
            ),
            (
                r#"{"title": {"a": 1}}"#,
                "title: expected a string, found an object at line 1 column 10",
            ),
            (
                r#"{"title": ["a"], "pages": 1}"#,
                "title: expected a string, found a list at line 1 column 10",
            ),
            (
                r#"{"title": null}"#,
                "title: expected a string, found null at line 1 column 14",
            ),
            (
                r#"{"title": true}"#,
                "title: expected a string, found boolean `true` at line 1 column 14",
            ),
            (
                r#"{"colour": 7}"#,
                "colour: unknown field `colour`, expected one of `title`, `pages`, `kind` at line 1 column 9",
            ),
            (
                r#"{"title": "a", "kind": "offical"}"#,
                "kind: unknown name `offical`; did you mean `official`? at line 1 column 32",
            ),
            (
                r#"{"title": "a", "pages": 300}"#,
                "pages: expected a whole number from 0 to 255, found the number 300 at line 1 column 27",
            ),
            (
                "{\"title\":\n\"a",
                "title: it ends too early at line 2 column 2",
            ),
            (r#"{"title": "a","#, "it ends too early at line 1 column 14"),
            (
                r#"{"title": "a"} x"#,
                "trailing characters at line 1 column 16",
            ),
        ] {
            let found = from_json::<Letter>(text.as_bytes()).unwrap_err();
            assert_eq!(found.to_string(), problem, "{text}");
            let on_a_line = problem
                .replace(" at line 1 ", " at ")
                .replace(" at line 2 ", " at ");
            assert_eq!(found.in_a_line(), on_a_line);
        }
    }

    #[test]
    fn a_byte_order_mark_is_no_problem() {
        let read = from_json::<BTreeMap<String, u8>>("\u{feff}{\"a\": 1}".as_bytes());
        assert_eq!(read, Ok(BTreeMap::from([("a".to_owned(), 1)])));
    }
}
