//! Reading the secret values out of a copied file.
//!
//! - Files of `KEY=value` lines (`.env` and its like): each value, quotes removed; of a value with
//!   several lines (a key in PEM form) each long line too.
//! - `symphony.config.json`: the values of `env` sections; the rest of it is no secret.
//! - Other JSON: each long text without a space.
//! - Anything else: each long word that mixes letters and digits, as keys and tokens do.

use std::path::Path;

use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::Value;

/// Shortest value that counts, in characters: shorter ones occur everywhere.
const VALUE_CHARS_MIN: usize = 8;
/// Shortest text that counts as a secret in a file without names.
const NAMELESS_CHARS_MIN: usize = 20;
/// Deepest nesting of JSON that is read.
const DEPTH_MAX: usize = 100;
/// Most values of one file.
const VALUES_MAX: usize = 5_000;

/// A value that must not be found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Secret {
    /// Its name in the file: the key, or the line.
    pub(super) name: String,
    /// The value.
    pub(super) value: String,
}

/// Returns the secrets of a file, by its name and contents.
pub(super) fn secrets_in(path: &Path, contents: &str) -> Vec<Secret> {
    let is_config = path
        .file_name()
        .is_some_and(|name| name == "symphony.config.json");
    let mut found = match json(contents) {
        Some(value @ (Value::Object(_) | Value::Array(_))) => {
            let mut found = Vec::new();
            let is_meant = if is_config {
                |keys: &[&str], _: &str| keys.contains(&"env")
            } else {
                |_: &[&str], text: &str| is_long(text)
            };
            add_texts(&value, &mut Vec::new(), is_meant, &mut found);
            found
        }
        _ if looks_like_settings(contents) => settings(contents),
        _ => long_words(contents),
    };
    found.retain(|secret| secret.value.chars().count() >= VALUE_CHARS_MIN);
    found.truncate(VALUES_MAX);
    found
}

/// Parses JSON, comments allowed; `None` for anything else, and for nesting that no configuration has (the parser
/// recurses, and an agent can write into a copied file).
fn json(contents: &str) -> Option<Value> {
    let mut depth = 0_usize;
    for byte in contents.bytes() {
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEPTH_MAX {
            return None;
        }
    }
    parse_to_ast(
        contents,
        &CollectOptions::default(),
        &ParseOptions::default(),
    )
    .ok()?
    .value
    .map(Value::from)
}

fn looks_like_settings(contents: &str) -> bool {
    contents.lines().any(|line| setting(line).is_some())
}

/// Splits `export KEY = rest`.
fn setting(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_start();
    let line = line.strip_prefix("export ").unwrap_or(line);
    let (key, rest) = line.split_once('=')?;
    let key = key.trim();
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    let valid = !key.is_empty() && key.chars().all(is_name) && !key.starts_with('-');
    valid.then_some((key, rest.trim()))
}

fn settings(contents: &str) -> Vec<Secret> {
    let mut found = Vec::new();
    let mut lines = contents.lines();
    while let Some(line) = lines.next() {
        let Some((key, rest)) = setting(line) else {
            continue;
        };
        let mut value = rest.to_owned();
        let quote = rest
            .chars()
            .next()
            .filter(|c| matches!(c, '"' | '\'' | '`'));
        match quote {
            Some(quote) => {
                value.remove(0);
                while !value.contains(quote) {
                    let Some(next) = lines.next() else { break };
                    value.push('\n');
                    value.push_str(next);
                }
                value = value.split(quote).next().unwrap_or_default().to_owned();
            }
            None => {
                value = value
                    .split(" #")
                    .next()
                    .unwrap_or_default()
                    .trim_end()
                    .to_owned();
            }
        }
        add_value(&mut found, key, &value);
    }
    found
}

fn add_value(found: &mut Vec<Secret>, key: &str, value: &str) {
    let secret = |value: &str| Secret {
        name: key.to_owned(),
        value: value.to_owned(),
    };
    found.push(secret(value));
    let unescaped = value.replace("\\n", "\n");
    if unescaped.contains('\n') {
        found.push(secret(&unescaped));
        let long = |line: &&str| line.chars().count() >= NAMELESS_CHARS_MIN && !is_border(line);
        found.extend(unescaped.lines().filter(long).map(secret));
    }
}

