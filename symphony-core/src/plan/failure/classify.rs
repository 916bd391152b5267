//! Determines the class of a failure: structure first, then text.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::class::FailureClass;
use super::custom::FailurePatterns;
use super::patterns::TEXT_PATTERNS;
use super::tool_output::first_form;
use super::words::{MATCHED_BYTES_MAX, Words};
use crate::closed_set::closed_set;
use crate::failure::ErrorClass;

closed_set!(
    /// How sure a classification is.
    Confidence, "confidence", {
        /// Known by structure or by a pattern.
        High = "high",
        /// Nothing fitted.
        Low = "low",
    }
);

/// What is known of a failure.
#[derive(Debug, Clone, Copy, Default)]
pub struct FailureEvidence<'a> {
    /// Why the run ended, if Symphony or its provider's stream reported it.
    pub error_class: Option<ErrorClass>,
    /// Status of the provider's HTTP answer, when it is known as such.
    pub http_status: Option<u16>,
    /// The error's text.
    pub text: &'a str,
    /// The project's own patterns; they count before Symphony's.
    pub patterns: Option<&'a FailurePatterns>,
}

/// The class of a failure. In JSON: `{"class", "confidence", "matched"?}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Classification {
    /// The class.
    pub class: FailureClass,
    /// How sure it is.
    pub confidence: Confidence,
    /// What decided: a part of the text, the run's error class, or `HTTP 503`; `None` if nothing did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matched: Option<String>,
}

/// Classifies a failure; total, and linear in the length of the text.
pub fn classify_failure(evidence: &FailureEvidence<'_>) -> Classification {
    by_structure(evidence)
        .or_else(|| by_text(evidence.text, evidence.patterns))
        .unwrap_or(Classification {
            class: FailureClass::Unknown,
            confidence: Confidence::Low,
            matched: None,
        })
}

fn by_structure(evidence: &FailureEvidence<'_>) -> Option<Classification> {
    let by_class = evidence
        .error_class
        .and_then(|class| Some((of_error_class(class)?, class.name().to_owned())));
    let by_status = evidence
        .http_status
        .and_then(|status| Some((of_http_status(status)?, format!("HTTP {status}"))));
    // two kinds of structure may disagree: the order of the classes decides, as between patterns
    let (class, matched) = by_class
        .into_iter()
        .chain(by_status)
        .min_by_key(|(class, _)| *class)?;
    Some(certain(class, matched))
}

fn by_text(text: &str, patterns: Option<&FailurePatterns>) -> Option<Classification> {
    let text = &*without_colours(text);
    let (class, matched) = patterns
        .and_then(|patterns| patterns.find(text))
        .or_else(|| by_own_patterns(text))?;
    let end = matched.floor_char_boundary(MATCHED_BYTES_MAX);
    Some(certain(class, matched.get(..end).unwrap_or("").to_owned()))
}

fn by_own_patterns(text: &str) -> Option<(FailureClass, &str)> {
    let words = Words::new(text);
    TEXT_PATTERNS.iter().find_map(|(class, patterns)| {
        let matched = words.first_match(patterns);
        Some((*class, matched.or_else(|| first_form(text, *class))?))
    })
}

/// Removes the escape sequences with which tools colour their output.
fn without_colours(text: &str) -> Cow<'_, str> {
    if !text.contains("\u{1b}[") {
        return Cow::Borrowed(text);
    }
    let mut pieces = text.split("\u{1b}[");
    let mut plain = pieces.next().unwrap_or("").to_owned();
    for piece in pieces {
        let is_parameter = |c: char| c.is_ascii_digit() || matches!(c, ';' | '?');
        let mut rest = piece.trim_start_matches(is_parameter).chars();
        // the letter that ends the sequence
        rest.next();
        plain.push_str(rest.as_str());
    }
    Cow::Owned(plain)
}

fn certain(class: FailureClass, matched: String) -> Classification {
    Classification {
        class,
        confidence: Confidence::High,
        matched: Some(matched),
    }
}

