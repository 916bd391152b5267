//! A project's own patterns of failures (`plan.failure_patterns`).

use std::collections::BTreeMap;

use regex::{Regex, RegexBuilder};

use super::class::FailureClass;

/// Longest pattern, in characters: a line of a program's output is shorter.
pub const FAILURE_PATTERN_CHARS_MAX: usize = 500;
/// Most patterns of one class.
pub const FAILURE_PATTERNS_MAX: usize = 50;
/// Largest compiled pattern, in bytes: nested counts such as `(a{9}){9}` grow without it.
const COMPILED_BYTES_MAX: usize = 256 * 1024;

/// A project's own patterns, by class.
#[derive(Debug, Clone, Default)]
pub struct FailurePatterns(Vec<(FailureClass, Vec<Regex>)>);

impl FailurePatterns {
    /// Compiles patterns. Those that [`is_failure_pattern`] refuses are left out, because `config check` reports them.
    pub fn compile(patterns: &BTreeMap<FailureClass, Vec<String>>) -> Self {
        let compiled = patterns.iter().map(|(class, patterns)| {
            let known = patterns.iter().take(FAILURE_PATTERNS_MAX);
            (*class, known.filter_map(|text| compile(text)).collect())
        });
        Self(compiled.collect())
    }

    /// Returns the first class, in their order, of which a pattern fits, and the piece of the text that it fits.
    pub(super) fn find<'a>(&self, text: &'a str) -> Option<(FailureClass, &'a str)> {
        self.0.iter().find_map(|(class, patterns)| {
            let found = patterns.iter().filter_map(|pattern| pattern.find(text));
            let first = found.min_by_key(regex::Match::start)?;
            Some((*class, first.as_str()))
        })
    }
}

/// Returns whether a text can be the pattern of a failure: a regular expression within the limits. One that matches the
/// empty text would give every failure its class, so it cannot.
pub fn is_failure_pattern(text: &str) -> bool {
    compile(text).is_some()
}

fn compile(text: &str) -> Option<Regex> {
    if text.trim().is_empty() || text.chars().count() > FAILURE_PATTERN_CHARS_MAX {
        return None;
    }
    let mut builder = RegexBuilder::new(text);
    let builder = builder.case_insensitive(true).multi_line(true).crlf(true);
    let pattern = builder.size_limit(COMPILED_BYTES_MAX).build().ok()?;
    (!pattern.is_match("")).then_some(pattern)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_bounded_and_fit_no_empty_text() {
        for (text, expected) in [
            ("quota of the test cluster", true),
            (r"^LINT\d+:", true),
            ("", false),
            (" ", false),
            (".*", false),
            ("x?", false),
            ("(", false),
            ("((a{99}){99}){99}", false),
            (&"a".repeat(FAILURE_PATTERN_CHARS_MAX), true),
            (&"a".repeat(FAILURE_PATTERN_CHARS_MAX + 1), false),
        ] {
            assert_eq!(is_failure_pattern(text), expected, "{text}");
        }
    }
}