/// Returns whether a line is one that every PEM key has.
fn is_border(line: &str) -> bool {
    line.trim_start().starts_with("-----")
}

/// Says whether a text without a telling name looks like a secret: several lines, or one long word.
fn is_long(text: &str) -> bool {
    text.contains('\n') || (text.chars().count() >= NAMELESS_CHARS_MIN && !text.contains(' '))
}

/// Adds the texts in a value that are meant, by the keys that lead to a text and the text itself.
fn add_texts<'a>(
    value: &'a Value,
    keys: &mut Vec<&'a str>,
    is_meant: fn(&[&str], &str) -> bool,
    found: &mut Vec<Secret>,
) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                keys.push(key);
                add_texts(value, keys, is_meant, found);
                keys.pop();
            }
        }
        Value::Array(list) => {
            for value in list {
                add_texts(value, keys, is_meant, found);
            }
        }
        Value::String(text) if is_meant(keys, text) => add_value(found, &keys.join("."), text),
        _ => {}
    }
}

fn long_words(contents: &str) -> Vec<Secret> {
    let mixes = |word: &str| {
        word.chars().any(|c| c.is_ascii_digit()) && word.chars().any(char::is_alphabetic)
    };
    contents
        .lines()
        .enumerate()
        .flat_map(|(number, line)| {
            line.split_whitespace()
                .map(|word| word.trim_matches(['"', '\'', ',', ';']))
                .filter(|word| word.chars().count() >= NAMELESS_CHARS_MIN && mixes(word))
                .map(move |word| Secret {
                    name: format!("line {}", number + 1),
                    value: word.to_owned(),
                })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(path: &str, contents: &str) -> Vec<(String, String)> {
        secrets_in(Path::new(path), contents)
            .into_iter()
            .map(|secret| (secret.name, secret.value))
            .collect()
    }

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    #[test]
    fn settings_lose_their_quotes_and_comments() {
        let contents = "# c=commented-out\nPORT=3000\nexport KEY='s3cr3t value'\nTOKEN=abcdefgh # note\nURL = \"https://x.example/?a=b\"\nEMPTY=\nHASH=abc#defgh1\n";
        assert_eq!(
            values(".env", contents),
            vec![
                pair("KEY", "s3cr3t value"),
                pair("TOKEN", "abcdefgh"),
                pair("URL", "https://x.example/?a=b"),
                pair("HASH", "abc#defgh1"),
            ]
        );
    }

    #[test]
    fn a_key_of_several_lines_counts_line_by_line() {
        let line = "MIIEvQIBADANBgkqhkiG9w0B";
        let contents = format!(
            "PEM=\"-----BEGIN PRIVATE KEY-----\n{line}\n-----END PRIVATE KEY-----\"\nA=12345678\n"
        );
        let found = values(".env", &contents);
        assert!(found.contains(&pair("PEM", line)), "{found:?}");
        assert!(found.contains(&pair("A", "12345678")), "{found:?}");
        assert!(
            !found
                .iter()
                .any(|(_, value)| value == "-----BEGIN PRIVATE KEY-----")
        );
        assert!(
            values("key.pem", &format!("-----BEGIN-----\n{line}\n"))
                .contains(&pair("line 2", line))
        );
    }

    #[test]
    fn of_the_configuration_only_env_sections_are_secret() {
        let contents = r#"{ // comment
            "gates": [{"command": "cargo test --workspace"}],
            "env": {"API_KEY": "sk-123456789"},
            "providers": {"x": {"env": {"T": "tok-987654"}}},
        }"#;
        assert_eq!(
            values("symphony.config.json", contents),
            vec![
                pair("env.API_KEY", "sk-123456789"),
                pair("providers.x.env.T", "tok-987654")
            ]
        );
        assert_eq!(
            values(
                "service.json",
                r#"{"project": "demo", "key": "0123456789abcdef0123"}"#
            ),
            vec![pair("key", "0123456789abcdef0123")]
        );
    }
}
