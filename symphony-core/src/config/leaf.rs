//! Checks one value against its type: what was expected, what was found.

use std::net::{Ipv4Addr, Ipv6Addr};

use serde_json::Value;

use super::hub::is_hub;
use super::key::{Leaf, PathBase, TextRule};
use super::path::KeyPath;
use super::problem::ProblemKind;
use super::provider::ProviderChoice;
use super::server_address::ServerAddress;
use super::temporal::TemporalAddress;
use super::value::IssuePrefix;
use crate::path_pattern::check_path_pattern;
use crate::placement::Pool;
use crate::plan::failure::{FAILURE_PATTERNS_MAX, is_failure_pattern};
use crate::prompt_trial::{Share, TrialName};
use crate::user::TokenHash;

/// Most characters of a found text that a message quotes.
const SHOWN_CHARS_MAX: usize = 40;

/// Checks a value and returns it in its canonical form; on failure all problems, each with its path.
///
/// `path` is where the value is, for the problems.
pub(super) fn check_leaf(
    leaf: Leaf,
    value: &Value,
    path: &KeyPath,
) -> Result<Value, Vec<(KeyPath, ProblemKind)>> {
    let one = |checked: Option<Value>| {
        checked.ok_or_else(|| vec![(path.clone(), wrong(value, expected(leaf)))])
    };
    match leaf {
        Leaf::Bool => one(value.as_bool().map(Value::Bool)),
        Leaf::Integer { min, max } => {
            let number = whole_number(value).filter(|number| (min..=max).contains(number));
            one(number.map(Value::from))
        }
        Leaf::Usd => {
            let most = f64::from(super::defaults::SPENDING_USD_MAX);
            one(value
                .as_f64()
                .filter(|usd| *usd > 0.0 && *usd <= most)
                .map(|_| value.clone()))
        }
        Leaf::Share => one(value
            .as_f64()
            .filter(|share| Share::new(*share).is_ok())
            .map(|_| value.clone())),
        // what is there instead of the hash may be the token itself, and an address may have a password
        Leaf::Text(rule @ (TextRule::TokenHash | TextRule::Hub | TextRule::Temporal))
            if value.is_string() =>
        {
            match value.as_str() {
                Some(text) if fits(rule, text) => Ok(value.clone()),
                _ => Err(vec![(
                    path.clone(),
                    ProblemKind::WrongValue {
                        found: "a text of another form".to_owned(),
                        expected: expected(leaf),
                    },
                )]),
            }
        }
        Leaf::Text(rule) => one(value
            .as_str()
            .filter(|text| fits(rule, text))
            .map(Value::from)),
        Leaf::Choice(names) => one(value
            .as_str()
            .filter(|name| names.contains(name))
            .map(Value::from)),
        // what is wrong with an address may be that it contains a password
        Leaf::Database => match value.as_str().filter(|text| ServerAddress::is_meant(text)) {
            Some(address) => match ServerAddress::parse(address) {
                Ok(_parsed) => Ok(value.clone()),
                Err(error) => Err(vec![(
                    path.clone(),
                    ProblemKind::WrongValue {
                        found: format!("an address that {error}"),
                        expected: expected(leaf),
                    },
                )]),
            },
            None => check_leaf(Leaf::Path(PathBase::File), value, path),
        },
        Leaf::Path(_) | Leaf::Program => one(value
            .as_str()
            .filter(|text| fits(TextRule::Line, text))
            .map(Value::from)),
        Leaf::Texts(rule) => {
            let items = value.as_array();
            let items = items
                .filter(|items| items.len() <= count_max(rule))
                .ok_or_else(|| vec![(path.clone(), wrong(value, expected(leaf)))])?;
            check_texts(rule, items, path).map(|()| value.clone())
        }
        Leaf::Command => match value {
            Value::Array(words) if !words.is_empty() => {
                check_texts(TextRule::Any, words, path)?;
                let program = words.first().and_then(Value::as_str).unwrap_or_default();
                one((!program.trim().is_empty()).then(|| value.clone()))
            }
            Value::String(text) if !text.trim().is_empty() && !text.contains('\0') => {
                Ok(value.clone())
            }
            _ => one(None),
        },
    }
}

fn check_texts(
    rule: TextRule,
    items: &[Value],
    path: &KeyPath,
) -> Result<(), Vec<(KeyPath, ProblemKind)>> {
    let problems: Vec<_> = items
        .iter()
        .enumerate()
        .filter(|(_, item)| !item.as_str().is_some_and(|text| fits(rule, text)))
        .map(|(index, item)| (path.index(index), wrong(item, expected(Leaf::Text(rule)))))
        .collect();
    if problems.is_empty() {
        Ok(())
    } else {
        Err(problems)
    }
}