/// The classes that the run's own end decides; for the rest its text is read.
const fn of_error_class(class: ErrorClass) -> Option<FailureClass> {
    use ErrorClass as E;
    Some(match class {
        E::TimedOut | E::Stalled | E::MaxTurns => FailureClass::Timeout,
        E::InvalidRequest
        | E::PromptTooLong
        | E::BudgetExhausted
        | E::AuthFailed
        | E::CreditExhausted
        | E::ProviderMissing
        | E::Tampered
        | E::Cancelled => FailureClass::Permanent,
        E::RateLimited
        | E::Overloaded
        | E::UsageLimit
        | E::ProviderError
        | E::Network
        | E::Moved
        | E::HostLost => FailureClass::Transient,
        E::DiskFull
        | E::NotPrepared
        | E::SandboxUnavailable
        | E::BaseGatesFailed
        | E::PermissionDenied
        | E::OverOutput
        | E::TooManySearches => FailureClass::Resource,
        E::ModelError
        | E::Looping
        | E::McpUnavailable
        | E::NoOutcome
        | E::WorktreeFailed
        | E::SetupFailed
        | E::GatesRed
        | E::SpawnFailed
        | E::Crashed
        | E::AgentFailed => return None,
    })
}

const fn of_http_status(status: u16) -> Option<FailureClass> {
    match status {
        408 => Some(FailureClass::Timeout),
        429 | 500 | 502 | 503 | 504 | 529 => Some(FailureClass::Transient),
        400..=499 => Some(FailureClass::Permanent),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn class_of(text: &str) -> (FailureClass, Option<String>) {
        let evidence = FailureEvidence {
            text,
            ..FailureEvidence::default()
        };
        let found = classify_failure(&evidence);
        assert_eq!(
            found.confidence == Confidence::Low,
            found.class == FailureClass::Unknown
        );
        (found.class, found.matched)
    }

    #[test]
    fn texts_have_a_class_and_name_what_matched() {
        use FailureClass::{Logic, Permanent, Resource, Timeout, Transient};
        for (text, class, matched) in [
            ("Phase timeout", Timeout, "Phase timeout"),
            (
                "execution timeout after 30 minutes",
                Timeout,
                "execution timeout",
            ),
            ("The command timed out.", Timeout, "timed out"),
            ("context deadline exceeded", Timeout, "deadline exceeded"),
            ("Max turns exceeded", Timeout, "Max turns exceeded"),
            ("Syntax error near line 3", Permanent, "Syntax error"),
            ("SyntaxError: Unexpected token", Permanent, "SyntaxError"),
            (
                "invalid configuration: x",
                Permanent,
                "invalid configuration",
            ),
            ("Invalid JSON in body", Permanent, "Invalid JSON"),
            ("missing required field", Permanent, "missing required"),
            (
                "Dependency not installed: zod",
                Permanent,
                "Dependency not installed",
            ),
            ("Module not found: './x'", Permanent, "Module not found"),
            ("Cannot resolve 'react'", Permanent, "Cannot resolve"),
            ("unknown model gpt-x", Permanent, "unknown model"),
            ("3 tests failed", Logic, "tests failed"),
            ("test failed", Logic, "test failed"),
            ("assertion failed: left == right", Logic, "assertion failed"),
            (
                "expected 3 items, but got 4",
                Logic,
                "expected 3 items, but got",
            ),
            ("TYPE ERROR in x", Logic, "TYPE ERROR"),
            ("typecheck error", Logic, "typecheck error"),
            ("tsc error TS2322", Logic, "tsc error"),
            ("lint errors: 4", Logic, "lint errors"),
            ("ESLint error", Logic, "ESLint error"),
            ("merge conflict in a.rs", Logic, "merge conflict"),
            ("Rate limit reached", Transient, "Rate limit"),
            ("you are rate-limited", Transient, "rate-limited"),
            ("Too many requests", Transient, "Too many requests"),
            ("HTTP 429", Transient, "429"),
            ("API Error: 529 {\"type\":\"error\"}", Transient, "529"),
            ("got status=503.", Transient, "503"),
            ("{\"status\":502}", Transient, "502"),
            ("(504)", Transient, "504"),
            ("503: Service Unavailable", Transient, "503"),
            ("Overloaded", Transient, "Overloaded"),
            ("overloaded_error", Transient, "overloaded_error"),
            (
                "temporarily unavailable",
                Transient,
                "temporarily unavailable",
            ),
            ("Please try again later", Transient, "try again"),
            ("read ECONNRESET", Transient, "ECONNRESET"),
            (
                "connect ECONNREFUSED 127.0.0.1:80",
                Transient,
                "ECONNREFUSED",
            ),
            ("connect ETIMEDOUT", Transient, "ETIMEDOUT"),
            ("Connection reset by peer", Transient, "Connection reset"),
            ("connection refused", Transient, "connection refused"),
            ("connection timeout", Transient, "connection timeout"),
            ("Network error", Transient, "Network error"),
            ("DNS failure", Transient, "DNS failure"),
            ("ENOENT: no such file", Resource, "ENOENT"),
            ("No such file or directory", Resource, "No such file"),
            ("file not found", Resource, "file not found"),
            ("path does not exist", Resource, "does not exist"),
            ("EACCES", Resource, "EACCES"),
            (
                "Permission denied (publickey)",
                Resource,
                "Permission denied",
            ),
            ("Out of memory", Resource, "Out of memory"),
            ("disk full", Resource, "disk full"),
            ("Too many open files", Resource, "Too many open files"),
        ] {
            assert_eq!(class_of(text), (class, Some(matched.to_owned())), "{text}");
        }
    }

    #[test]
    fn numbers_that_are_no_status_and_parts_of_words_do_not_count() {
        for text in [
            "",
            "it broke",
            "/var/503/log is odd",
            "src/503.rs",
            "1503 items",
            "5031",
            "1,503 items",
            "0.503 s",
            "503.5",
            "503,000",
            "v503",
            "503px",
            "report-503",
            "main.rs:503:12",
            "main.rs:503",
            "line 503",
            "at line:503",
            "127.0.0.1:503",
            "https://example.com/rate-limit/503",
            "latest failed",
            "contest failed",
            "overloadedness",
            "src/type-error.ts is odd",
            "expected much.\nbut got nothing",
            "tests\nfailed",
            "0 tests failed",
            "no lint errors",
            "without type errors",
            "\u{130}\u{1f600}\u{0}",
        ] {
            assert_eq!(class_of(text), (FailureClass::Unknown, None), "{text}");
        }
    }

    #[test]
    fn the_first_class_wins_whatever_comes_first_in_the_text() {
        use FailureClass::{Logic, Permanent, Timeout, Transient};
        for (text, class) in [
            ("ECONNRESET, then it timed out", Timeout),
            ("503 and a syntax error", Permanent),
            ("ENOENT: tests failed", Logic),
            ("file not found, try again", Transient),
        ] {
            assert_eq!(class_of(text).0, class, "{text}");
        }
    }

    #[test]
    fn structure_beats_text() {
        for (error_class, http_status, text, class, matched) in [
            (
                Some(ErrorClass::TimedOut),
                None,
                "tests failed",
                "timeout",
                "timed_out",
            ),
            (Some(ErrorClass::MaxTurns), None, "", "timeout", "max_turns"),
            (
                Some(ErrorClass::AgentFailed),
                None,
                "tests failed",
                "logic",
                "tests failed",
            ),
            (
                Some(ErrorClass::InvalidRequest),
                Some(400),
                "try again",
                "permanent",
                "invalid_request",
            ),
            (None, Some(503), "syntax error", "transient", "HTTP 503"),
            (None, Some(404), "", "permanent", "HTTP 404"),
            (None, Some(200), "lint error", "logic", "lint error"),
            (
                Some(ErrorClass::TimedOut),
                Some(503),
                "",
                "timeout",
                "timed_out",
            ),
        ] {
            let found = classify_failure(&FailureEvidence {
                error_class,
                http_status,
                text,
                patterns: None,
            });
            assert_eq!(
                (found.class.name(), found.matched.as_deref()),
                (class, Some(matched)),
                "{error_class:?} {http_status:?} {text}"
            );
        }
    }

    #[test]
    fn no_pattern_stands_twice() {
        let patterns = TEXT_PATTERNS.iter().flat_map(|(_, patterns)| *patterns);
        let mut seen = BTreeSet::new();
        for pattern in patterns {
            assert!(seen.insert(format!("{pattern:?}")), "{pattern:?}");
        }
    }

    #[test]
    fn every_error_class_has_an_answer() {
        for class in ErrorClass::ALL {
            let found = classify_failure(&FailureEvidence {
                error_class: Some(*class),
                ..FailureEvidence::default()
            });
            assert_eq!(found.matched.is_some(), of_error_class(*class).is_some());
        }
    }
}
