//! Values that are typed on the command line.

use std::ffi::OsStr;
use std::io::Read as _;
use std::str::FromStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, Command};
use symphony_core::closed_set::UnknownName;
use symphony_core::config::NamedProvider;
use symphony_core::id::{IdError, IssueId, PlanId, PrId};
use symphony_core::issue::TEXT_BYTES_MAX;

use crate::failure::{Context as _, Exit, Stop};
use crate::place::prefix_here;

/// Parses a name of a closed set; help and completions list the set.
pub(crate) fn named<T: Clone + Send + Sync + 'static>(
    names: &'static [&'static str],
    parse: fn(&str) -> Result<T, UnknownName>,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(names).try_map(move |text| parse(&text))
}

/// Parses a provider, or one of its programs; help and completions list the providers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProviderParser;

impl TypedValueParser for ProviderParser {
    type Value = NamedProvider;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<NamedProvider, clap::Error> {
        let named = value
            .to_str()
            .and_then(|text| NamedProvider::parse(text).ok());
        match named {
            Some(named) => Ok(named),
            // This fails with the list, and with the nearest of its names.
            None => named_parser(NamedProvider::NAMES).parse_ref(command, arg, value),
        }
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(
            NamedProvider::NAMES.iter().map(PossibleValue::new),
        ))
    }
}

fn named_parser(names: &'static [&'static str]) -> impl TypedValueParser<Value = NamedProvider> {
    named(names, NamedProvider::parse)
}

/// Parses an issue's identifier, in either case; a number alone is an issue of the project here.
pub(crate) fn issue_id(text: &str) -> Result<IssueId, IdError> {
    let number = text.strip_prefix('#').unwrap_or(text);
    if !number.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit())
        && let Some(prefix) = prefix_here()
    {
        return issue_of(&prefix, number).map_err(|error| IdError {
            found: text.to_owned(),
            ..error
        });
    }
    IssueId::parse(text.to_ascii_uppercase()).map_err(|error| IdError {
        found: text.to_owned(),
        ..error
    })
}

fn issue_of(prefix: &str, number: &str) -> Result<IssueId, IdError> {
    IssueId::parse(format!("{prefix}-{}", number.trim_start_matches('0')))
}

/// An issue, by its identifier, or a plan, by its id or its file. Which it is, the database says: `plan-2` could be either.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SourceName(pub(crate) String);

impl FromStr for SourceName {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        // as Symphony itself calls it
        let name = text.strip_prefix("plan ").unwrap_or(text);
        let is_number = name.bytes().all(|byte| byte.is_ascii_digit());
        let is_plan = !is_number && (PlanId::parse(name).is_ok() || name.contains('/'));
        match issue_id(text) {
            Err(error) if !is_plan => Err(IdError {
                expected: "an issue such as SYM-12, or a plan's id or file",
                ..error
            }),
            _ => Ok(Self(name.to_owned())),
        }
    }
}

/// A pull request, by its number, or by what it finishes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PrReference {
    /// Its number.
    Number(PrId),
    /// Its issue or its plan: the open one, else the newest.
    Of(SourceName),
}

impl FromStr for PrReference {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        let number = text.strip_prefix('#').unwrap_or(text);
        PrId::parse(number)
            .map(Self::Number)
            .or_else(|_| text.parse().map(Self::Of))
            .map_err(|error| IdError {
                expected: "a pull request's number, an issue such as SYM-12, or a plan",
                ..error
            })
    }
}

/// A run, by its id or by its issue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RunReference {
    /// The beginning or the end of its id.
    Id(String),
    /// Its issue: the newest run.
    Issue(IssueId),
}

impl FromStr for RunReference {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        // an id is hexadecimal: a prefix of one is no identifier unless it is written in capitals
        match IssueId::parse(text) {
            Ok(issue) => Ok(Self::Issue(issue)),
            Err(_) if text.is_empty() => Err(IdError {
                found: text.to_owned(),
                expected: "a run's id or an issue such as SYM-12",
            }),
            Err(_) => Ok(Self::Id(text.to_owned())),
        }
    }
}

/// Returns a text that was typed; `-` reads it from standard input.
///
/// # Errors
/// When standard input cannot be read, is not UTF-8, or is longer than any text field.
pub(crate) fn text_or_stdin(typed: &str) -> anyhow::Result<String> {
    text_within(typed, TEXT_BYTES_MAX)
}

/// Returns a text that was typed; `-` reads it from standard input, at most this many bytes.
///
/// # Errors
/// When standard input cannot be read, is not UTF-8, or is longer.
pub(crate) fn text_within(typed: &str, bytes_max: usize) -> anyhow::Result<String> {
    if typed != "-" {
        return Ok(typed.to_owned());
    }
    let mut bytes = Vec::new();
    let limit = u64::try_from(bytes_max).unwrap_or(u64::MAX);
    std::io::stdin()
        .lock()
        .take(limit + 1)
        .read_to_end(&mut bytes)
        .context("read standard input")?;
    if bytes.len() > bytes_max {
        let message = format!("the text on standard input is longer than {bytes_max} bytes");
        return Err(Stop::new(Exit::Refused, message)
            .hint("put the rest into a file in the repository and refer to that file")
            .into());
    }
    let text = String::from_utf8(bytes).context("read standard input as UTF-8")?;
    Ok(text.trim_end_matches(['\n', '\r']).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pull_request_is_named_by_number_issue_or_plan() {
        let of = |text: &str| PrReference::Of(SourceName(text.to_owned()));
        for (text, expected) in [
            ("3", Some(PrReference::Number(PrId::new(3)))),
            ("#3", Some(PrReference::Number(PrId::new(3)))),
            ("SYM-3", Some(of("SYM-3"))),
            ("sym-3", Some(of("sym-3"))),
            ("ship", Some(of("ship"))),
            ("plan ship", Some(of("ship"))),
            ("ship.md", Some(of("ship.md"))),
            ("plans/the ship.md", Some(of("plans/the ship.md"))),
            ("0", None),
            ("", None),
            ("x y", None),
        ] {
            assert_eq!(text.parse::<PrReference>().ok(), expected, "{text}");
        }
    }

    #[test]
    fn a_number_is_an_issue_of_the_project() {
        for (number, expected) in [("1", Some("SYM-1")), ("007", Some("SYM-7")), ("0", None)] {
            let found = issue_of("SYM", number).ok();
            assert_eq!(found.as_ref().map(IssueId::as_str), expected, "{number}");
        }
    }

    #[test]
    fn a_run_is_named_by_id_or_issue() {
        let id = |text: &str| RunReference::Id(text.to_owned());
        for (text, expected) in [
            ("0199-ab", Some(id("0199-ab"))),
            ("a-1", Some(id("a-1"))),
            (
                "A-1",
                Some(RunReference::Issue(IssueId::parse("A-1").unwrap())),
            ),
            ("", None),
        ] {
            assert_eq!(text.parse::<RunReference>().ok(), expected, "{text}");
        }
    }
}