/// Returns the most texts that a list may have.
const fn count_max(rule: TextRule) -> usize {
    match rule {
        TextRule::FailurePattern => FAILURE_PATTERNS_MAX,
        _ => usize::MAX,
    }
}

/// Reads a whole number, also one that is written as `1e3` or `15.0`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the number is whole, not negative and below 2^53"
)]
fn whole_number(value: &Value) -> Option<u64> {
    const EXACT_MAX: f64 = 9_007_199_254_740_992.0;
    value.as_u64().or_else(|| {
        let number = value.as_f64()?;
        (number.fract() == 0.0 && (0.0..EXACT_MAX).contains(&number)).then_some(number as u64)
    })
}

/// The prefix of the branches that agents work on: one of them as the base would be merged into itself, and removed.
const OWN_BRANCHES: &str = "symphony/";

fn fits(rule: TextRule, text: &str) -> bool {
    match rule {
        TextRule::Any => !text.contains('\0'),
        TextRule::Line => !text.trim().is_empty() && !text.contains(char::is_control),
        TextRule::Prefix => IssuePrefix::parse(text).is_ok(),
        TextRule::Branch => {
            fits(TextRule::Line, text)
                && !text.starts_with('-')
                && !text.starts_with(OWN_BRANCHES)
                && !text.contains(|c: char| c.is_whitespace() || "~^:?*[\\".contains(c))
                && !text.contains("..")
        }
        TextRule::Glob => {
            fits(TextRule::Line, text)
                && !text.starts_with(['/', '~'])
                && text.split('/').all(|part| part != "..")
                && check_path_pattern(text).is_ok()
        }
        TextRule::FailurePattern => is_failure_pattern(text),
        TextRule::TrialName => TrialName::parse(text).is_ok(),
        TextRule::TokenHash => TokenHash::parse(text).is_ok(),
        TextRule::AbsolutePath => {
            let below = text.strip_prefix('~').unwrap_or(text);
            let mut parts = below.split('/').filter(|part| !matches!(*part, "" | "."));
            fits(TextRule::Line, text)
                && below.starts_with('/')
                && parts.next().is_some()
                && text.split('/').all(|part| part != "..")
        }
        TextRule::AllowedHost => is_allowed_host(text),
        TextRule::Provider => ProviderChoice::parse(text).is_ok(),
        TextRule::Pool => Pool::parse(text).is_ok(),
        TextRule::Hub => fits(TextRule::Line, text) && is_hub(text),
        TextRule::Temporal => TemporalAddress::parse(text).is_some(),
    }
}

/// Checks the form of an allowed host. The proxy reads it more strictly, and says what is wrong.
fn is_allowed_host(text: &str) -> bool {
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !host.contains(':') || host.ends_with(']') => (host, Some(port)),
        _ => (text, None),
    };
    let bare = host.strip_prefix("*.").unwrap_or(host);
    let bare = match bare.strip_prefix('[') {
        Some(address) => match address.strip_suffix(']') {
            Some(address) => {
                return address.parse::<Ipv6Addr>().is_ok() && port.is_some_and(is_port);
            }
            None => return false,
        },
        None => bare,
    };
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let is_address = bare.parse::<Ipv4Addr>().is_ok();
    !bare.is_empty()
        && bare.chars().all(is_part)
        && bare.split('.').all(|label| !label.is_empty())
        && port.is_none_or(is_port)
        // an address opens one port
        && (!is_address || port.is_some())
}

fn is_port(text: &str) -> bool {
    text.parse::<u16>().is_ok_and(|port| port > 0)
}

/// Returns what a type accepts, as part of a sentence: "expected …".
pub(super) fn expected(leaf: Leaf) -> String {
    match leaf {
        Leaf::Bool => "true or false".to_owned(),
        Leaf::Integer { min, max } => format!("a whole number from {min} to {max}"),
        Leaf::Usd => {
            format!(
                "an amount in US dollars above 0, at most {}",
                super::defaults::SPENDING_USD_MAX
            )
        }
        Leaf::Share => "a share: a number from 0 to 1".to_owned(),
        Leaf::Text(TextRule::Provider) => expected(Leaf::Choice(ProviderChoice::NAMES)),
        Leaf::Text(rule) => text_expected(rule).to_owned(),
        Leaf::Texts(rule) if count_max(rule) < usize::MAX => format!(
            "a list of at most {}, each {}",
            count_max(rule),
            text_expected(rule)
        ),
        Leaf::Texts(rule) => format!("a list, each {}", text_expected(rule)),
        Leaf::Choice([only]) => format!("`{only}`"),
        Leaf::Choice(names) => format!("one of `{}`", names.join("`, `")),
        Leaf::Path(PathBase::File) => "a path".to_owned(),
        Leaf::Path(PathBase::Project) => "a path relative to the project's root".to_owned(),
        Leaf::Database => {
            "a path, or `postgres://USER@HOST/DATABASE` with the password in `~/.pgpass` or a `passfile`".to_owned()
        }
        Leaf::Program => "a program's name or path".to_owned(),
        Leaf::Command => "a command (a text for `sh -c`, or a list of words)".to_owned(),
    }
}

const fn text_expected(rule: TextRule) -> &'static str {
    match rule {
        TextRule::Any => "a text",
        TextRule::Line => "a text of one line that is not empty",
        TextRule::Prefix => {
            "a prefix (a capital letter, then up to nine capital letters or digits)"
        }
        TextRule::Branch => "a branch's name that does not begin with `symphony/`",
        TextRule::Glob => {
            "a pattern of paths inside the project (not absolute, no `..`, each `[` and `{` closed)"
        }
        TextRule::FailurePattern => {
            "a regular expression of at most 500 characters that does not match the empty text"
        }
        TextRule::TrialName => {
            "the name of a trial (lower-case letters, digits and hyphens, at most 60, a letter or digit first)"
        }
        TextRule::TokenHash => TokenHash::EXPECTED,
        TextRule::AbsolutePath => "an absolute path without `..` below `/` or `~/`",
        TextRule::AllowedHost => {
            "a host (`example.com`, `*.example.com`, `example.com:8443`) or an address with a port (`10.0.0.5:443`)"
        }
        TextRule::Provider => "a provider",
        TextRule::Pool => {
            "a pool's name (at most 64 lowercase letters, digits and `-` between them, such as `linux` or `gpu-large`)"
        }
        TextRule::Hub => {
            "a git repository without a password in its address (`ssh://git@host/path`, `git@host:path`, `https://host/path` or an absolute path)"
        }
        TextRule::Temporal => TemporalAddress::EXPECTED,
    }
}

/// A wrong value, described.
pub(super) fn wrong(value: &Value, expected: String) -> ProblemKind {
    ProblemKind::WrongValue {
        found: describe(value),
        expected,
    }
}

/// Describes a value: `the text "abc"`, `the number 7`.
pub(super) fn describe(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) if text.is_empty() => "an empty text".to_owned(),
        Value::String(text) => format!("the text \"{}\"", shown(text)),
        Value::Array(items) if items.is_empty() => "an empty list".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

/// Cuts a text for a message and escapes what a terminal would act on.
fn shown(text: &str) -> String {
    let mut shown = String::new();
    for (at, character) in text.chars().enumerate() {
        if at == SHOWN_CHARS_MAX {
            shown.push('…');
            break;
        }
        if character.is_control() || matches!(character, '"' | '\\') {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(leaf: Leaf, value: &Value) -> Result<Value, Vec<String>> {
        check_leaf(leaf, value, &KeyPath::of("k")).map_err(|problems| {
            problems
                .into_iter()
                .map(|(path, kind)| match kind {
                    ProblemKind::WrongValue { found, .. } => format!("{path}: {found}"),
                    other => format!("{path}: {other:?}"),
                })
                .collect()
        })
    }

    #[test]
    fn values_are_checked_by_type() {
        let count = Leaf::Integer { min: 1, max: 1000 };
        let glob = Leaf::Texts(TextRule::Glob);
        let branch = Leaf::Text(TextRule::Branch);
        for (leaf, value, result) in [
            (count, json!(7), Ok(json!(7))),
            (count, json!(15.0), Ok(json!(15))),
            (count, json!(1e3), Ok(json!(1000))),
            (count, json!(0), Err(vec!["k: the number 0"])),
            (count, json!(-1), Err(vec!["k: the number -1"])),
            (count, json!(1.5), Err(vec!["k: the number 1.5"])),
            (count, json!("7"), Err(vec!["k: the text \"7\""])),
            (Leaf::Bool, json!("yes"), Err(vec!["k: the text \"yes\""])),
            (branch, json!("symphony"), Ok(json!("symphony"))),
            (branch, json!("dev/symphony/1"), Ok(json!("dev/symphony/1"))),
            (
                branch,
                json!("symphony/SYM-1"),
                Err(vec!["k: the text \"symphony/SYM-1\""]),
            ),
            (Leaf::Usd, json!(0.5), Ok(json!(0.5))),
            (Leaf::Usd, json!(0), Err(vec!["k: the number 0"])),
            (Leaf::Share, json!(0), Ok(json!(0))),
            (Leaf::Share, json!(1.0), Ok(json!(1.0))),
            (Leaf::Share, json!(1.01), Err(vec!["k: the number 1.01"])),
            (Leaf::Share, json!("0.5"), Err(vec!["k: the text \"0.5\""])),
            (
                Leaf::Text(TextRule::TokenHash),
                json!("0123456789abcdef"),
                Err(vec!["k: a text of another form"]),
            ),
            (
                Leaf::Text(TextRule::TokenHash),
                json!(7),
                Err(vec!["k: the number 7"]),
            ),
            (
                Leaf::Text(TextRule::TrialName),
                json!("../up"),
                Err(vec!["k: the text \"../up\""]),
            ),
            (Leaf::Command, json!("a && b"), Ok(json!("a && b"))),
            (Leaf::Command, json!(["a", ""]), Ok(json!(["a", ""]))),
            (Leaf::Command, json!([]), Err(vec!["k: an empty list"])),
            (Leaf::Command, json!([" "]), Err(vec!["k: a list"])),
            (Leaf::Command, json!(" "), Err(vec!["k: the text \" \""])),
            (
                Leaf::Command,
                json!(["a", 1, null]),
                Err(vec!["k[1]: the number 1", "k[2]: null"]),
            ),
            (
                glob,
                json!(["src/**", "*.pem"]),
                Ok(json!(["src/**", "*.pem"])),
            ),
            (
                glob,
                json!(["/etc/*", "a/../b", ""]),
                Err(vec![
                    "k[0]: the text \"/etc/*\"",
                    "k[1]: the text \"a/../b\"",
                    "k[2]: an empty text",
                ]),
            ),
            (branch, json!("release/1.x"), Ok(json!("release/1.x"))),
            (Leaf::Database, json!("~/s.db"), Ok(json!("~/s.db"))),
            (Leaf::Database, json!(""), Err(vec!["k: an empty text"])),
            (
                Leaf::Database,
                json!("postgres://me@db/team"),
                Ok(json!("postgres://me@db/team")),
            ),
            (
                Leaf::Database,
                json!("postgres://me:secret@db/team"),
                Err(vec!["k: an address that contains a password"]),
            ),
            (
                branch,
                json!("--upload-pack=x"),
                Err(vec!["k: the text \"--upload-pack=x\""]),
            ),
        ] {
            let result = result.map_err(|problems: Vec<&str>| {
                problems.into_iter().map(str::to_owned).collect::<Vec<_>>()
            });
            assert_eq!(check(leaf, &value), result, "{leaf:?} {value}");
        }
    }

    #[test]
    fn what_a_sandbox_reaches_has_a_strict_form() {
        let path = TextRule::AbsolutePath;
        let host = TextRule::AllowedHost;
        for (rule, text, good) in [
            (path, "/srv/data", true),
            (path, "~/.cargo", true),
            (path, "/", false),
            (path, "~", false),
            (path, "~/", false),
            (path, "/./", false),
            (path, "~ada/x", false),
            (path, "data", false),
            (path, "./data", false),
            (path, "/srv/../etc", false),
            (host, "example.com", true),
            (host, "*.example.com", true),
            (host, "example.com:8443", true),
            (host, "10.0.0.5:443", true),
            (host, "[fd00::5]:443", true),
            (host, "10.0.0.5", false),
            (host, "[fd00::5]", false),
            (host, "fd00::5", false),
            (host, "fd00::5:443", false),
            (host, "https://example.com", false),
            (host, "example.com/x", false),
            (host, "me@example.com", false),
            (host, "example.com:0", false),
            (host, "example.com:http", false),
            (host, "*", false),
            (host, "a..b", false),
            (host, "", false),
        ] {
            assert_eq!(fits(rule, text), good, "{rule:?} {text}");
        }
    }

    #[test]
    fn found_texts_are_cut_and_escaped() {
        assert_eq!(
            describe(&json!("a\u{1b}[31m\n")),
            "the text \"a\\u{1b}[31m\\n\""
        );
        let long = describe(&json!("x".repeat(100)));
        assert_eq!(long, format!("the text \"{}…\"", "x".repeat(40)));
    }
}
